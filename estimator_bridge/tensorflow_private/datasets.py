"""Iterators of datasets."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "iterator_resource",
    "iterator_state",
]


def iterator_state(iterator: Any) -> tf.Tensor:
    """The position of an eager dataset's iterator, as tf.train.Checkpoint saves it; eager only."""
    return iterator._serialize_to_tensors()["_STATE"]


def iterator_resource(iterator: Any) -> tf.Tensor:
    """The resource tensor of a dataset's iterator."""
    return iterator._iterator_resource
