"""A replica's part of a step, lowered by TensorFlow to XLA's HLO; nothing runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for import Argument, Finding, LoweredStep
from estimator_bridge.compile_for.lowered import DRAW_IN_FUNCTION
from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph import JoinFn, Lifted, Resources, Snapshot
from estimator_bridge.graph.compilable import (
    Obstacle,
    find_obstacles,
    lowering_error,
    not_compilable,
)
from estimator_bridge.graph.user_line import line_of_node
from estimator_bridge.tensorflow_private.xla import xla_all_reduce, xla_replica_id

__all__ = ["StepLowering"]

_BY_XLA = frozenset({tf.float32, tf.bfloat16, tf.float16, tf.int32, tf.uint32})
_UNWRITTEN = frozenset({tf.float32, tf.float64, tf.float16, tf.int32, tf.int64})
_SLOW_FLOAT64 = "a TPU has no float64: it computes with several numbers instead. Cast to float32."


@dataclasses.dataclass(frozen=True)
class StepLowering:
    """Lowers a step.

    Attributes:
      graph: the traced graph.
      resources: its variables.
      lifted: the replica's part.
      inputs: the references that a call supplies: the batch, and the fed ones.
      results: the number of lifted fetches that are tensors to return.
      device: the device of the replica's variables: XLA compiles for it, and refuses variables of
        another device.
    """

    graph: tf.Graph
    resources: Resources
    lifted: Lifted
    inputs: Sequence[str]
    results: int
    device: str

    def check(self, for_tpu: bool = False, exempt_ops: Collection[str] = ()) -> None:
        """Checks, eagerly, that XLA would compile a replica's part, by compiling it up to HLO.

        Nothing runs. The variables have to be initialized, and the inputs' shapes to be static.

        Args:
          for_tpu: whether shapes that depend on values are refused too, as XLA refuses them, or
            pads them, on a TPU.
          exempt_ops: types of ops that are no obstacle.

        Raises:
          NotCompilableError: it would not; names the operations and the program's lines.
        """
        obstacles = self._obstacles(for_tpu, exempt_ops)
        if obstacles:
            raise not_compilable(obstacles)
        if self._leaves_something_out():
            return
        self._compile("hlo", lambda sums: [value for value, _ in sums], 0, True)

    def lower(self, replicas: int, has_values: bool, updates: Sequence[str] = ()) -> LoweredStep:
        """Returns the step as HLO, with its sums as all-reduces over the replicas.

        Args:
          replicas: the number of replicas.
          has_values: whether the variables have values. Without them, the step is lowered with
            temporary variables of the same shapes.
          updates: variables whose values after the step follow the results, in this order.

        Raises:
          NotCompilableError: TensorFlow cannot lower it; names the operations and the lines.
        """
        obstacles = self._obstacles(for_tpu=False)
        if obstacles:
            raise not_compilable(obstacles)
        outside = self._outside_compilation()
        if outside:
            lines = [f"  {name}, made at {line_of_node(self.graph, name)}" for name in outside[:5]]
            raise NotCompilableError(
                "The step leaves operations to the host (tpu.outside_compilation), which cannot "
                "be lowered here:\n" + "\n".join(lines)
            )

        names: Iterator[str] = iter(())

        def number() -> tf.Tensor:  # called as an import of the step begins
            nonlocal names
            names = iter(self.lifted.sums)
            return xla_replica_id()

        def join(sums: Sequence[tuple[tf.Tensor, np.ndarray | None]]) -> list[tf.Tensor]:
            return [_all_reduce(value, groups, replicas, next(names)) for value, groups in sums]

        if replicas == 1:
            hlo, arguments = self._compile(
                "hlo_serialized", lambda sums: [value for value, _ in sums], 0, has_values, updates
            )
        else:
            hlo, arguments = self._compile("hlo_serialized", join, number, has_values, updates)
        return LoweredStep(
            hlo,
            replicas,
            arguments,
            len(self.lifted.sums),
            tuple(self._in_float64()),
            tuple(self._without_static_shape()),
            random_ops=(*sorted(self.lifted.random_names), DRAW_IN_FUNCTION),
        )

    def _obstacles(self, for_tpu: bool, exempt_ops: Collection[str] = ()) -> list[Obstacle]:
        exempt = {*exempt_ops, *self.lifted.computed_ops}
        return find_obstacles(self.graph, self.lifted.names, for_tpu, exempt)

    def _compile(
        self,
        stage: str,
        join: JoinFn,
        replica: int | Callable[[], tf.Tensor],
        has_values: bool,
        updates: Sequence[str] = (),
    ) -> tuple[bytes, tuple[Argument, ...]]:
        tensors = [self.graph.get_tensor_by_name(ref) for ref in self.inputs]
        unknown = [t.name for t in tensors if not t.shape.is_fully_defined()]
        if unknown:
            raise NotCompilableError(
                f"The step cannot be compiled by XLA: its inputs {unknown} have no static shape. "
                "Batch the dataset with drop_remainder=True."
            )
        variables = None if has_values else self._stand_ins()
        handles: dict[str, tf.Tensor] = {}

        @tf.autograph.experimental.do_not_convert
        def on_one_replica(rng_step: tf.Tensor, *components: tf.Tensor) -> Any:
            handles.update(self._handles(variables))
            values = {**handles, **dict(zip(self.inputs, components))}
            number = replica if isinstance(replica, int) else replica()
            results = self.lifted(values, join, number, rng_step)
            after = [
                tf.raw_ops.ReadVariableOp(
                    resource=handles[f"{name}:0"],
                    dtype=self.resources.first_copy(name).dtype,
                )
                for name in updates
            ]
            return [tf.identity(result) for result in [*results[: self.results], *after]]

        function = tf.function(on_one_replica, autograph=False, jit_compile=True)
        specs = [tf.TensorSpec([], tf.int64), *(tf.TensorSpec(t.shape, t.dtype) for t in tensors)]
        try:
            compiler_ir = function.experimental_get_compiler_ir(*specs)
            with tf.device(self.device if has_values else None):
                hlo = compiler_ir(stage=stage)
        except (ValueError, TypeError, tf.errors.OpError) as error:
            raise lowering_error(self.graph, error) from error
        arguments = [_argument("position", "position", specs[0])]
        arguments += [_argument("input", t.op.name, spec) for t, spec in zip(tensors, specs[1:])]
        # The module's arguments are the function's: its inputs, then the handles, as captured.
        captured = function.get_concrete_function(*specs).graph.inputs[len(specs) :]
        names = {id(handle): ref[: -len(":0")] for ref, handle in handles.items()}
        for handle in captured:
            name = names.get(id(handle))
            if name in self.resources.variables:
                copy = self.resources.first_copy(name)
                arguments.append(_argument("variable", name, copy))
        return hlo, tuple(arguments)

    def _handles(self, variables: dict[str, tf.Variable] | None) -> dict[str, tf.Tensor]:
        if variables is None:
            return self.resources.handles(self.lifted.input_refs)
        capture = tf.compat.v1.get_default_graph().capture
        others = {ref for ref in self.lifted.input_refs if ref not in variables}
        own = {ref: capture(variable.handle) for ref, variable in variables.items()}
        return {**own, **self.resources.handles(others)}

    def _stand_ins(self) -> dict[str, tf.Variable]:
        """Returns variables of the step's shapes, by the reference of their handle."""
        variables = {}
        for ref in sorted(self.lifted.input_refs):
            name = ref[: -len(":0")]
            if name in self.resources.variables:
                copy = self.resources.first_copy(name)
                variables[ref] = tf.Variable(_unwritten(copy), trainable=False)
        return variables

    def _leaves_something_out(self) -> bool:
        """Whether XLA does not compile an operation, as it is allowed or meant for the host."""
        return bool(self._obstacles(for_tpu=False) or self._outside_compilation())

    def _outside_compilation(self) -> list[str]:
        nodes = Snapshot.of(self.graph).nodes
        return [n for n in self.lifted.names if "_xla_outside_compilation" in nodes[n].attr]

    def _in_float64(self) -> Iterator[Finding]:
        """Returns the operations that compute in float64, one for each line of the program."""
        visited = set()
        for name in self.lifted.names:
            try:
                operation = self.graph.get_operation_by_name(name)
            except KeyError:  # of a function that was inlined
                continue
            if any(tensor.dtype == tf.float64 for tensor in operation.outputs):
                line = line_of_node(self.graph, name)
                if (line or name) not in visited:
                    visited.add(line or name)
                    yield Finding(name, line, _SLOW_FLOAT64)

    def _without_static_shape(self) -> Iterator[Finding]:
        for obstacle in self._obstacles(for_tpu=True):
            yield Finding(obstacle.name, obstacle.line, obstacle.reason)


