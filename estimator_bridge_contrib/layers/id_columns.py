"""``tf.contrib.layers``' columns of ids and words, and their weights.

The argument ``combiner`` is for contrib's linear models; those of ``tf.feature_column`` take it
themselves (``linear_model(sparse_combiner=...)``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.id_column_types import (
    Hashed,
    Integerized,
    Keys,
    Vocabulary,
    Weighted,
)

__all__ = [
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = tf.string,
    hash_keys: Any = None,
) -> Any:
    """Makes a column of strings or integers, identified by a hash.

    Args:
      column_name: the feature's key.
      hash_bucket_size: the number of ids.
      combiner: see the module.
      dtype: tf.string or an integer type.
      hash_keys: pairs of integers, the keys of several hashes of each value; None for one hash.

    Raises:
      ValueError: the type, the number of ids or a hash key is wrong.
    """
    dtype = _sparse_type(column_name, dtype)
    _check_size(column_name, hash_bucket_size)
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError(f"hash_keys must be a non-empty list. Got {hash_keys!r}.")
        pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in hash_keys)
        if not pairs or not all(isinstance(key, int) for pair in hash_keys for key in pair):
            raise ValueError(
                f"Each element of hash_keys must be a pair of integers. Got {hash_keys!r}."
            )
    return Hashed._make_with(
        column_name, hash_bucket_size, dtype, combiner=combiner, hash_keys=hash_keys
    )


def _sparse_type(name: str, dtype: Any) -> tf.DType:
    dtype = tf.as_dtype(dtype)
    if dtype != tf.string and not dtype.is_integer:
        raise ValueError(
            f"dtype must be string or integer. dtype: {dtype.name}, column_name: {name}"
        )
    return dtype


def _check_size(name: str, size: Any) -> None:
    if size is None or size < 1:
        raise ValueError(
            f"bucket_size must be at least 1. bucket_size: {size}, column_name: {name}"
        )


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """Makes a column of integers from 0 up to ``bucket_size``; others are taken modulo it.

    Args:
      column_name: the feature's key.
      bucket_size: the number of ids.
      combiner: see the module.
      dtype: the values' type in files; files contain tf.int64.

    Raises:
      ValueError: the number of ids is not positive, or the type is not one of integers.
    """
    if bucket_size is None:
        raise ValueError(
            f"bucket_size must be set if is_integerized is True. column_name: {column_name}"
        )
    dtype = tf.as_dtype(dtype)
    if not dtype.is_integer:
        raise ValueError(
            "dtype must be an integer if is_integerized is True. "
            f"dtype: {dtype.name}, column_name: {column_name}."
        )
    _check_size(column_name, bucket_size)
    return Integerized._make_with(column_name, bucket_size, None, combiner=combiner, dtype=dtype)


def sparse_column_with_keys(
    column_name: str,
    keys: Sequence[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Makes a column of words from a list, identified by their position in it.

    Args:
      column_name: the feature's key.
      keys: the words.
      default_value: the id of all other words; -1 ignores them.
      combiner: see the module.
      dtype: tf.string or an integer type.
    """
    dtype = _sparse_type(column_name, dtype)
    return Keys._make_with(column_name, tuple(keys), dtype, default_value, 0, combiner=combiner)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = tf.string,
) -> Any:
    """Makes a column of words from a file, identified by line number.

    Args:
      column_name: the feature's key.
      vocabulary_file: the file's path.
      num_oov_buckets: the number of additional ids for other words, after those of the file.
      vocab_size: the number of lines to use.
      default_value: the id of other words if there are no buckets for them.
      combiner: see the module.
      dtype: tf.string or an integer type.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    dtype = _sparse_type(column_name, dtype)
    return Vocabulary._make_with(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, dtype, default_value,
        combiner=combiner,
    )  # fmt: skip


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32
) -> Any:
    """Adds weights to the values of a sparse column.

    Args:
      sparse_id_column: the column.
      weight_column_name: the key of the feature with the weights.
      dtype: the weights' type.

    Raises:
      ValueError: the type is not one of numbers.
    """
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype.name}")
    return Weighted(sparse_id_column, weight_column_name, dtype)
