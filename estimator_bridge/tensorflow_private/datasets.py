"""Iterators of datasets."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "iterator_resource",
    "iterator_state",
]


def iterator_state(iterator: Any) -> tf.Tensor:
    """Where an eager dataset's iterator stands, as tf.train.Checkpoint asks it; eager."""
    return iterator._serialize_to_tensors()["_STATE"]


def iterator_resource(iterator: Any) -> tf.Tensor:
    """The resource of a dataset's iterator, for operations that take one."""
    return iterator._iterator_resource
