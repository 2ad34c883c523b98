"""The stages of a plan as GraphDefs that can be imported one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.function_library import needed_functions
from estimator_bridge.graph.large_constants import with_value
from estimator_bridge.graph.placement import without_placement
from estimator_bridge.graph.plan import Plan
from estimator_bridge.graph.randomness import Randomness
from estimator_bridge.graph.row_updates import as_row_updates
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref
from estimator_bridge.graph.xla_lacks import as_compiled

__all__ = ["Part", "make_parts"]


@dataclasses.dataclass
class Part:
    """One stage, ready to be imported.

    Attributes:
      graph_def: the nodes.
      outside: references to values that the stage takes from earlier ones.
      outputs: references that later stages or the caller take from the stage.
      sums: the CrossReplicaSum nodes after it: the node, its input, and the groups or None.
    """

    graph_def: tf.compat.v1.GraphDef
    outside: list[str]
    outputs: list[str]
    sums: list[tuple[str, str, np.ndarray | None]]


def make_parts(
    plan: Plan,
    snapshot: Snapshot,
    fetches: Sequence[str],
    randomness: Randomness,
    keeps_cores: bool,
    on_host: bool,
    by_xla: bool,
) -> list[Part]:
    """Returns the parts of a plan, in the order in which they run.

    Args:
      plan: the plan.
      snapshot: the traced graph.
      fetches: references that the caller wants.
      randomness: makes random operations stateless.
      keeps_cores: whether nodes stay on the replica's cores that the program placed them on.
      on_host: whether kernels of a CPU run them, instead of XLA or a GPU.
      by_xla: whether XLA compiles them.
    """
    nodes = snapshot.nodes
    stage_of = {n: i for i, s in enumerate(plan.stages) for n in (*s.body, *s.sums)}
    outputs: list[dict[str, None]] = [{} for _ in plan.stages]  # dicts keep the order
    outside: list[dict[str, None]] = [{} for _ in plan.stages]
    for ref in fetches:
        if ref not in plan.input_refs and nodes[node_name(ref)].op != "CrossReplicaSum":
            outputs[stage_of[node_name(ref)]][ref] = None
    for name, level in stage_of.items():
        is_sum = nodes[name].op == "CrossReplicaSum"
        for ref in plan.inputs[name][:1] if is_sum else plan.inputs[name]:
            source = node_name(ref)
            comes_in = ref in plan.input_refs or nodes[source].op == "CrossReplicaSum"
            if not comes_in and (is_sum or stage_of[source] != level):
                outputs[stage_of[source]][ref] = None
                comes_in = True
            if comes_in and not is_sum:
                outside[level][ref] = None
    parts = []
    for stage, want, out in zip(plan.stages, outputs, outside):
        graph_def = tf.compat.v1.GraphDef(versions=snapshot.versions)
        for name in stage.body:
            node = without_placement(nodes[name], keeps_cores)
            if f"{name}:0" in snapshot.constants:
                node = with_value(node, snapshot.constants[f"{name}:0"])
            node.input[:] = plan.inputs[name]
            if name in randomness.stateless:
                graph_def.node.extend(randomness.rewritten(node))
                out.update(dict.fromkeys(randomness.inputs_of(name)))
            elif by_xla:
                graph_def.node.extend(as_compiled(node))
            else:
                graph_def.node.extend(as_row_updates(node, nodes) if on_host else [node])
        library = needed_functions(randomness.library, graph_def.node)
        graph_def.library.CopyFrom(library)
        sums = [(n, tensor_ref(nodes[n].input[0]), _groups(snapshot, n)) for n in stage.sums]
        parts.append(Part(graph_def, list(out), list(want), sums))
    return parts


def _groups(snapshot: Snapshot, name: str) -> np.ndarray | None:
    """Returns the group assignment of a CrossReplicaSum; None if all replicas are one group."""
    nodes = snapshot.nodes
    ref = tensor_ref(nodes[name].input[1])
    while nodes[node_name(ref)].op in ("Identity", "IdentityN"):  # left by inlining
        ref = tensor_ref(nodes[node_name(ref)].input[int(ref.split(":")[1])])
    source = nodes[node_name(ref)]
    if source.op != "Const":
        raise ValueError(
            f"The group_assignment of CrossReplicaSum {name!r} must be a constant list of "
            f"lists of replica numbers, got the output of {source.name!r} ({source.op})."
        )
    groups = tf.make_ndarray(source.attr["value"].tensor)
    return groups if len(groups) > 1 else None
