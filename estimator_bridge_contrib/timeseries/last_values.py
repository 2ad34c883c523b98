"""Metrics whose result is the last batch's tensor."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["last_value", "last_values"]

_v1 = tf.compat.v1


def last_value(name: str, tensor: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Makes a metric that keeps a tensor in a variable, as other metrics keep their numbers.

    So the result is of the same batch as that of a mean, also if it is read after the update.

    Args:
      name: the beginning of the variable's name.
      tensor: the tensor.

    Returns:
      The value and the update.
    """
    variable = _v1.Variable(
        tf.zeros([], dtype=tensor.dtype),
        name=f"{name}_identity_metric",
        trainable=False,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        shape=tf.TensorShape(None),
        use_resource=True,
    )
    update = variable.assign(tensor, read_value=False)
    with tf.control_dependencies([update]):
        updated = variable.read_value()
    value = variable.read_value()
    value.set_shape(tensor.shape)
    return value, updated


def last_values(name: str, tensors: Any) -> tuple[Any, tf.Operation]:
    """Makes one metric of nested tensors; see `last_value`.

    Args:
      name: the beginning of the variables' names.
      tensors: nested tensors.

    Returns:
      The values, in the same structure, and the update.
    """
    metrics = [
        last_value(f"{name}_{number}", tensor)
        for number, tensor in enumerate(tf.nest.flatten(tensors))
    ]
    values = tf.nest.pack_sequence_as(tensors, [value for value, _ in metrics])
    return values, tf.group(*(update for _, update in metrics))
