"""Summaries of canned estimators' layers and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["fraction_of_zeros", "summarize_layer", "summarize_weights"]

_summary = tf.compat.v1.summary


def summarize_layer(values: tf.Tensor, tag: str) -> None:
    """Writes the fraction of zeros in a layer's outputs, and their distribution."""
    _summary.scalar(f"{tag}/fraction_of_zero_values", tf.math.zero_fraction(values))
    _summary.histogram(f"{tag}/activation", values)


def summarize_weights(bias: Any, weights: Sequence[Any], units: int) -> None:
    """Writes a linear model's bias, and the fraction of zeros in its weights.

    Args:
      bias: a variable of shape ``[units]``.
      weights: variables, whole or in parts.
      units: the number of outputs.
    """
    values = tf.convert_to_tensor(bias)
    if units > 1:
        _summary.histogram("bias", values)
    else:
        _summary.scalar("bias", values[0])
    _summary.scalar("fraction_of_zero_weights", fraction_of_zeros(weights))


def fraction_of_zeros(variables: Sequence[Any]) -> tf.Tensor:
    """Returns the fraction of zeros over all variables."""
    tensors = [tf.convert_to_tensor(part) for variable in variables for part in _parts(variable)]
    sizes = tf.add_n([tf.size(tensor, tf.int64) for tensor in tensors])
    others = tf.add_n([tf.math.count_nonzero(tensor, dtype=tf.int64) for tensor in tensors])
    return tf.cast(sizes - others, tf.float32) / tf.cast(sizes, tf.float32)


def _parts(variable: Any) -> list[Any]:
    return [variable] if isinstance(variable, (tf.Variable, tf.Tensor)) else list(variable)
