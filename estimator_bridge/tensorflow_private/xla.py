"""What XLA compiles: tracing for it, its operations, and the types that it knows."""

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
    def AddOp(self, op: Any) -> None:
        """Takes an operation out of the context, so that variables may start from its value."""
        op._set_control_flow_context(None)


@contextlib.contextmanager
def xla_context() -> Iterator[None]:
    """Within, the default graph is traced as the part of a model that a TPU compiles.

    Loops with gradients keep lists of fixed sizes then, without which XLA compiles none of them.
    """
    context = _XLAContext()
    context.Enter()
    try:
        yield
    finally:
        context.Exit()


@contextlib.contextmanager
def xla_context_of_cpus() -> Iterator[None]:
    """``xla_context``, for a graph that CPUs run, with or without XLA.

    They have no kernel for an operation in the gradient of tf.slice, and a branch or a loop is
    quicker if its operations become part of the graph around it.
    """
    set_lowering = control_flow_util_v2.maybe_set_lowering_attr
    update = gen_xla_ops.xla_dynamic_update_slice

    def lowered(op: tf.Operation, lower_using_switch_merge: bool | None = None) -> None:
        wanted = lower_using_switch_merge
        set_lowering(op, True if wanted is None else wanted)

    control_flow_util_v2.maybe_set_lowering_attr = lowered
    gen_xla_ops.xla_dynamic_update_slice = _update_slice
    try:
        with xla_context():
            yield
    finally:
        control_flow_util_v2.maybe_set_lowering_attr = set_lowering
        gen_xla_ops.xla_dynamic_update_slice = update


def xla_all_reduce(value: tf.Tensor, groups: Sequence[Sequence[int]], name: str) -> tf.Tensor:
    """Adds over the replicas of each group, where XLA compiles what is built.

    Raises:
      TypeError: XLA has no such sum for numbers of this type.
    """
    return gen_xla_ops.xla_all_reduce(
        value, groups, reduce_op="Add", mode="CrossReplica", name=name
    )


def xla_replica_id() -> tf.Tensor:
    """The number of the replica that runs what XLA compiles, an int32 scalar."""
    return gen_xla_ops.xla_replica_id()


def _update_slice(input: Any, update: Any, indices: Any, name: str | None = None) -> tf.Tensor:
    """XlaDynamicUpdateSlice by an operation that CPUs have."""
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
    """The types of ops that XLA compiles for CPUs; there is no public list."""
    from tensorflow.python.util import pywrap_xla_ops  # loads a library of its own, which logs

    return pywrap_xla_ops.get_cpu_kernel_names()
