"""Exchanges between replicas, as operations of one replica's graph.

Each exchange is a sum over the replicas (CrossReplicaSum, which the engine turns into the
strategy's all_reduce). A mean divides it, a broadcast sums one replica's value and zeros, and a
gather sums values that each replica has put into its own row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import REPLICA_ID
from estimator_bridge.model.replaced_functions import original_tpu_function

__all__ = ["first_of_replicas", "gather_replicas", "join", "replica_id", "sum_over_replicas"]

_v1 = tf.compat.v1
_ReduceOp = tf.distribute.ReduceOp
# The types that CrossReplicaSum supports; other types are cast to one that holds their values.
_SUMMED = (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.uint32)
_SMALL = (tf.bool, tf.int8, tf.int16, tf.uint8, tf.uint16)


def replica_id() -> tf.Tensor:
    """Returns this replica's number, known only at run time: an int32 scalar."""
    with tf.init_scope():
        graph = _v1.get_default_graph()
        try:
            return graph.get_tensor_by_name(REPLICA_ID)
        except KeyError:
            with _v1.name_scope(None):
                return _v1.placeholder(tf.int32, [], name=REPLICA_ID[: -len(":0")])


def sum_over_replicas(
    x: Any, replicas: int, note: Callable[[tf.Operation], None] | None = None
) -> tf.Tensor:
    """Returns the sum of the replicas' values, on each replica.

    Args:
      x: a replica's value; its shape is the same on all replicas.
      replicas: the number of replicas.
      note: called with the operation that sums.
    """
    x = tf.convert_to_tensor(x)
    if replicas == 1:
        return tf.identity(x)
    if x.dtype.is_complex:
        parts = [sum_over_replicas(part, replicas, note) for part in (tf.math.real(x), tf.imag(x))]
        return tf.complex(*parts)
    kind = x.dtype
    if kind not in _SUMMED:
        kind = tf.int32 if kind in _SMALL else tf.float64
    total = original_tpu_function("cross_replica_sum")(tf.cast(x, kind), [list(range(replicas))])
    if note:
        note(total.op)
    return tf.cast(total, x.dtype)


def join(reduce_op: tf.distribute.ReduceOp, x: Any, replicas: int) -> Any:
    """Returns the sum or the mean of the replicas' values; for IndexedSlices, all slices."""
    if isinstance(x, tf.IndexedSlices):
        total = _join_slices(x, replicas)
        if reduce_op == _ReduceOp.SUM:
            return total
        values = total.values / tf.cast(replicas, total.values.dtype)
        return tf.IndexedSlices(values, total.indices, total.dense_shape)
    total = sum_over_replicas(x, replicas)
    if reduce_op == _ReduceOp.SUM or replicas == 1:
        return total
    count = tf.constant(replicas, total.dtype)
    return total // count if total.dtype.is_integer else total / count


def first_of_replicas(x: Any, replicas: int) -> tf.Tensor:
    """Returns the first replica's value, on each replica."""
    x = tf.convert_to_tensor(x)
    is_first = tf.equal(replica_id(), 0)  # not multiplied: NaN would spread
    return sum_over_replicas(tf.where(is_first, x, tf.zeros_like(x)), replicas)


def gather_replicas(x: Any, replicas: int) -> tf.Tensor:
    """Returns the replicas' values, stacked: [replicas, ...].

    Args:
      x: a replica's value; its shape is the same on all replicas.
      replicas: the number of replicas.
    """
    x = tf.convert_to_tensor(x)
    nothing = tf.zeros_like(x)
    number = replica_id()
    rows = [tf.where(tf.equal(number, i), x, nothing) for i in range(replicas)]
    return sum_over_replicas(tf.stack(rows), replicas)


def _join_slices(slices: tf.IndexedSlices, replicas: int) -> tf.IndexedSlices:
    """Returns the slices of all replicas.

    They stay slices: optimizers with a state per row, such as Momentum or RMSProp, treat rows
    without a gradient differently from rows with a gradient of zero.
    """
    if replicas == 1:
        return slices
    values, indices = slices.values, slices.indices
    rows = slices.dense_shape[0] if slices.dense_shape is not None else None
    count, all_rows = values.shape.as_list()[:1], rows is not None and tf.get_static_value(rows)
    is_few = values.shape.is_fully_defined() and indices.shape.is_fully_defined()
    if is_few and all_rows:
        is_few = count[0] * replicas <= all_rows
    if is_few or rows is None:
        if not is_few:
            raise NotImplementedError(
                f"The gradient {values.name!r} consists of slices of a number known only at run "
                "time, of a variable whose size is unknown too. Give the batches a fixed size "
                "(drop_remainder=True)."
            )
        width = values.shape.as_list()[1:]
        return tf.IndexedSlices(
            tf.reshape(gather_replicas(values, replicas), [math.prod([replicas, *count]), *width]),
            tf.reshape(gather_replicas(indices, replicas), [-1]),
            slices.dense_shape,
        )
    rows = tf.cast(rows, tf.int64)
    total = sum_over_replicas(tf.math.unsorted_segment_sum(values, indices, rows), replicas)
    touches = tf.ones_like(indices, tf.float32)
    touch_counts = sum_over_replicas(tf.math.unsorted_segment_sum(touches, indices, rows), replicas)
    rows_to_keep = tf.where(touch_counts > 0)[:, 0]
    return tf.IndexedSlices(
        tf.gather(total, rows_to_keep), tf.cast(rows_to_keep, indices.dtype), slices.dense_shape
    )
