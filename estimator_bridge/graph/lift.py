"""A part of a traced TF1 graph that can be imported into a tf.function."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph.collectives import REPLICA_ID
from estimator_bridge.graph.function_library import make_known, reached
from estimator_bridge.graph.large_constants import with_value
from estimator_bridge.graph.placement import without_placement
from estimator_bridge.graph.plan import Plan, make_plan
from estimator_bridge.graph.randomness import (
    REPLICA_KEY,
    RNG_STEP,
    Randomness,
    RandomStreams,
    replica_key,
)
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref
from estimator_bridge.tensorflow_private import import_below_control_edges

__all__ = ["JoinFn", "Lifted"]

_OWN_STREAMS = RandomStreams()
_importing = threading.RLock()  # an import disables tensor equality for all threads

# Adds over the replicas: [(this replica's value, groups or None for all replicas)] -> totals.
JoinFn = Callable[[Sequence[tuple[tf.Tensor, Optional[np.ndarray]]]], Sequence[tf.Tensor]]


@dataclasses.dataclass
class _Part:
    """One stage, ready to be imported."""

    graph_def: tf.compat.v1.GraphDef
    outside: list[str]  # references to values that the stage takes from earlier ones
    wanted: list[str]  # references that later stages or the caller take from the stage
    sums: list[tuple[str, str, np.ndarray | None]]  # CrossReplicaSum node, its input, groups


class Lifted:
    """The nodes that some fetches need, as a callable for use inside a tf.function.

    Args:
      snapshot: the traced graph.
      fetches: tensor references ('a:0') or operations ('^a').
      given: references to tensors whose values the caller supplies.
      resources: names of the nodes that own a resource.
      jit_compile: whether XLA compiles the parts between the sums over replicas.
      streams: the kind of random streams.
      keeps_cores: whether nodes stay on the replica's cores that the program placed them on.
      bakes_constants: whether large constants are imported with the nodes, which suits a step for
        an accelerator; by default all imports share one buffer outside.

    Attributes:
      given: the members of ``given`` that are used.
      names: the nodes that a call imports.
      writes: names of the resources that may be written.
      reads_first: names of the resources that must have a value before a call.
      random_names: the nodes whose results depend on the number of the call (``rng_step``).
      sums: the CrossReplicaSum nodes, in the order in which a call joins them.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        fetches: Sequence[str],
        given: Iterable[str] = (),
        resources: Iterable[str] = (),
        jit_compile: bool = False,
        streams: RandomStreams = _OWN_STREAMS,
        keeps_cores: bool = False,
        bakes_constants: bool = False,
    ):
        self._keeps_cores = keeps_cores
        self._fetches = [tensor_ref(f) for f in fetches]
        self._snapshot = snapshot
        self._held = {} if bakes_constants or jit_compile else snapshot.constants
        offered = {*given, REPLICA_ID, *self._held}
        plan = make_plan(snapshot, self._fetches, offered, set(resources))
        self.given, self.writes, self.reads_first = plan.given, plan.writes, plan.reads_first
        self.names = [n for s in plan.stages for n in (*s.body, *s.sums)]
        is_island = plan.has_v1_control_flow
        self._importer = (
            _import_compiled if jit_compile else _import_island if is_island else _import_here
        )
        # A v1 loop draws in each iteration, and one position per step cannot express that.
        self._randomness = Randomness(snapshot, [] if is_island else self.names, streams)
        self.random_names = self._randomness.stateless
        self._parts = self._make_parts(plan)
        self.sums = [name for stage in plan.stages for name in stage.sums]

    @property
    def graph_defs(self) -> list[tf.compat.v1.GraphDef]:
        """The nodes as a call imports them, by stage; the given tensors are inputs."""
        return [part.graph_def for part in self._parts]

    def __call__(
        self,
        values: Mapping[str, tf.Tensor],
        join: JoinFn,
        replica: int | tf.Tensor = 0,
        rng_step: tf.Tensor | int = 0,
    ) -> list[Any]:
        """Imports the nodes into the graph under construction.

        Args:
          values: the given tensors by reference.
          join: sums values over the replicas at each CrossReplicaSum.
          replica: the replica's id: an int, or an int32 scalar if it is known only on the
            device.
          rng_step: how often the step ran before, the position in all random streams.

        Returns:
          The fetches in order: tensors, and operations for '^a'.
        """
        capture = tf.compat.v1.get_default_graph().capture  # for tensors of an outer function
        if REPLICA_ID in self.given:
            values = {REPLICA_ID: tf.convert_to_tensor(replica, tf.int32), **values}
        held = {ref: self._held[ref] for ref in self.given & self._held.keys()}
        values = {**held, **values}
        known = {
            ref: values[ref] if ref.startswith("^") else capture(values[ref]) for ref in self.given
        }
        if self.random_names:
            known[RNG_STEP + ":0"] = capture(tf.convert_to_tensor(rng_step, tf.int64))
            known[REPLICA_KEY + ":0"] = replica_key(replica)
        static_replica = replica if isinstance(replica, int) else 0
        for part in self._parts:
            self._import(part, known, static_replica)
            if part.sums:
                totals = join([(known[value], groups) for _, value, groups in part.sums])
                for (name, _, _), total in zip(part.sums, totals):
                    known[name + ":0"], known["^" + name] = total, total.op
        return [known[f] for f in self._fetches]

    def _make_parts(self, plan: Plan) -> list[_Part]:
        nodes = self._snapshot.nodes
        stage_of = {n: i for i, s in enumerate(plan.stages) for n in (*s.body, *s.sums)}
        wanted: list[dict[str, None]] = [{} for _ in plan.stages]  # dicts keep the order
        outside: list[dict[str, None]] = [{} for _ in plan.stages]
        for ref in self._fetches:
            if ref not in plan.given and nodes[node_name(ref)].op != "CrossReplicaSum":
                wanted[stage_of[node_name(ref)]][ref] = None
        for name, level in stage_of.items():
            is_sum = nodes[name].op == "CrossReplicaSum"
            for ref in plan.inputs[name][:1] if is_sum else plan.inputs[name]:
                source = node_name(ref)
                comes_in = ref in plan.given or nodes[source].op == "CrossReplicaSum"
                if not comes_in and (is_sum or stage_of[source] != level):
                    wanted[stage_of[source]][ref] = None
                    comes_in = True
                if comes_in and not is_sum:
                    outside[level][ref] = None
        parts = []
        for stage, want, out in zip(plan.stages, wanted, outside):
            graph_def = tf.compat.v1.GraphDef(
                versions=self._snapshot.versions,
                library=reached(self._snapshot.library, (nodes[n] for n in stage.body)),
            )
            for name in stage.body:
                node = without_placement(nodes[name], self._keeps_cores)
                if f"{name}:0" in self._snapshot.constants:
                    node = with_value(node, self._snapshot.constants[f"{name}:0"])
                node.input[:] = plan.inputs[name]
                if name in self.random_names:
                    graph_def.node.extend(self._randomness.rewritten(node))
                    out.update(dict.fromkeys(self._randomness.inputs))
                else:
                    graph_def.node.append(node)
            sums = [(n, tensor_ref(nodes[n].input[0]), self._groups(n)) for n in stage.sums]
            parts.append(_Part(graph_def, list(out), list(want), sums))
        return parts

    def _groups(self, name: str) -> np.ndarray | None:
        """Returns the group assignment of a CrossReplicaSum; None if all replicas are one group."""
        nodes = self._snapshot.nodes
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

    def _import(self, part: _Part, known: dict[str, Any], replica: int) -> None:
        if not part.graph_def.node:
            return
        graph_def = self._randomness.for_replica(part.graph_def, replica)
        with _importing:
            make_known(graph_def.library)
            elements = self._importer(graph_def, part, known)
        for ref, element in zip(part.wanted, elements):
            known[ref] = element
            if isinstance(element, tf.Tensor):
                known["^" + node_name(ref)] = element.op


