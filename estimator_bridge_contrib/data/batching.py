"""Batching functions for ``dataset.apply``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "assert_element_shape",
    "batch_and_drop_remainder",
    "padded_batch_and_drop_remainder",
    "sliding_window_batch",
]

_Transformation = Callable[[tf.data.Dataset], tf.data.Dataset]


def batch_and_drop_remainder(batch_size: Any) -> _Transformation:
    """Returns a function that makes batches of one static size and drops the remainder."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> _Transformation:
    """Like ``batch_and_drop_remainder``, with elements padded to one shape.

    Args:
      batch_size: the size of each batch.
      padded_shapes: as for ``Dataset.padded_batch``.
      padding_values: as for ``Dataset.padded_batch``.
    """
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sliding_window_batch(
    window_size: Any,
    stride: Any = None,
    window_shift: Any = None,
    window_stride: Any = 1,
) -> _Transformation:
    """Returns a function that makes overlapping batches of ``window_size`` elements.

    Args:
      window_size: the number of elements in a batch.
      stride: the older name of ``window_shift``.
      window_shift: the distance between the first elements of consecutive batches; 1 by default.
      window_stride: the distance between consecutive elements of a batch.

    Returns:
      A function for ``dataset.apply``. Incomplete batches are dropped.

    Raises:
      ValueError: both ``stride`` and ``window_shift`` are given.
    """
    if stride is not None and window_shift is not None:
        raise ValueError(
            "Cannot specify both `stride` and `window_shift`, which are two names of one argument. "
            f"Got {stride} and {window_shift}."
        )
    shift = next((value for value in (stride, window_shift) if value is not None), 1)

    def batched(*window: Any) -> tf.data.Dataset:
        # A window is a structure of datasets, one per component.
        parts = [part.batch(window_size, drop_remainder=True) for part in tf.nest.flatten(window)]
        structure = window if len(window) > 1 else window[0]
        return tf.data.Dataset.zip(tf.nest.pack_sequence_as(structure, parts))

    return lambda dataset: dataset.window(
        window_size, shift, window_stride, drop_remainder=True
    ).flat_map(batched)


def assert_element_shape(expected_shapes: Any) -> _Transformation:
    """Returns a function that checks the shapes of elements, and makes them static.

    Args:
      expected_shapes: TensorShapes, in the structure of an element. Unknown dimensions match any.

    Returns:
      A function for ``dataset.apply``. Other shapes raise an InvalidArgumentError.
    """
    shapes = tf.nest.flatten(expected_shapes)

    def checked(*element: Any) -> Any:
        element = element if len(element) > 1 else element[0]
        tensors = tf.nest.flatten(element)
        if len(tensors) != len(shapes):
            raise ValueError(
                f"assert_element_shape was given {len(shapes)} shapes ({expected_shapes}), but an "
                f"element has {len(tensors)} components: {element}."
            )
        components = [
            # TensorFlow 2.21's EnsureShape refuses a known rank where any is expected.
            tensor if tf.TensorShape(shape).rank is None else tf.ensure_shape(tensor, shape)
            for tensor, shape in zip(tensors, shapes)
        ]
        return tf.nest.pack_sequence_as(element, components)

    return lambda dataset: dataset.map(checked)
