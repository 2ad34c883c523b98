"""``tf.contrib.layers``' feature columns.

They work with the functions of ``tf.contrib.layers`` and with those of ``tf.feature_column``, which
are ``tf.compat.v1.feature_column.input_layer``, ``linear_model`` and ``make_parse_example_spec``.
The argument ``combiner`` of sparse columns is for contrib's linear models; those of
``tf.feature_column`` take it themselves (``linear_model(sparse_combiner=...)``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.layers.column_types import (
    Bucketized,
    Crossed,
    Embedding,
    Hashed,
    Integerized,
    Keys,
    Numbers,
    OneHot,
    Scattered,
    SparseColumn,
    Vocabulary,
    Weighted,
    is_contrib_column,
)

__all__ = [
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "embedding_column",
    "one_hot_column",
    "real_valued_column",
    "scattered_embedding_column",
    "shared_embedding_columns",
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
      TypeError: the dimension is no integer, or the default value does not have the type.
      ValueError: the dimension is not positive, the type is not one of numbers, or there are more
        or fewer default values than dimensions.
    """
    if not isinstance(dimension, int):
        raise TypeError(
            f"dimension must be an integer, got {dimension!r}. column_name: {column_name}. Lists "
            "of any length are not supported: pad them in input_fn."
        )
    if dimension < 1:
        raise ValueError(
            f"dimension must be greater than 0, got {dimension}. column_name: {column_name}"
        )
    dtype = tf.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(
            f"dtype must be convertible to float, got {dtype.name}. column_name: {column_name}"
        )
    given = _default_values(column_name, dimension, default_value, dtype)
    return Numbers(column_name, (dimension,), given, dtype, normalizer)


