"""What canned estimators show of their layers and weights in TensorBoard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["fraction_of_zeros", "summarize_layer", "summarize_weights"]

_summary = tf.compat.v1.summary


def summarize_layer(values: tf.Tensor, tag: str) -> None:
    """Writes how many of a layer's outputs are zero, and their distribution."""
    _summary.scalar(f"{tag}/fraction_of_zero_values", tf.math.zero_fraction(values))
    _summary.histogram(f"{tag}/activation", values)


def summarize_weights(bias: Any, weights: Sequence[Any], units: int) -> None:
    """Writes a linear model's bias, and how many of its weights are zero.

    Args:
      bias: a variable of shape ``[units]``.
      weights: variables, whole or in parts.
      units: how many outputs it has.
    """
    whole = tf.convert_to_tensor(bias)
    if units > 1:
        _summary.histogram("bias", whole)
    else:
        _summary.scalar("bias", whole[0])
    _summary.scalar("fraction_of_zero_weights", fraction_of_zeros(weights))


def fraction_of_zeros(variables: Sequence[Any]) -> tf.Tensor:
    """The part of the entries of all variables together that is zero."""
    tensors = [tf.convert_to_tensor(part) for variable in variables for part in _parts(variable)]
    sizes = tf.add_n([tf.size(tensor, tf.int64) for tensor in tensors])
    others = tf.add_n([tf.math.count_nonzero(tensor, dtype=tf.int64) for tensor in tensors])
    return tf.cast(sizes - others, tf.float32) / tf.cast(sizes, tf.float32)


def _parts(variable: Any) -> list[Any]:
    return [variable] if isinstance(variable, (tf.Variable, tf.Tensor)) else list(variable)
