"""A metric that keeps all values."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import Metric, metric_variable, result

__all__ = ["streaming_concat"]

_v1 = tf.compat.v1
_GROWTH = 1.5  # of the array, when it is full


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Concatenates all values, batch by batch.

    Args:
      values: values whose static shape is known, except along ``axis``.
      axis: the dimension of the concatenation.
      max_size: the number of values to keep, from the start; None for all.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The values, and an update, whose value is their number.

    Raises:
      ValueError: another dimension is unknown, or there is no such axis.
    """
    with _v1.variable_scope(name, "streaming_concat"):
        values = tf.convert_to_tensor(values)
        axis = _checked_axis(values, axis)
        first = [axis, *(other for other in range(values.shape.rank) if other != axis)]
        back = [first.index(dimension) for dimension in range(len(first))]
        batch = tf.transpose(values, first)
        array = metric_variable([max_size, *batch.shape.as_list()[1:]], values.dtype, "array")
        size = metric_variable([], tf.int32, "size")
        value = tf.transpose(tf.identity(array)[: tf.identity(size)], back)
        if max_size is not None:
            batch = batch[: max_size - tf.identity(size)]
        contents, count = tf.identity(array), tf.identity(size)
        room, total = tf.shape(contents)[0], count + tf.shape(batch)[0]
        room = tf.where(total > room, _room_for(total), room)
        padding = [[0, room - total], *[[0, 0]] * (len(first) - 1)]
        filled = tf.pad(tf.concat([contents[:count], batch], 0), padding)
        with tf.control_dependencies([_v1.assign(array, filled, validate_shape=False)]):
            update = tf.identity(_v1.assign(size, total))
    return result(value, update, metrics_collections, updates_collections)


def _checked_axis(values: tf.Tensor, axis: int) -> int:
    if values.shape.rank is None:
        raise ValueError("`values` must have known statically known rank: use set_shape.")
    shape = values.shape.as_list()
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis = {axis} not in [0, {len(shape)})")
    axis %= len(shape)
    if None in shape[:axis] + shape[axis + 1 :]:
        raise ValueError(
            "all dimensions of `values` other than the dimension to concatenate along must have "
            f"statically known size, got {values.shape} and axis {axis}."
        )
    return axis


def _room_for(total: tf.Tensor) -> tf.Tensor:
    """Returns the smallest power of the growth that is at least a number of values."""
    exponent = tf.math.ceil(tf.math.log(tf.cast(total, tf.float32)) / math.log(_GROWTH))
    return tf.cast(tf.math.ceil(tf.pow(_GROWTH, exponent)), tf.int32)
