"""Arrays in memory as an input_fn, in the order in which tf.contrib.learn fed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.learn.streamed_inputs import (
    is_iterator,
    stream_input_fn,
    without_single,
)

__all__ = ["array_input_fn", "check_inputs", "finite"]

_v1 = tf.compat.v1
_SEED = 42  # of the original's shuffling


def check_inputs(x: Any, y: Any, input_fn: Any, batch_size: int | None) -> None:
    """Checks which of the arguments of fit, evaluate and predict are given.

    Raises:
      ValueError: not exactly one of input_fn and arrays is given, or arrays are tensors.
    """
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if tf.is_tensor(x) or tf.is_tensor(y):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    elif x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    elif batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")


@dataclass(frozen=True)
class _Arrays:
    """Features, labels and how to draw them.

    Attributes:
      x: an array [examples, ...], or arrays by name; a vector becomes a column.
      y: labels, or None.
      batch_size: the number of examples of a batch; the last of an epoch may be smaller.
      is_shuffled: whether each epoch has another order.
      epochs: the number of epochs, or None for no end.
    """

    x: Any
    y: Any
    batch_size: int
    is_shuffled: bool
    epochs: int | None

    @property
    def examples(self) -> int:
        """The number of examples."""
        return len(next(iter(self.x.values())) if isinstance(self.x, Mapping) else self.x)

    def dataset(self) -> tf.data.Dataset:
        """Returns the batches."""
        signature = tf.nest.map_structure(
            lambda array: tf.TensorSpec([None, *array.shape[1:]], array.dtype), self._elements()
        )
        return tf.data.Dataset.from_generator(self._batches, output_signature=signature)

    def _elements(self) -> Any:
        return self.x if self.y is None else (self.x, self.y)

    def _batches(self) -> Iterator[Any]:
        random = np.random.RandomState(_SEED)
        epoch = 0
        while self.epochs is None or epoch < self.epochs:
            order = random.permutation(self.examples) if self.is_shuffled else None
            for start in range(0, self.examples, self.batch_size):
                rows: Any = slice(start, start + self.batch_size)
                rows = rows if order is None else order[rows]
                yield tf.nest.map_structure(lambda array, at=rows: array[at], self._elements())
            epoch += 1


def array_input_fn(
    x: Any, y: Any, batch_size: int | None, is_shuffled: bool, epochs: int | None
) -> Callable[[], tf.data.Dataset]:
    """Makes an input_fn of arrays.

    Args:
      x: features: an array [examples, ...], a pandas object, or a dict of arrays. A vector becomes
        a column [examples, 1]. An iterator gives single examples.
      y: labels, or None. A column [examples, 1] becomes a vector.
      batch_size: the number of examples of a batch; None for all.
      is_shuffled: whether each epoch has another order, the original's.
      epochs: the number of epochs, or None for no end.

    Raises:
      ValueError: there are no examples, the lengths of arrays differ, only one of x and y is an
        iterator, or batch_size is not positive.
    """
    if is_iterator(x) or is_iterator(y):
        return stream_input_fn(x, y, batch_size)
    features = _array(x, as_column=True)
    labels = None if y is None else _array(y, as_column=False)
    lengths = {len(array) for array in tf.nest.flatten([features, [] if y is None else labels])}
    if len(lengths) != 1 or not min(lengths):
        raise ValueError(
            f"x and y must have the same number of examples, at least 1. Got {sorted(lengths)}."
        )
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}. Give a positive number, or None.")
    return _Arrays(features, labels, batch_size or max(lengths), is_shuffled, epochs).dataset


def finite(input_fn: Callable[..., Any]) -> Callable[[], Any]:
    """Returns an input_fn whose features end after a batch, unless a dataset or queues make more.

    Args:
      input_fn: returns features, features and labels, or a dataset.
    """

    def limited() -> Any:
        inputs = input_fn()
        has_queues = _v1.get_collection(_v1.GraphKeys.QUEUE_RUNNERS)
        if isinstance(inputs, tf.data.Dataset) or has_queues:
            return inputs
        features = inputs[0] if isinstance(inputs, (tuple, list)) else inputs
        counted = _v1.train.limit_epochs(tf.constant(0), num_epochs=1)
        with tf.control_dependencies([counted]):
            return tf.nest.map_structure(tf.identity, features, expand_composites=True)

    return limited


def _array(values: Any, as_column: bool) -> Any:
    if isinstance(values, Mapping):
        return {key: _array(value, as_column) for key, value in values.items()}
    array = np.asarray(values)
    if as_column:
        return array.reshape(-1, 1) if array.ndim == 1 else array
    return without_single(array)
