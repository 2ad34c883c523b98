"""Tracing for XLA, its operations, and the op types it compiles."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import (
    XLAControlFlowContext,
    control_flow_util_v2,
    gen_xla_ops,
)

__all__ = [
    "xla_all_reduce",
    "xla_context",
    "xla_context_of_cpus",
    "xla_op_types",
    "xla_replica_id",
]


class _XLAContext(XLAControlFlowContext):
    """The context of a model on cores, with the public methods of TF1's TPUReplicateContext."""

    def AddOp(self, op: Any) -> None:
        """Removes an operation from the context, so that its value can initialize variables."""
        op._set_control_flow_context(None)

    def get_replicated_var_handle(self, name: Any, *rest: Any, **options: Any) -> tf.Tensor:
        """The handle of a variable that each replica sees as its own.

        Args:
          name: the common name of the variables.
          *rest: the variables of all replicas, last; before them their ID, since TensorFlow 2.
          **options: the same by name (``vars_``), and whether they are mirrored or packed.

        Returns:
          The handle of the one variable that all replicas share.

        Raises:
          NotImplementedError: the replicas have different variables.
        """
        of_replicas = options.get("vars_") or next(
            (part for part in rest if isinstance(part, (list, tuple))), ()
        )
        shared = {id(variable): variable for variable in of_replicas}
        if len(shared) != 1:
            raise NotImplementedError(
                f"get_replicated_var_handle({str(name)!r}) asks for a variable that differs from "
                f"replica to replica; {len(shared) or 'no'} variables were given. The replicas of "
                "a model share their variables here: a model is traced once for all cores, and its "
                "variables have one value. Mesh TensorFlow's SIMD layout (SimdMeshImpl) needs "
                "such variables; its placement layout does not: run the program with "
                "use_tpu=False, or build mesh_tensorflow.placement_mesh_impl.PlacementMeshImpl("
                "mesh_shape, layout_rules, [''] * mesh_size) in the place of SimdMeshImpl."
            )
        (variable,) = shared.values()
        return variable.handle

    def report_unsupported_operations(self) -> None:
        """Nothing: each operation that a core does not have is reported when a step is made."""

    def HostComputeCore(self) -> list[str]:
        """The cores that operations on the host are assigned to; each has its own host's."""
        return []


@contextlib.contextmanager
def xla_context() -> Iterator[None]:
    """Traces the default graph as the part of a model that a TPU compiles.

    Loops with gradients then keep lists of fixed sizes; XLA compiles no others.
    """
    context = _XLAContext()
    context.Enter()
    try:
        yield
    finally:
        context.Exit()


@contextlib.contextmanager
def xla_context_of_cpus() -> Iterator[None]:
    """``xla_context`` for a graph that runs on CPUs, with or without XLA.

    CPUs have no kernel for one operation in the gradient of tf.slice. Branches and loops run faster
    when their operations are lowered into the surrounding graph.
    """
    set_lowering = control_flow_util_v2.maybe_set_lowering_attr
    update = gen_xla_ops.xla_dynamic_update_slice

    def lowered(op: tf.Operation, lower_using_switch_merge: bool | None = None) -> None:
        should_lower = lower_using_switch_merge
        set_lowering(op, True if should_lower is None else should_lower)

    control_flow_util_v2.maybe_set_lowering_attr = lowered
    gen_xla_ops.xla_dynamic_update_slice = _update_slice
    try:
        with xla_context():
            yield
    finally:
        control_flow_util_v2.maybe_set_lowering_attr = set_lowering
        gen_xla_ops.xla_dynamic_update_slice = update


def xla_all_reduce(value: tf.Tensor, groups: Sequence[Sequence[int]], name: str) -> tf.Tensor:
    """Sums over the replicas of each group, in code that XLA compiles.

    Raises:
      TypeError: XLA has no such sum for this dtype.
    """
    return gen_xla_ops.xla_all_reduce(
        value, groups, reduce_op="Add", mode="CrossReplica", name=name
    )


def xla_replica_id() -> tf.Tensor:
    """The ID of the running replica in code that XLA compiles, an int32 scalar."""
    return gen_xla_ops.xla_replica_id()


def _update_slice(input: Any, update: Any, indices: Any, name: str | None = None) -> tf.Tensor:
    """XlaDynamicUpdateSlice as an operation with a CPU kernel."""
    indices = tf.convert_to_tensor(indices)
    return tf.raw_ops.TensorStridedSliceUpdate(
        input=input,
        begin=indices,
        end=indices + tf.shape(update, out_type=indices.dtype),
        strides=tf.ones_like(indices),
        value=update,
        name=name,
    )


def xla_op_types() -> list[str]:
    """The op types that XLA compiles for CPUs; there is no public list."""
    from tensorflow.python.util import pywrap_xla_ops  # loads a library that logs

    return pywrap_xla_ops.get_cpu_kernel_names()
