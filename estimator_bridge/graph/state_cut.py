"""Cuts the metric state of a step off from the computation that feeds it.

Streaming metrics read and write their own variables. On several replicas each copy would hold a
part of the state, and only sums could be combined again. So the replicas keep only what does not
depend on those variables. The rest runs on the host, once for each replica's values, in turn: the
same as a single replica that sees the parts as batches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.op_kinds import MEETINGS, V1_CONTROL_FLOW
from estimator_bridge.graph.plan import touched_resources
from estimator_bridge.graph.pruning import in_order, needed_nodes
from estimator_bridge.graph.randomness import is_seeded
from estimator_bridge.graph.resources import Resources
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref
from estimator_bridge.graph.user_line import line_of_node

__all__ = ["StateCut", "cut_before_state"]

# Python functions run on the host anyway.
_OF_HOST = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})
_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


@dataclasses.dataclass(frozen=True)
class StateCut:
    """The place where the operations of a step are cut.

    Attributes:
      operations: operations that the host runs, each as '^name'.
      inputs: references of a replica's tensors that the host's part reads.
      checks: operations of a replica that the host's part waits for, such as assertions, each as
        '^name'. They stay on the replicas.
      nodes: names of the host's nodes that see the state, which no replica may compute.
    """

    operations: tuple[str, ...]
    inputs: tuple[str, ...]
    checks: tuple[str, ...]
    nodes: frozenset[str]


def cut_before_state(
    graph: tf.Graph, operations: Sequence[str], elsewhere: Iterable[str] = ()
) -> StateCut:
    """Finds the part of some operations that must run in one place.

    It includes everything that writes, or follows from, a resource that the operations change. It
    also includes tensors that a device cannot hand over (of unknown shape, or strings), and
    constants, which need not be handed over.

    Args:
      graph: the traced graph.
      operations: the operations, each as '^name'.
      elsewhere: references that the replicas compute in any case; a Python function that they
        need stays with them.

    Returns:
      The cut. If nothing changes state, everything stays on the replicas, as `checks`.

    Raises:
      NotImplementedError: the part that sees the state has v1 control flow or a sum over replicas.
    """
    snapshot, owners = Snapshot.of(graph), Resources.owners_in(graph)
    inputs, _ = needed_nodes(snapshot, operations, set(), owners)
    order = in_order(snapshot, inputs)
    stateful = _seeing_state(
        snapshot, inputs, order, owners, _computed_refs(snapshot, elsewhere, owners)
    )
    _check(graph, snapshot, stateful)
    on_host = set(stateful)
    fixed_nodes = _fixed(snapshot, inputs, order)
    tensors: dict[str, None] = {}
    checks: dict[str, None] = {}
    for name in reversed(order):  # a node's inputs come later
        if name not in on_host:
            continue
        for ref in map(tensor_ref, inputs[name]):
            source = node_name(ref)
            if source in on_host or source in owners:
                continue
            if ref.startswith("^"):
                checks[ref] = None
            elif source in fixed_nodes or _must_move(graph, snapshot, ref):
                on_host.add(source)
            else:
                tensors[ref] = None
    run_by_host = [ref for ref in operations if node_name(ref) in on_host]
    checks.update((ref, None) for ref in operations if node_name(ref) not in on_host)
    return StateCut(
        tuple(run_by_host),
        tuple(ref for ref in tensors if node_name(ref) not in on_host),
        tuple(ref for ref in checks if node_name(ref) not in on_host),
        frozenset(stateful),
    )


def _computed_refs(snapshot: Snapshot, refs: Iterable[str], owners: set[str]) -> set[str]:
    return set(needed_nodes(snapshot, refs, set(), owners)[0])


def _seeing_state(
    snapshot: Snapshot,
    inputs: dict[str, list[str]],
    order: list[str],
    owners: set[str],
    elsewhere: set[str],
) -> set[str]:
    """Returns the nodes that touch a resource that one of them changes, and all that follow."""
    owners_by_node = touched_resources(snapshot, order, inputs, owners)
    effects, nodes = Effects.of(snapshot), snapshot.nodes
    changed_owners = {
        owner
        for name in order
        if effects.changes_state(nodes[name]) and name not in owners
        for owner in owners_by_node.get(name, ())
    }
    names: set[str] = set()
    for name in order:
        is_of_host = nodes[name].op in _OF_HOST and name not in elsewhere
        follows = any(node_name(ref) in names for ref in inputs[name])
        if name not in owners and (
            owners_by_node.get(name, set()) & changed_owners or follows or is_of_host
        ):
            names.add(name)
    return names


def _fixed(snapshot: Snapshot, inputs: dict[str, list[str]], order: list[str]) -> set[str]:
    """Returns the nodes whose value is the same in each step: constants, and what follows."""
    effects = Effects.of(snapshot)
    names: set[str] = set()
    for name in order:
        node = snapshot.nodes[name]
        is_source = node.op in _PLACEHOLDERS or is_seeded(node) or effects.changes_state(node)
        takes = [ref for ref in inputs[name] if not ref.startswith("^")]
        if node.op == "Const" or (
            takes and not is_source and all(node_name(ref) in names for ref in takes)
        ):
            names.add(name)
    return names


def _must_move(graph: tf.Graph, snapshot: Snapshot, ref: str) -> bool:
    """Returns whether a tensor must be computed where it is used."""
    node = snapshot.nodes[node_name(ref)]
    if node.op in _PLACEHOLDERS or is_seeded(node):
        return False  # given to the replica, or drawn by it
    try:
        tensor = graph.get_tensor_by_name(ref)
    except (KeyError, ValueError):  # a node that the snapshot added
        return False
    kinds = (tf.string, tf.variant, tf.resource)
    return tensor.dtype in kinds or not tensor.shape.is_fully_defined()


def _check(graph: tf.Graph, snapshot: Snapshot, names: set[str]) -> None:
    for name in sorted(names):
        op = snapshot.nodes[name].op
        if op not in V1_CONTROL_FLOW and op not in MEETINGS:
            continue
        cause = (
            "TF1's own control flow" if op in V1_CONTROL_FLOW else "an exchange between replicas"
        )
        line = line_of_node(graph, name)
        raise NotImplementedError(
            f"A metric of eval_metric_ops depends on {cause}: {name!r} ({op})"
            f"{f', made by {line}' if line else ''} reads the metric's variables, which the host "
            "updates with each replica's values in turn. Return a TPUEstimatorSpec with "
            "eval_metrics=(metric_fn, tensors): metric_fn is given the whole batch."
        )
