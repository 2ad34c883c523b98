"""Iterators over single examples as an input_fn, in the batches of tf.contrib.learn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["is_iterator", "stream_input_fn", "without_single"]


def is_iterator(values: Any) -> bool:
    """Returns whether values are an iterator, not a collection."""
    return hasattr(values, "__next__")


def stream_input_fn(x: Any, y: Any, batch_size: int | None) -> Callable[[], tf.data.Dataset]:
    """Makes an input_fn of iterators, which are consumed; it ends with the shorter one.

    Args:
      x: an iterator over features, each an array, or arrays by name. A scalar becomes a vector.
      y: an iterator over labels, or None. A label of one number becomes a scalar.
      batch_size: the number of examples of a batch; None for 1. The last one may be smaller.

    Raises:
      ValueError: only one of them is an iterator, x has no examples, or batch_size is not positive.
    """
    if not is_iterator(x) or (y is not None and not is_iterator(y)):
        raise ValueError(
            "Both x and y should be iterators for streaming learning to work. Got "
            f"{type(x).__name__} and {type(y).__name__}."
        )
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}. Give a positive number, or None.")
    examples: Iterator[Any] = map(_feature, x)
    if y is not None:
        examples = zip(examples, map(_label, y))
    first = next(examples, None)
    if first is None:
        raise ValueError("x and y must have at least one example. Got an iterator at its end.")
    signature = tf.nest.map_structure(
        lambda array: tf.TensorSpec([None, *array.shape], array.dtype), first
    )
    examples = itertools.chain([first], examples)

    def batches() -> Iterator[Any]:
        while batch := list(itertools.islice(examples, batch_size or 1)):
            yield tf.nest.map_structure(
                lambda start, *others: np.stack([start, *others]).astype(start.dtype), *batch
            )

    return lambda: tf.data.Dataset.from_generator(batches, output_signature=signature)


def without_single(labels: np.ndarray) -> np.ndarray:
    """Returns labels [examples, 1, ...] without the 1, as in the original."""
    return labels[:, 0] if labels.ndim > 1 and labels.shape[1] == 1 else labels


def _feature(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _feature(each) for key, each in value.items()}
    return np.atleast_1d(np.asarray(value))


def _label(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _label(each) for key, each in value.items()}
    return without_single(np.asarray(value)[np.newaxis])[0]
