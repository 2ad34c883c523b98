"""Reads examples from files, and combines datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["read_batch_features", "reduce_dataset", "sloppy_interleave"]

_experimental = tf.compat.v1.data.experimental


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: dict[str, Any],
    reader: Any = tf.compat.v1.data.TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> dict[str, Any]:
    """Reads batches of parsed Examples from files, as tensors.

    Args:
      file_pattern: a file pattern, or a list of patterns.
      batch_size: the batch size; the last batch may be smaller.
      features: the parsing of each feature: FixedLenFeature, VarLenFeature.
      reader: the class of a dataset of serialized Examples.
      reader_args: further arguments of the reader.
      randomize_input: whether to shuffle the examples.
      num_epochs: the number of passes over the files; None for no end.
      capacity: the size of the shuffle buffer, in examples.

    Returns:
      Tensors by feature name, of an iterator of the default graph.
    """
    dataset = _experimental.make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        num_epochs=num_epochs,
        shuffle=randomize_input,
        shuffle_buffer_size=capacity,
    )
    return tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()


def reduce_dataset(dataset: tf.data.Dataset, reducer: Any) -> Any:
    """Reduces a dataset to a single result.

    Args:
      dataset: a finite dataset.
      reducer: a ``Reducer``: its initial state, its reduction and its result.

    Returns:
      The result.
    """
    state = dataset.reduce(reducer.init_func(tf.constant(0, tf.int64)), reducer.reduce_func)
    return reducer.finalize_func(state)


def sloppy_interleave(
    map_func: Callable[..., tf.data.Dataset], cycle_length: int, block_length: int = 1
) -> Callable[[tf.data.Dataset], tf.data.Dataset]:
    """Like ``parallel_interleave`` without waiting for slow files: the order may vary."""
    return _experimental.parallel_interleave(map_func, cycle_length, block_length, sloppy=True)
