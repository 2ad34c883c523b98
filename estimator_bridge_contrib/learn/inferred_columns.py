"""Feature columns for all features of an input, each a number or a vector of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.learn.array_inputs import array_input_fn, check_inputs

__all__ = ["infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn"]


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """Makes the columns of an input_fn's features.

    Args:
      input_fn: returns features and labels, or a dataset of them. It runs in a graph of its own.

    Returns:
      A column for each feature; the column of a single tensor has the name ''.
    """
    with tf.Graph().as_default():
        inputs = input_fn()
        if isinstance(inputs, tf.data.Dataset):
            inputs = tf.nest.map_structure(
                lambda spec: tf.compat.v1.placeholder(spec.dtype, spec.shape), inputs.element_spec
            )
        features = inputs[0] if isinstance(inputs, (tuple, list)) else inputs
        return layers.infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """Makes the columns of arrays.

    Args:
      x: an array [examples, ...], or arrays by name.

    Returns:
      A column for each array; the column of a single array has the name ''.

    Raises:
      ValueError: x is missing, or is a tensor.
    """
    check_inputs(x, None, None, None)
    arrays = array_input_fn(x, None, None, is_shuffled=False, epochs=1)
    return infer_real_valued_columns_from_input_fn(arrays)
