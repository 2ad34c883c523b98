"""Concatenates the steps of padded sequences."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["real_steps"]

_MISFIT = "Tensor shape is incompatible with provided mask."


def real_steps(tensor: Any, mask: tf.Tensor) -> tf.Tensor:
    """Removes a batch's padding.

    Args:
      tensor: shape [batch, steps, ...]; or a SparseTensor with one entry, or one row of entries,
        for each step that is not padding.
      mask: bools [batch, steps], false for padding.

    Returns:
      A tensor [real steps, ...], with a last dimension of 1 if a step is a single number.

    Raises:
      ValueError: `tensor` has fewer than two dimensions, or is not a tensor; eagerly also if it
        does not fit the mask, which in a graph is an InvalidArgumentError of the step.
    """
    if not isinstance(tensor, (tf.Tensor, tf.SparseTensor)):
        raise ValueError(
            f"`tensor` expected to be a `Tensor` or  `SparseTensor` got `{tensor}` instead. "
            "Labels, logits and weights of sequences are tensors of shape [batch, steps, ...]."
        )
    shape = tensor.shape
    if shape.ndims is None or shape.ndims < 2:
        raise ValueError(
            f"Input tensor expected to have at least 2 dimensions, got {shape.ndims} instead. "
            "Labels, logits and weights of sequences are of shape [batch, steps, ...]."
        )
    inner = list(shape[2:]) or [1]
    if isinstance(tensor, tf.SparseTensor):
        values = tf.reshape(tf.sparse.reorder(tensor).values, [-1, *inner])
    else:
        values = tf.boolean_mask(tensor, mask)
        values = values if shape.ndims > 2 else values[:, tf.newaxis]
    count = tf.reduce_sum(tf.cast(mask, tf.int32))
    if tf.executing_eagerly():
        if values.shape[0] != int(count):
            raise ValueError(f"{_MISFIT} It has {values.shape[0]} steps, the mask {int(count)}.")
        return values
    check = tf.compat.v1.debugging.assert_equal(tf.shape(values)[0], count, message=_MISFIT)
    with tf.control_dependencies([check]):
        return tf.identity(values)
