"""Argument checks that all input functions share."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["check_graph", "check_shuffle", "column_type"]


def check_shuffle(shuffle: Any) -> None:
    """Checks that the caller set `shuffle`.

    Raises:
      ValueError: `shuffle` is not a bool.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}. Evaluation and prediction need shuffle=False."
        )


def check_graph() -> None:
    """Checks that graph tensors can be created.

    Raises:
      RuntimeError: the caller runs eagerly.
    """
    if tf.executing_eagerly():
        raise RuntimeError(
            "This input_fn creates tensors in a graph, and there is no graph here. Pass the "
            "input_fn itself to estimator.train(input_fn), or call it within "
            "tf.Graph().as_default(). tf.data.Dataset.from_tensor_slices reads arrays eagerly."
        )


def column_type(name: Any, kind: Any) -> tf.DType:
    """Returns the TensorFlow type of a column.

    Raises:
      TypeError: TensorFlow has no such type.
    """
    try:
        return tf.as_dtype(kind)
    except TypeError as error:
        raise TypeError(
            f"Column {name!r} is of type {kind}, which TensorFlow does not have. Convert it to "
            "numbers or strings: x[name].astype('int64'), x[name].astype(str)."
        ) from error
