"""``tf.contrib.layers``' columns of numbers, buckets, crosses and one-hot vectors.

Like those of `id_columns` and `embedding_columns`, they work with the functions of
``tf.contrib.layers`` and with those of ``tf.feature_column``, which are
``tf.compat.v1.feature_column.input_layer``, ``linear_model`` and ``make_parse_example_spec``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.column_bases import check_checkpoint, is_contrib_column
from estimator_bridge_contrib.layers.column_types import Bucketized, Crossed, Numbers, OneHot
from estimator_bridge_contrib.layers.id_column_types import SparseColumn

__all__ = [
    "bucketized_column",
    "create_feature_spec_for_parsing",
    "crossed_column",
    "one_hot_column",
    "real_valued_column",
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
    defaults = _default_values(column_name, dimension, default_value, dtype)
    return Numbers(column_name, (dimension,), defaults, dtype, normalizer)


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
      combiner: for contrib's linear models; see `id_columns`.
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
    check_checkpoint(ckpt_to_load_from, tensor_name_in_ckpt)
    return Crossed._make_with(
        tuple(sorted(columns, key=lambda column: column.name)),
        hash_bucket_size,
        hash_key,
        combiner=combiner,
        ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt,
    )


def one_hot_column(sparse_id_column: Any) -> Any:
    """Makes a column of one-hot or multi-hot vectors of a sparse column's values.

    Args:
      sparse_id_column: the column.
    """
    return OneHot(sparse_id_column)


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
    spec: dict[str, Any] = {}
    for column in columns:
        if not is_contrib_column(column):
            raise TypeError(
                "feature_columns should only contain instances of _FeatureColumn. Given column "
                f"is {column}. For columns of tf.feature_column, use "
                "tf.feature_column.make_parse_example_spec."
            )
        spec.update(column.config)
    return spec
