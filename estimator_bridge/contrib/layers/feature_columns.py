"""``tf.contrib.layers``' feature columns, as columns of ``tf.feature_column``.

They work with the same functions: ``tf.compat.v1.feature_column.input_layer``, ``linear_model``
and ``make_parse_example_spec``. The argument ``combiner`` was only for linear models of contrib;
now these take it themselves (``linear_model(sparse_combiner=...)``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "one_hot_column",
    "real_valued_column",
    "sparse_column_with_hash_bucket",
    "sparse_column_with_integerized_feature",
    "sparse_column_with_keys",
    "sparse_column_with_vocabulary_file",
    "weighted_sparse_column",
]


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: Any = None,
    dtype: Any = tf.float32,
    normalizer: Callable[[Any], Any] | None = None,
) -> Any:
    """Makes a column of numbers.

    Args:
      column_name: the feature's key.
      dimension: the number of values per example.
      default_value: the value for examples without the feature; None makes that an error.
      dtype: the values' type in files.
      normalizer: a function of the numbers.

    Raises:
      ValueError: the dimension is None (lists of any length).
    """
    if dimension is None:
        raise ValueError(
            f"The column {column_name!r} has dimension=None, lists of any length, which "
            "tf.feature_column does not support. Pad them in input_fn, and set the dimension."
        )
    return tf.feature_column.numeric_column(
        column_name, (dimension,), default_value, tf.as_dtype(dtype), normalizer
    )


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Makes a column of the ranges that contain numbers.

    Args:
      source_column: the result of ``real_valued_column``.
      boundaries: the boundaries between the ranges, ascending.

    Raises:
      TypeError: the source is no column of numbers.
    """
    if not _has_fields(source_column, "shape", "normalizer_fn"):
        raise TypeError(
            f"source_column must be the result of real_valued_column, got {source_column!r}."
        )
    return tf.feature_column.bucketized_column(source_column, sorted(set(boundaries)))


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
      hash_keys: must be None: keys of several hashes, for ``hashed_embedding_column`` alone.

    Raises:
      ValueError: hash keys are given.
    """
    del combiner
    if hash_keys is not None:
        raise ValueError(
            f"sparse_column_with_hash_bucket({column_name!r}, hash_keys={hash_keys!r}) identifies "
            "a value by several hashes, which is not supported. Leave hash_keys out, and choose a "
            "larger hash_bucket_size."
        )
    return tf.feature_column.categorical_column_with_hash_bucket(
        column_name, hash_bucket_size, tf.as_dtype(dtype)
    )


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = tf.int64
) -> Any:
    """Makes a column of integers from 0 up to ``bucket_size``.

    Args:
      column_name: the feature's key.
      bucket_size: the number of ids.
      combiner: see the module.
      dtype: the values' type in files; files contain tf.int64.
    """
    del combiner, dtype
    return tf.feature_column.categorical_column_with_identity(column_name, bucket_size)


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
    del combiner
    return tf.feature_column.categorical_column_with_vocabulary_list(
        column_name, tuple(keys), tf.as_dtype(dtype), default_value
    )


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
      vocab_size: the number of lines to use; all by default.
      default_value: the id of other words if there are no buckets for them.
      combiner: see the module.
      dtype: tf.string or an integer type.
    """
    del combiner
    return tf.compat.v1.feature_column.categorical_column_with_vocabulary_file(
        column_name,
        vocabulary_file,
        vocabulary_size=vocab_size,
        num_oov_buckets=num_oov_buckets,
        default_value=None if num_oov_buckets else default_value,
        dtype=tf.as_dtype(dtype),
    )


def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = tf.float32
) -> Any:
    """Adds weights to the values of a sparse column.

    Args:
      sparse_id_column: the column.
      weight_column_name: the key of the feature with the weights.
      dtype: the weights' type.
    """
    return tf.feature_column.weighted_categorical_column(
        sparse_id_column, weight_column_name, tf.as_dtype(dtype)
    )


def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """Makes a column of combinations of other columns' values, identified by a hash.

    The hash is that of ``tf.feature_column``. Without a hash_key, contrib used another one, so its
    checkpoints identify combinations differently. Of a column with hash buckets, the values are
    combined themselves, not their ids, which tf.feature_column requires.

    Args:
      columns: sparse or bucketized columns.
      hash_bucket_size: the number of ids.
      combiner: see the module.
      ckpt_to_load_from: must be None.
      tensor_name_in_ckpt: must be None.
      hash_key: the hash's key.

    Raises:
      TypeError: a column is one of numbers without buckets.
      ValueError: a checkpoint is given.
    """
    del combiner
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise ValueError(
            "crossed_column cannot load weights from a checkpoint: got ckpt_to_load_from="
            f"{ckpt_to_load_from!r}. Use tf.train.init_from_checkpoint in model_fn."
        )
    crossed = [_to_cross(column) for column in columns]
    return tf.feature_column.crossed_column(crossed, hash_bucket_size, hash_key)


def _to_cross(column: Any) -> Any:
    """Returns what tf.feature_column crosses for a column: the feature's key if it is hashed."""
    if _has_fields(column, "shape", "normalizer_fn"):
        raise TypeError(
            f"crossed_column accepts no column of numbers, got {column.key!r}. Give its "
            "bucketized_column."
        )
    return column.key if _has_fields(column, "key", "hash_bucket_size") else column


def _has_fields(column: Any, *names: str) -> bool:
    """Returns whether a column has fields; the classes of tf.feature_column have no public name."""
    return set(names) <= set(getattr(column, "_fields", ()))


def one_hot_column(sparse_id_column: Any) -> Any:
    """Makes a column of one-hot or multi-hot vectors of a sparse column's values.

    Args:
      sparse_id_column: the column.
    """
    return tf.feature_column.indicator_column(sparse_id_column)


def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Makes a column of table rows for a sparse column's values.

    Args:
      sparse_id_column: the column.
      dimension: a row's length.
      combiner: the combination of the rows of several values: 'mean', 'sqrtn' or 'sum'.
      initializer: initializer of the table; by default truncated normal, with the deviation
        ``1 / sqrt(number of rows)``.
      ckpt_to_load_from: a checkpoint with the table's initial values.
      tensor_name_in_ckpt: the table's name there.
      max_norm: the maximal length; longer rows are scaled down.
      trainable: whether the table is trained.
    """
    if initializer is None:
        deviation = 1 / math.sqrt(sparse_id_column.num_buckets)
        initializer = tf.compat.v1.truncated_normal_initializer(stddev=deviation)
    return tf.feature_column.embedding_column(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )


def create_feature_spec_for_parsing(feature_columns: Sequence[Any]) -> dict[str, Any]:
    """Returns the argument of ``tf.io.parse_example`` for some columns.

    Args:
      feature_columns: the columns.

    Returns:
      By key, a FixedLenFeature or VarLenFeature.
    """
    return tf.feature_column.make_parse_example_spec(list(feature_columns))