def _unwritten(like: tf.Variable) -> tf.Tensor:
    """Returns a tensor like a variable, whose memory is never touched: the model may exceed it."""
    if like.dtype in _UNWRITTEN:
        return tf.raw_ops.Empty(shape=like.shape.as_list(), dtype=like.dtype, init=False)
    return tf.zeros(like.shape, like.dtype)


def _argument(kind: str, name: str, like: tf.TensorSpec | tf.Variable) -> Argument:
    return Argument(kind, name, tuple(like.shape.as_list()), like.dtype.name, like.dtype.size)


def _all_reduce(value: tf.Tensor, groups: np.ndarray | None, replicas: int, name: str) -> tf.Tensor:
    """Returns a sum over replicas as XLA has it, under the name of the program's sum.

    Raises:
      NotCompilableError: there is no such sum for this type.
    """
    if value.dtype in _BY_XLA:
        rows = [list(range(replicas))] if groups is None else groups.tolist()
        return xla_all_reduce(value, rows, name)
    if groups is not None:
        raise NotCompilableError(
            f"The cross-replica sum of {value.name!r} is in groups and of {value.dtype.name}: "
            "TensorFlow lowers such sums of float32, bfloat16, float16, int32 and uint32 only."
        )
    return tf.raw_ops.CollectiveReduceV2(
        input=value,
        group_size=replicas,
        group_key=1,
        instance_key=1,
        ordering_token=[],
        merge_op="Add",
        final_op="Id",
        name=name,
    )
