"""Sizes of tensors that are known while the graph is built."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["static_size"]


def static_size(tensor: Any, axis: int) -> Any:
    """Returns the size of a dimension; None if it is unknown.

    TensorFlow 1's shapes have Dimension objects, today's have numbers.
    """
    return tf.compat.dimension_value(tensor.shape[axis])
