"""A part of a traced TF1 graph that can be imported into a tf.function."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph.collectives import REPLICA_ID
from estimator_bridge.graph.function_library import register_functions
from estimator_bridge.graph.interpreter import RUNS_ALONE, Interpreter
from estimator_bridge.graph.plan import make_plan
from estimator_bridge.graph.plan_parts import Part, make_parts
from estimator_bridge.graph.randomness import (
    REPLICA_KEY,
    RNG_STEP,
    Randomness,
    RandomStreams,
    replica_key,
)
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref
from estimator_bridge.graph.table_files import check_table_files
from estimator_bridge.graph.xla_lacks import LACKING
from estimator_bridge.tensorflow_private.graphs import import_below_control_edges

__all__ = ["JoinFn", "Lifted"]

_OWN_STREAMS = RandomStreams()
_importing = threading.RLock()  # an import disables tensor equality for all threads

# Adds over the replicas: [(this replica's value, groups or None for all replicas)] -> totals.
JoinFn = Callable[[Sequence[tuple[tf.Tensor, Optional[np.ndarray]]]], Sequence[tf.Tensor]]


class Lifted:
    """The nodes that some fetches need, as a callable for use inside a tf.function.

    Args:
      snapshot: the traced graph.
      fetches: tensor references ('a:0') or operations ('^a').
      input_refs: references to tensors whose values the caller supplies.
      resources: names of the nodes that own a resource.
      jit_compile: whether XLA compiles the parts between the sums over replicas.
      streams: the kind of random streams.
      keeps_cores: whether nodes stay on the replica's cores that the program placed them on.
      bakes_constants: whether large constants are imported with the nodes, which suits a step for
        an accelerator; by default all imports share one buffer outside.

    Attributes:
      input_refs: the members of ``input_refs`` that are used.
      names: the nodes that a call imports.
      writes: names of the resources that may be written.
      reads_first: names of the resources that must have a value before a call.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        fetches: Sequence[str],
        input_refs: Iterable[str] = (),
        resources: Iterable[str] = (),
        jit_compile: bool = False,
        streams: RandomStreams = _OWN_STREAMS,
        keeps_cores: bool = False,
        bakes_constants: bool = False,
    ):
        self._fetches = [tensor_ref(f) for f in fetches]
        self._constants = {} if bakes_constants or jit_compile else snapshot.constants
        available_refs = {*input_refs, REPLICA_ID, *self._constants}
        plan = make_plan(snapshot, self._fetches, available_refs, set(resources))
        self.input_refs, self.writes, self.reads_first = (
            plan.input_refs,
            plan.writes,
            plan.reads_first,
        )
        self.names = [n for s in plan.stages for n in (*s.body, *s.sums)]
        is_island = plan.has_v1_control_flow
        self._importer = (
            _import_compiled if jit_compile else _import_island if is_island else _import_here
        )
        # A v1 loop draws in each iteration, and one position per step cannot express that.
        self._randomness = Randomness(
            snapshot, [] if is_island else self.names, streams, plan.input_refs
        )
        self.input_refs = self.input_refs | {f"{name}:0" for name in self.counters}
        self.writes = self.writes | self.counters.keys()
        self._by_xla = jit_compile or streams.for_tpu or streams.for_xla
        on_host = not (self._by_xla or tf.config.list_physical_devices("GPU"))
        self._parts = make_parts(
            plan, snapshot, self._fetches, self._randomness, keeps_cores, on_host, self._by_xla
        )

    @property
    def random_names(self) -> Collection[str]:
        """The nodes whose results depend on the number of the call (``rng_step``)."""
        return self._randomness.stateless

    @property
    def computed_ops(self) -> Set[str]:
        """Types of ops that XLA compiles here, without a kernel of them."""
        return self._randomness.computed_ops | (LACKING if self._by_xla else frozenset())

    @property
    def counters(self) -> Mapping[str, int]:
        """The sizes of variables that count draws (int64, from zero), if ``streams`` has them."""
        return self._randomness.counters

    @property
    def sums(self) -> list[str]:
        """The CrossReplicaSum nodes, in the order in which a call joins them."""
        return [name for part in self._parts for name, _, _ in part.sums]

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
        tensors = {
            ref: value if ref.startswith("^") else capture(value)
            for ref, value in self._inputs(values, replica, rng_step).items()
        }
        static_replica = replica if isinstance(replica, int) else 0
        for part in self._parts:
            self._import(part, tensors, static_replica)
            if part.sums:
                totals = join([(tensors[value], groups) for _, value, groups in part.sums])
                for (name, _, _), total in zip(part.sums, totals):
                    tensors[name + ":0"], tensors["^" + name] = total, total.op
        return [tensors[f] for f in self._fetches]

    @property
    def runs_alone(self) -> bool:
        """Whether ``interpret`` can run the nodes eagerly."""
        nodes = [node for part in self._parts for node in part.graph_def.node]
        is_one_part = len(self._parts) == 1 and not self.sums
        return is_one_part and all(node.op in RUNS_ALONE for node in nodes)

    @functools.cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self._parts[0].graph_def.node, self._fetches)

    def interpret(self, values: Mapping[str, tf.Tensor], rng_step: int) -> list[Any]:
        """Runs the nodes eagerly, if they can run so.

        Args:
          values: see ``__call__``; eager tensors.
          rng_step: see ``__call__``.

        Returns:
          The fetches in order: eager tensors, and None for '^a'.
        """
        return self._interpreter(self._inputs(values, 0, rng_step))

    def _inputs(
        self, values: Mapping[str, Any], replica: int | tf.Tensor, rng_step: tf.Tensor | int
    ) -> dict[str, Any]:
        """Returns all that the nodes take from outside, by reference."""
        if REPLICA_ID in self.input_refs:
            values = {REPLICA_ID: tf.convert_to_tensor(replica, tf.int32), **values}
        constants = {ref: self._constants[ref] for ref in self.input_refs & self._constants.keys()}
        values = {**constants, **values}
        tensors = {ref: values[ref] for ref in self.input_refs}
        if self.random_names:
            tensors[RNG_STEP + ":0"] = tf.convert_to_tensor(rng_step, tf.int64)
            tensors[REPLICA_KEY + ":0"] = replica_key(replica)
        return tensors

    def _import(self, part: Part, tensors: dict[str, Any], replica: int) -> None:
        if not part.graph_def.node:
            return
        check_table_files(part.graph_def.node, tensors)
        graph_def = self._randomness.for_replica(part.graph_def, replica)
        with _importing:
            register_functions(graph_def.library)
            elements = self._importer(graph_def, part, tensors)
        for ref, element in zip(part.outputs, elements):
            tensors[ref] = element
            if isinstance(element, tf.Tensor):
                tensors["^" + node_name(ref)] = element.op


