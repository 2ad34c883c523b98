"""Data sets of CSV files."""

from __future__ import annotations

import csv
import functools
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.legacy.downloads import local_copy
from estimator_bridge.legacy.mnist import DataSets as Datasets

__all__ = [
    "Dataset",
    "Datasets",
    "load_boston",
    "load_csv_with_header",
    "load_csv_without_header",
    "load_iris",
    "maybe_download",
    "retry",
    "shrink_csv",
]


class Dataset(NamedTuple):
    """Features and labels.

    Attributes:
      data: the features, [examples, features].
      target: the labels, [examples].
    """

    data: Any
    target: Any


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a CSV file whose first row starts with the numbers of examples and of features.

    Args:
      filename: the file.
      target_dtype: NumPy's type for the labels.
      features_dtype: NumPy's type for the features.
      target_column: the column of the labels.

    Raises:
      ValueError: the first row does not start with the two numbers, or other rows do not match it.
    """
    check_is_no_pipe(filename)
    with tf.io.gfile.GFile(filename) as file:
        header, *rows = csv.reader(file)
    try:
        examples, features = int(header[0]), int(header[1])
    except (ValueError, IndexError):
        raise ValueError(
            f"{filename} does not start with the numbers of examples and features, such as "
            f"150,4: its first row is {','.join(header)!r}. Read a file without that row with "
            "load_csv_without_header."
        ) from None
    dataset = _arrays(rows, target_dtype, features_dtype, target_column)
    if dataset.data.shape != (examples, features):
        raise ValueError(
            f"{filename} has {dataset.data.shape} examples and features, and its first row says "
            f"{(examples, features)}."
        )
    return dataset


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Reads a CSV file that has only examples.

    Args:
      filename: the file.
      target_dtype: NumPy's type for the labels.
      features_dtype: NumPy's type for the features.
      target_column: the column of the labels.
    """
    check_is_no_pipe(filename)
    with tf.io.gfile.GFile(filename) as file:
        return _arrays(list(csv.reader(file)), target_dtype, features_dtype, target_column)


def _arrays(rows: list[list[str]], target_dtype: Any, dtype: Any, column: int) -> Dataset:
    target = np.array([row.pop(column) for row in rows], dtype=target_dtype)
    return Dataset(np.array([np.asarray(row, dtype=dtype) for row in rows]), target)


def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every ratio-th row of a CSV file to a file with ``_small`` in its name."""
    check_is_no_pipe(filename)
    with tf.io.gfile.GFile(filename) as file:
        rows = list(csv.reader(file))
    with tf.io.gfile.GFile(filename.replace(".", "_small."), "w") as file:
        csv.writer(file).writerows(rows[::ratio])


def load_iris(data_path: str | None = None) -> Dataset:
    """Reads the measures of 150 irises, float64 [150, 4], and their species, int64.

    Args:
      data_path: the file iris.csv of TensorFlow 1.

    Raises:
      FileNotFoundError: data_path is not given: the file is not part of this library.
    """
    return load_csv_with_header(_require_path(data_path, "iris.csv"), np.int64, np.float64)


def load_boston(data_path: str | None = None) -> Dataset:
    """Reads 13 properties of 506 districts, float64 [506, 13], and the prices of houses there.

    Args:
      data_path: the file boston_house_prices.csv of TensorFlow 1.

    Raises:
      FileNotFoundError: data_path is not given: the file is not part of this library.
    """
    return load_csv_with_header(
        _require_path(data_path, "boston_house_prices.csv"), np.float64, np.float64
    )


def _require_path(path: str | None, name: str) -> str:
    if path is None:
        raise FileNotFoundError(
            f"{name} was part of TensorFlow 1, and is not part of this library. Take it from the "
            f"folder tensorflow/contrib/learn/python/learn/datasets/data of a package "
            f"tensorflow 1.x (pip download tensorflow==1.15.5), and pass data_path=.../{name}."
        )
    return path


def retry(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable], Callable]:
    """Returns a decorator that calls a function again after an error.

    Args:
      initial_delay: the seconds to wait after the first error.
      max_delay: once the wait exceeds this, the last error is raised.
      factor: what a wait is multiplied by for the next one, at least 1.
      jitter: the random part of a wait, below 1.
      is_retriable: whether to call again after an error; by default after any, without a wait.

    Raises:
      ValueError: factor is below 1, or jitter is not below 1.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def waits() -> Iterator[float]:
        wait = initial_delay
        while wait <= max_delay:
            yield wait * random.uniform(1 - jitter, 1 + jitter)
            wait *= factor

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for wait in waits():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is None:
                        continue
                    if not is_retriable(error):
                        raise
                    time.sleep(wait)
            return function(*args, **kwargs)

        return call

    return decorate


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """Returns the path of a file, which is downloaded if the folder lacks it.

    Args:
      filename: the file's name.
      work_directory: the folder; it is created if it is missing.
      source_url: where to download the file from.

    Raises:
      FileNotFoundError: the file is missing and cannot be downloaded.
    """
    return local_copy(
        filename, work_directory, source_url, f"Put {filename} in {work_directory!r}."
    )