def _import_here(
    graph_def: tf.compat.v1.GraphDef, part: _Part, known: Mapping[str, Any]
) -> list[Any]:
    inputs = {
        ref: _waitable(known[ref]) if ref.startswith("^") else known[ref] for ref in part.outside
    }
    with import_below_control_edges():
        return tf.graph_util.import_graph_def(
            graph_def, inputs, [ref.lstrip("^") for ref in part.wanted], name=""
        )


def _waitable(element: tf.Tensor | tf.Operation) -> tf.Tensor:
    """Returns a tensor that depends on an operation: import_graph_def maps edges to tensors."""
    if not isinstance(element, tf.Operation):
        return element
    if element.outputs:
        return element.outputs[0]
    with tf.control_dependencies([element]):
        return tf.constant(True)


def _import_island(
    graph_def: tf.compat.v1.GraphDef, part: _Part, known: Mapping[str, Any]
) -> list[Any]:
    """Imports into a separate function, ordered by the program's control edges alone.

    tf.function would tie stateful ops inside a v1 loop or branch to ops outside it. The executor
    refuses such edges (the ops are in different frames) or never runs the op (it waits for a dead
    branch).
    """
    awaited = [known[ref] for ref in part.outside if ref.startswith("^")]

    def body() -> list[tf.Tensor]:
        graph = tf.compat.v1.get_default_graph()
        inside = {
            ref: tf.constant(True) if ref.startswith("^") else graph.capture(known[ref])
            for ref in part.outside
        }
        got = _import_here(graph_def, part, inside)
        operations = [e for e in got if isinstance(e, tf.Operation)]
        with tf.control_dependencies(operations):
            tensors = [tf.identity(e) for e in got if isinstance(e, tf.Tensor)]
            done = tf.constant(True)
        # Whatever waits for the call, such as a read of the global step, waits for these alone.
        graph.control_outputs.extend([done.op, *(tensor.op for tensor in tensors)])
        return [*tensors, done]

    with tf.control_dependencies(awaited):
        *tensors, done = tf.compat.v1.wrap_function(body, [])()
    waiting = iter(tensors)
    return [done.op if ref.startswith("^") else next(waiting) for ref in part.wanted]


def _import_compiled(
    graph_def: tf.compat.v1.GraphDef, part: _Part, known: Mapping[str, Any]
) -> list[Any]:
    """Imports into a function that XLA compiles; see ``_import_island``."""
    awaited = [known[ref] for ref in part.outside if ref.startswith("^")]

    def body() -> list[tf.Tensor]:
        graph = tf.compat.v1.get_default_graph()
        inside = {
            ref: tf.constant(True) if ref.startswith("^") else graph.capture(known[ref])
            for ref in part.outside
        }
        got = _import_here(graph_def, part, inside)
        tensors = [e for e in got if isinstance(e, tf.Tensor)]
        for tensor in tensors:
            if tensor.dtype == tf.variant:
                raise NotCompilableError(
                    f"{tensor.name!r}, a list of tensors that a loop filled, is used on both sides "
                    "of a cross-replica sum, and compiled parts cannot pass it on. Compute the sum "
                    "before the loop, or do not compile the step."
                )
        return [*map(tf.identity, tensors), tf.constant(True)]

    with tf.control_dependencies(awaited):
        *tensors, done = tf.function(body, autograph=False, jit_compile=True)()
    waiting = iter(tensors)
    return [done.op if ref.startswith("^") else next(waiting) for ref in part.wanted]