def _default_values(
    name: str, dimension: int, value: Any, dtype: tf.DType
) -> tuple[float, ...] | None:
    """Returns the values for an example without the feature, one per dimension."""
    if value is None:
        return None
    values = list(value) if isinstance(value, list) else [value] * dimension
    if len(values) != dimension:
        raise ValueError(
            f"The length of default_value must be equal to dimension. default_value: {value}, "
            f"dimension: {dimension}, column_name: {name}"
        )
    accepted = int if dtype.is_integer else (int, float)
    if not all(isinstance(each, accepted) for each in values):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value!r}, dtype: "
            f"{dtype.name}, column_name: {name}"
        )
    return tuple(int(each) if dtype.is_integer else float(each) for each in values)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Makes a column of the ranges that contain numbers.

    Args:
      source_column: the result of ``real_valued_column``.
      boundaries: the boundaries between the ranges, ascending.

    Raises:
      TypeError: the source is no column of numbers.
      ValueError: there are no boundaries, or they are not sorted.
    """
    if not isinstance(source_column, Numbers):
        raise TypeError(
            "source_column must be an instance of _RealValuedColumn, the result of "
            f"real_valued_column; got {source_column!r}."
        )
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return Bucketized(source_column, tuple(sorted(set(boundaries))))


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


def crossed_column(
    columns: Sequence[Any],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """Makes a column of combinations of other columns' values, identified by a hash.

    The values themselves are combined, not their ids. The hash is that of ``tf.feature_column``.
    Without a hash_key, contrib used another one, so its checkpoints identify combinations
    differently.

    Args:
      columns: sparse, crossed or bucketized columns.
      hash_bucket_size: the number of ids.
      combiner: see the module.
      ckpt_to_load_from: a checkpoint with the initial weights of a linear model.
      tensor_name_in_ckpt: their name there.
      hash_key: the hash's key.

    Raises:
      TypeError: a column cannot be crossed.
      ValueError: there are too few columns or ids, or only one of the arguments for a checkpoint.
    """
    for column in columns:
        if not isinstance(column, (SparseColumn, Crossed, Bucketized)):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn "
                f"instances. (column {column} is a {type(column).__name__}) Give the "
                "bucketized_column of a column of numbers."
            )
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(
            f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}"
        )
    _check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    return Crossed._make_with(
        tuple(sorted(columns, key=lambda column: column.name)),
        hash_bucket_size,
        hash_key,
        combiner=combiner,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
    )


def _check_checkpoint(path: str | None, name: str | None) -> None:
    if (path is None) != (name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them. "
            f"Got {path!r} and {name!r}."
        )


def one_hot_column(sparse_id_column: Any) -> Any:
    """Makes a column of one-hot or multi-hot vectors of a sparse column's values.

    Args:
      sparse_id_column: the column.
    """
    return OneHot(sparse_id_column)


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
    options = (combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    return _embedding(sparse_id_column, dimension, *options)


def _embedding(
    column: Any, dimension: int, combiner: str, initializer: Any, path: str | None,
    name: str | None, max_norm: float | None, trainable: bool, shared: str | None = None,
    rows: int | None = None,
) -> Any:  # fmt: skip
    if initializer is not None and not callable(initializer):
        raise ValueError(
            "initializer must be callable if specified. Embedding of column_name: "
            f"{column.name}. Got {initializer!r}."
        )
    _check_checkpoint(path, name)
    if initializer is None:
        deviation = 1 / math.sqrt(column.length)
        initializer = tf.compat.v1.truncated_normal_initializer(mean=0.0, stddev=deviation)
    fields = (column, dimension, combiner, initializer, path, name, max_norm, trainable)
    return Embedding._make_with(*fields, shared_embedding_name=shared, shared_vocab_size=rows)


def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Sequence[Any]:
    """Makes columns of rows of one table, for sparse columns with the same ids.

    Args:
      sparse_id_columns: sparse columns, which may be weighted.
      dimension: a row's length.
      combiner: as for ``embedding_column``.
      shared_embedding_name: the table's name; by default made of the columns' names.
      initializer: as for ``embedding_column``.
      ckpt_to_load_from: as for ``embedding_column``.
      tensor_name_in_ckpt: as for ``embedding_column``.
      max_norm: as for ``embedding_column``.
      trainable: as for ``embedding_column``.

    Returns:
      The columns, in the same order.

    Raises:
      TypeError: the columns are no sequence, or one cannot be embedded.
      ValueError: there are no columns, or they have different ids.
    """
    columns = sparse_id_columns
    if not isinstance(columns, Sequence) or isinstance(columns, str):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(columns)}."
        )
    if not columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in columns:
        if not isinstance(column, (SparseColumn, Weighted)):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but "
                f"{column} is not."
            )
    options = (combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable)
    if len(columns) == 1:
        return [_embedding(columns[0], dimension, *options, shared=shared_embedding_name)]
    if not all(columns[0].is_compatible(column) for column in columns[1:]):
        names = ", ".join(column.name for column in columns)
        raise ValueError(
            f"The input sparse id columns are not compatible: {names} have different ids."
        )
    name = shared_embedding_name or _shared_name(columns)
    rows = columns[0].length
    return tuple(_embedding(c, dimension, *options, shared=name, rows=rows) for c in columns)


def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int,
    combiner: str = "mean",
    initializer: Any = None,
) -> Any:
    """Makes a column of vectors of words, whose entries all words share.

    Args:
      column_name: the feature's key.
      size: the number of entries.
      dimension: a vector's length.
      hash_key: the key of the hash that finds an entry by a word and a position.
      combiner: the combination of several vectors: 'mean', 'sqrtn' or 'sum'.
      initializer: initializer of the entries; by default truncated normal with deviation 0.1.

    Raises:
      ValueError: a number is not positive, or the combiner or the initializer is none.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, "
            f"column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, "
            f"column_name: {column_name}"
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. column_name: {column_name}. "
            f"Got {initializer!r}."
        )
    initializer = initializer or tf.compat.v1.truncated_normal_initializer(mean=0.0, stddev=0.1)
    return Scattered(column_name, size, dimension, hash_key, combiner, initializer)


def _shared_name(columns: Sequence[Any]) -> str:
    """Returns a table's name: the first columns' names, those without weights first."""
    names = [
        column.name for column in sorted(columns, key=lambda c: (isinstance(c, Weighted), c.name))
    ]
    others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return f"{'_'.join(names[:3])}{others}_shared_embedding"


def create_feature_spec_for_parsing(feature_columns: Sequence[Any]) -> dict[str, Any]:
    """Returns the argument of ``tf.io.parse_example`` for some columns.

    Args:
      feature_columns: the columns.

    Returns:
      By key, a FixedLenFeature or VarLenFeature.

    Raises:
      TypeError: one is no column of ``tf.contrib.layers``.
    """
    columns = feature_columns.values() if isinstance(feature_columns, dict) else feature_columns
    found: dict[str, Any] = {}
    for column in columns:
        if not is_contrib_column(column):
            raise TypeError(
                "feature_columns should only contain instances of _FeatureColumn. Given column "
                f"is {column}. For columns of tf.feature_column, use "
                "tf.feature_column.make_parse_example_spec."
            )
        found.update(column.config)
    return found