def _import_here(
    graph_def: tf.compat.v1.GraphDef, part: Part, tensors: Mapping[str, Any]
) -> list[Any]:
    inputs = {
        ref: _waitable(tensors[ref]) if ref.startswith("^") else tensors[ref]
        for ref in part.outside
    }
    with import_below_control_edges():
        return tf.graph_util.import_graph_def(
            graph_def, inputs, [ref.lstrip("^") for ref in part.outputs], name=""
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
    graph_def: tf.compat.v1.GraphDef, part: Part, values: Mapping[str, Any]
) -> list[Any]:
    """Imports into a separate function, ordered by the program's control edges alone.

    tf.function would tie stateful ops inside a v1 loop or branch to ops outside it. The executor
    refuses such edges (the ops are in different frames) or never runs the op (it waits for a dead
    branch).
    """
    control_inputs = [values[ref] for ref in part.outside if ref.startswith("^")]

    def body() -> list[tf.Tensor]:
        elements = _import_here(graph_def, part, _captures(part, values))
        operations = [e for e in elements if isinstance(e, tf.Operation)]
        with tf.control_dependencies(operations):
            tensors = [tf.identity(e) for e in elements if isinstance(e, tf.Tensor)]
            completion = tf.constant(True)
        # Whatever waits for the call, such as a read of the global step, waits for these alone.
        graph = tf.compat.v1.get_default_graph()
        graph.control_outputs.extend([completion.op, *(tensor.op for tensor in tensors)])
        return [*tensors, completion]

    with tf.control_dependencies(control_inputs):
        *tensors, completion = tf.compat.v1.wrap_function(body, [])()
    return _in_order(part, tensors, completion)


def _import_compiled(
    graph_def: tf.compat.v1.GraphDef, part: Part, values: Mapping[str, Any]
) -> list[Any]:
    """Imports into a function that XLA compiles; see ``_import_island``."""
    control_inputs = [values[ref] for ref in part.outside if ref.startswith("^")]

    def body() -> list[tf.Tensor]:
        elements = _import_here(graph_def, part, _captures(part, values))
        tensors = [e for e in elements if isinstance(e, tf.Tensor)]
        for tensor in tensors:
            if tensor.dtype == tf.variant:
                raise NotCompilableError(
                    f"{tensor.name!r}, a list of tensors that a loop filled, is used on both sides "
                    "of a cross-replica sum, and compiled parts cannot pass it on. Compute the sum "
                    "before the loop, or do not compile the step."
                )
        return [*map(tf.identity, tensors), tf.constant(True)]

    with tf.control_dependencies(control_inputs):
        *tensors, completion = tf.function(body, autograph=False, jit_compile=True)()
    return _in_order(part, tensors, completion)


def _captures(part: Part, tensors: Mapping[str, Any]) -> dict[str, tf.Tensor]:
    """Returns a part's inputs from outside, captured by the function under construction."""
    graph = tf.compat.v1.get_default_graph()
    return {
        ref: tf.constant(True) if ref.startswith("^") else graph.capture(tensors[ref])
        for ref in part.outside
    }


def _in_order(part: Part, tensors: Iterable[tf.Tensor], completion: tf.Tensor) -> list[Any]:
    """Returns a part's outputs, from the results of its function: tensors and ``completion``."""
    results = iter(tensors)
    return [completion.op if ref.startswith("^") else next(results) for ref in part.outputs]
