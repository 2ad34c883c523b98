"""Pandas objects as arrays, and the input functions of tf.estimator."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.inputs import numpy_input_fn as _numpy_input_fn
from estimator_bridge.inputs import pandas_input_fn as _pandas_input_fn

__all__ = [
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "generator_input_fn",
    "numpy_input_fn",
    "pandas_input_fn",
]


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Makes an input_fn of arrays: tf.estimator.inputs.numpy_input_fn, which shuffles by default.

    Args:
      x: arrays by name.
      y: labels, or None.
      batch_size: the number of examples of a batch.
      num_epochs: the number of epochs; None for no end.
      shuffle: whether to shuffle.
      queue_capacity: see tf.estimator.inputs.numpy_input_fn.
      num_threads: as well.
    """
    return _numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Makes an input_fn of a DataFrame: tf.estimator.inputs.pandas_input_fn, which shuffles.

    Args:
      x: a DataFrame of features.
      y: a Series or DataFrame of labels, or None.
      batch_size: the number of examples of a batch.
      num_epochs: the number of epochs; None for no end.
      shuffle: whether to shuffle.
      queue_capacity: see tf.estimator.inputs.pandas_input_fn.
      num_threads: as well.
      target_column: the labels' name in the input.
    """
    return _pandas_input_fn(
        x,
        y=y,
        batch_size=batch_size,
        num_epochs=num_epochs,
        shuffle=shuffle,
        queue_capacity=queue_capacity,
        num_threads=num_threads,
        target_column=target_column,
    )


def extract_pandas_data(data: Any) -> Any:
    """Returns a DataFrame as float64 [rows, columns], and other values unchanged.

    Raises:
      ValueError: a column is not of numbers.
    """
    return (
        _numbers(data, "Data types for extracting pandas data").astype(float)
        if _is_frame(data)
        else data
    )


def extract_pandas_matrix(data: Any) -> Any:
    """Returns a DataFrame as an array, and other values unchanged."""
    return data.to_numpy() if _is_frame(data) else data


def extract_pandas_labels(labels: Any) -> Any:
    """Returns a DataFrame of one column as an array [rows, 1], and other values unchanged.

    Raises:
      ValueError: there are several columns, or the column is not of numbers.
    """
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError(f"Only one column for labels is allowed. Got {list(labels.columns)}.")
    return _numbers(labels, "Data types for extracting labels")


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def _numbers(frame: Any, what: str) -> Any:
    wrong = [
        f"'{name}' type='{kind}'" for name, kind in frame.dtypes.items() if kind.kind not in "iufb"
    ]
    if wrong:
        raise ValueError(f"{what} must be int, float, or bool. Found: {', '.join(wrong)}")
    return frame.to_numpy()


def generator_input_fn(
    x: Callable[[], Iterator[dict[str, Any]]],
    target_key: str | Sequence[str] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """Makes an input_fn of a generator of examples.

    The original read examples in chunks until a chunk had met the end of the last epoch, and filled
    that chunk up with examples of the next one. This returns the same examples.

    Args:
      x: a function that returns a generator of dicts: arrays by name.
      target_key: the name of the labels, or several names for a dict of labels.
      batch_size: the number of examples of a batch.
      num_epochs: how often x is read to its end; None for no end.
      shuffle: whether to shuffle, among queue_capacity examples.
      queue_capacity: see there.
      num_threads: has no effect.
      pad_value: the value that fills arrays to the longest of a chunk, or values by name; zeros
        fill them to the longest of a batch. Without it all examples have equal shapes.

    Returns:
      A function that returns features by name, or features and labels. The last batch of num_epochs
      may be smaller.

    Raises:
      TypeError: x does not return a generator of dicts, or target_key is no text.
      KeyError: there is no value of the name target_key.
    """
    del num_threads
    first = _first_example(x)
    targets = _target_keys(target_key, first)
    signature = {
        key: tf.TensorSpec(value.shape if pad_value is None else [None] * value.ndim, value.dtype)
        for key, value in first.items()
    }

    chunk = math.ceil(batch_size / len(first))  # the original counted values, not examples
    pads = pad_value if isinstance(pad_value, dict) else dict.fromkeys(first, pad_value)

    def examples() -> Iterator[dict[str, Any]]:
        for rows in _chunks(x, chunk, num_epochs):
            yield from rows if pad_value is None else _padded(rows, pads)

    def input_fn() -> Any:
        dataset = tf.data.Dataset.from_generator(examples, output_signature=signature)
        dataset = dataset.shuffle(queue_capacity) if shuffle else dataset
        batched = dataset.batch if pad_value is None else dataset.padded_batch
        dataset = batched(batch_size)
        example = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        return _split(example, targets) if targets else example

    return input_fn


def _chunks(
    x: Callable[[], Iterator[dict[str, Any]]], size: int, num_epochs: int | None
) -> Iterator[list[dict[str, Any]]]:
    """Yields examples of x, which is called again and again, until a chunk ends the last epoch."""
    examples, epochs = x(), 0
    while num_epochs is None or epochs < num_epochs:
        rows = []
        for _ in range(size):
            example = next(examples, None)
            if example is None:
                examples, epochs = x(), epochs + 1
                example = next(examples)
            rows.append({key: np.asarray(value) for key, value in example.items()})
        yield rows


def _padded(rows: list[dict[str, Any]], pads: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields examples whose arrays have the longest's shape of all rows."""
    shapes = {key: np.max([row[key].shape for row in rows], axis=0) for key in rows[0]}
    for row in rows:
        yield {
            key: np.pad(
                value,
                [(0, int(more)) for more in shapes[key] - value.shape],
                constant_values=pads[key],
            )
            for key, value in row.items()
        }


def _first_example(x: Any) -> dict[str, np.ndarray]:
    if not callable(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not hasattr(generator, "__next__"):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    example = next(generator)
    if not isinstance(example, dict):
        raise TypeError(f"x() must yield dict; got {type(example).__name__}")
    return {key: np.asarray(value) for key, value in sorted(example.items())}


def _target_keys(target_key: Any, example: dict[str, Any]) -> list[str]:
    keys = [target_key] if isinstance(target_key, str) else target_key
    if keys is None:
        return []
    if not isinstance(keys, (list, tuple, set)) or not all(isinstance(key, str) for key in keys):
        raise TypeError(f"target_key must be str or Container of str; got {target_key!r}")
    for key in keys:
        if key not in example:
            raise KeyError(
                f"target_key not in yielded dict. Expected {sorted(example)} keys; got {key}"
            )
    return list(keys)


def _split(example: dict[str, Any], targets: list[str]) -> tuple[Any, Any]:
    features = {key: value for key, value in example.items() if key not in targets}
    labels = {key: example[key] for key in targets}
    return features, labels[targets[0]] if len(targets) == 1 else labels
