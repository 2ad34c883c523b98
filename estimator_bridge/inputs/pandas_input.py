"""pandas_input_fn: a DataFrame as the input of an estimator."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.data.row_queues import fed_batch
from estimator_bridge.data.rows import Rows
from estimator_bridge.inputs.checks import check_graph, check_shuffle, column_type

__all__ = ["pandas_input_fn"]


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Makes an input_fn that reads a DataFrame.

    Args:
      x: the features: a DataFrame with one feature per column. It is copied once, here.
      y: the labels: a Series, or a DataFrame of several; None for no labels. Its index must be x's.
      batch_size: examples per global batch. Batches may span epochs.
      num_epochs: number of passes over the examples; None repeats forever. With a number, the last
        batch may be short.
      shuffle: True or False; there is no default; see `numpy_input_fn`.
      queue_capacity: size of the shuffle window in rows; None for the length (times four if
        shuffled).
      num_threads: see `numpy_input_fn`.
      target_column: a name for y that is not one of x's columns.

    Returns:
      A function without arguments, to be called in a graph, that returns a dict of features, or
      (features, labels): tensors of shape [batch_size], and [None] with `num_epochs`. Labels are a
      dict if y is a DataFrame.

    Raises:
      ValueError: `shuffle` is not set, x has a column of the target's name, the indexes differ,
        or there are no rows.
      TypeError: pandas is not imported, x is not a DataFrame, `target_column` is not a string;
        when called: a column has a type that TensorFlow does not have.
      RuntimeError: when called: there is no graph.
    """
    pandas = sys.modules.get("pandas")  # a caller with a DataFrame has imported pandas
    if pandas is None:
        raise TypeError(
            "pandas_input_fn should not be called without pandas installed and imported: x must "
            f"be a pandas.DataFrame, got {type(x).__name__}."
        )
    check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError(f"target_column must be a string type, got {target_column!r}.")
    if not isinstance(x, pandas.DataFrame):
        raise TypeError(
            f"x must be a pandas.DataFrame, got {type(x).__name__}. numpy_input_fn reads arrays."
        )
    if y is not None:
        _check_fits(x, y, target_column)
    if not len(x):
        raise ValueError(f"x has no rows; its columns are {list(x.columns)}.")
    features = x.copy()
    several = isinstance(y, pandas.DataFrame)
    targets = y.copy() if y is not None else None
    if queue_capacity is None:
        queue_capacity = (4 if shuffle else 1) * len(x)
    capacity = queue_capacity

    def input_fn() -> Any:
        check_graph()
        columns = [(name, features[name]) for name in features.columns]
        if targets is not None:
            columns += [(n, targets[n]) for n in targets] if several else [("y", targets)]
        tensors = fed_batch(
            _rows(columns),
            batch_size,
            num_epochs,
            bool(shuffle),
            capacity,
            max(capacity // 4, 1),
            num_threads,
        )
        count = len(features.columns)
        batch = dict(zip(features.columns, tensors))
        if targets is None:
            return batch
        labels = tensors[count:]
        return batch, (dict(zip(targets.columns, labels)) if several else labels[0])

    return input_fn


def _check_fits(x: Any, y: Any, target_column: str) -> None:
    if target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column "
            f"with that name: {list(x.columns)}. Use another target_column."
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(
            "Index for x and y are mismatched.\n"
            f"Index for x: {x.index}\nIndex for y: {y.index}\n"
            "Call reset_index(drop=True) on both to pair them by position."
        )


def _rows(columns: list[tuple[Any, Any]]) -> Rows:
    series = [column for _, column in columns]
    types = [_type(name, column) for name, column in columns]

    def take(numbers: np.ndarray) -> list[np.ndarray]:
        return [
            column.iloc[numbers].to_numpy(dtype=kind.as_numpy_dtype)
            for column, kind in zip(series, types)
        ]

    return Rows(count=len(series[0]), types=types, shapes=[()] * len(series), take=take)


def _type(name: Any, column: Any) -> tf.DType:
    # pandas' own types: 'Int64' holds a NumPy type; 'str' and 'category' become objects.
    numpy_dtype = getattr(column.dtype, "numpy_dtype", None)
    return column_type(name, numpy_dtype or column.iloc[:0].to_numpy().dtype)
