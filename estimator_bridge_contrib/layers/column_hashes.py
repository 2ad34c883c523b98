"""Ids of combinations of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY", "crossed_ids"]

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 956888297470


def crossed_ids(inputs: Sequence[Any], num_buckets: int, hash_key: int | None) -> tf.SparseTensor:
    """Returns the ids of all combinations of values in each row.

    Args:
      inputs: words or integers [batch, number], dense or sparse.
      num_buckets: the number of ids.
      hash_key: the hash's key.

    Returns:
      int64 ids [batch, number of combinations].
    """
    values = [each if each.dtype == tf.string else _cast(each) for each in inputs]
    return tf.sparse.cross_hashed(values, num_buckets, hash_key, name="cross")


def _cast(tensor: Any) -> Any:
    if isinstance(tensor, tf.SparseTensor):
        return tf.SparseTensor(tensor.indices, tf.cast(tensor.values, tf.int64), tensor.dense_shape)
    return tf.cast(tensor, tf.int64)
