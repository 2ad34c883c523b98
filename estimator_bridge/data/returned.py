"""Checks of what an input_fn returned."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["check_length", "checked_tensors"]


def check_length(batch: Any) -> None:
    """Checks that a tuple, named ones included, is (features, labels).

    Raises:
      ValueError: it has another length than 2.
    """
    if isinstance(batch, (tuple, list)) and len(batch) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple, got a "
            f"{type(batch).__name__} of length {len(batch)}: {batch}. Put several features into "
            "a dict: ({'a': a, 'b': b}, labels)."
        )


def checked_tensors(result: Any) -> Any:
    """The features, or (features, labels), that an input_fn returned, as tensors.

    Raises:
      TypeError: there is something that is no tensor, or nothing.
      ValueError: a tuple is not (features, labels).
    """
    if result is None:
        raise TypeError(
            "input_fn returned None. It must return a tf.data.Dataset, features, or a tuple "
            "(features, labels); is a return statement missing?"
        )
    check_length(result)
    if isinstance(result, (tuple, list)):
        features, labels = result
        result = features if labels is None else (features, labels)
    for leaf in tf.nest.flatten(result):
        _check_leaf(leaf)
    return tf.nest.map_structure(_tensor, result)


def _check_leaf(leaf: Any) -> None:
    if isinstance(leaf, tf.data.Dataset):
        raise TypeError(
            "input_fn returned a tuple with a dataset in it. Return one tf.data.Dataset whose "
            "elements are (features, labels): tf.data.Dataset.zip((features, labels))."
        )
    is_plain = isinstance(leaf, (bool, int, float, str, bytes))
    if not (tf.is_tensor(leaf) or hasattr(leaf, "__array__") or is_plain):
        raise TypeError(
            "input_fn must return a tf.data.Dataset, features, or (features, labels) made of "
            f"tensors; got {type(leaf).__name__} ({leaf!r}) in it."
        )


def _tensor(leaf: Any) -> Any:
    is_value = tf.is_tensor(leaf) and not isinstance(leaf, tf.Variable)
    return leaf if is_value else tf.convert_to_tensor(leaf)
