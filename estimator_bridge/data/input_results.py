"""The result of an input_fn as tensors for a plain session: Estimator's module ``util``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = [
    "MAX_DIRECTORY_CREATION_ATTEMPTS",
    "DatasetInitializerHook",
    "DistributedIteratorInitializerHook",
    "MultiHostDatasetInitializerHook",
    "parse_input_fn_result",
    "parse_iterator_result",
]

_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook

MAX_DIRECTORY_CREATION_ATTEMPTS = 10


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[Any]]:
    """Returns the tensors of a batch, in the default graph.

    Args:
      result: a Dataset, features, or (features, labels).

    Returns:
      Features, labels (None if there are none), and hooks that a session needs.

    Raises:
      ValueError: it is a list or tuple of another length than 2.
    """
    hooks = []
    if isinstance(result, tf.data.Dataset):
        iterator = tf.compat.v1.data.make_initializable_iterator(result)
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    return (*parse_iterator_result(result), hooks)


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """Returns the features and labels of an element; None for no labels.

    Raises:
      ValueError: it is a list or tuple of another length than 2.
    """
    if not isinstance(result, (list, tuple)):
        return result, None
    if len(result) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple. Got a "
            f"{type(result).__name__} of length {len(result)}."
        )
    return result[0], result[1]


class DatasetInitializerHook(_SessionRunHook):
    """Initializes an iterator after a session has been created."""

    def __init__(self, iterator: Any):
        self._iterator = iterator
        self._initializer: Any = None

    def begin(self) -> None:
        """Called before the session is made."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when it has been made."""
        del coord
        session.run(self._initializer)


class DistributedIteratorInitializerHook(DatasetInitializerHook):
    """Initializes the iterator of a strategy, in the same way."""

    def begin(self) -> None:
        """Called before the session is made."""
        self._initializer = self._iterator.initialize()


class MultiHostDatasetInitializerHook(_SessionRunHook):
    """Runs the initializers of several iterators after a session has been created."""

    def __init__(self, dataset_initializers: Sequence[Any]):
        self._initializers = dataset_initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when it has been made."""
        del coord
        start_time = time.monotonic()
        session.run(self._initializers)
        logging.info("Initialized dataset iterators in %d seconds", time.monotonic() - start_time)
