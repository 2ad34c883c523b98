"""What canned estimators check of features and of feature columns before they build anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private import is_v2_column

__all__ = [
    "are_v2",
    "as_tuple",
    "check_features",
    "check_v2",
    "is_categorical",
    "scope_of",
    "sorted_columns",
]

_FeatureColumn = tf.__internal__.feature_column.FeatureColumn


def check_features(features: Any) -> None:
    """Checks that features have keys, by which columns find theirs.

    Raises:
      ValueError: they are no dict.
    """
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}. "
            "Feature columns look a feature up by its key: return ({'x': features}, labels) from "
            "input_fn."
        )


def are_v2(columns: Iterable[Any]) -> bool:
    """Whether all columns are of today's kind.

    All that ``tf.feature_column`` makes are, under ``tf.compat.v1`` too, but for
    ``tf.compat.v1.feature_column.shared_embedding_columns``, and classes of a program's own that
    have the interface of TF1.
    """
    return all(isinstance(c, _FeatureColumn) and is_v2_column(c) for c in columns)


def check_v2(columns: Iterable[Any]) -> None:
    """Checks the columns of an estimator of ``tf.estimator``.

    Raises:
      ValueError: a column has the interface of TF1.
    """
    columns = list(columns)
    if not are_v2(columns):
        old = [getattr(c, "name", c) for c in columns if not are_v2([c])]
        raise ValueError(
            "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator: "
            f"{old}. Either use v2 feature columns (tf.feature_column.*, such as "
            "tf.feature_column.shared_embeddings), or the estimator of tf.compat.v1.estimator, "
            "which takes both."
        )


def sorted_columns(columns: Any) -> list[Any]:
    """Columns by name, which is the order of their weights and of what they compute.

    Args:
      columns: columns of today's kind, each able to be in a linear model.

    Raises:
      ValueError: there is none, two have one name, or one cannot be in a linear model.
    """
    if isinstance(columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict. Give its values.")
    found: dict[str, Any] = {}
    for column in [columns] if isinstance(columns, _FeatureColumn) else columns:
        if not _goes_into_linear_models(column):
            raise ValueError(
                "Items of feature_columns must be either a DenseColumn or CategoricalColumn. "
                f"Given: {column}. Sequence columns need a model that reads sequences."
            )
        if column.name in found:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{found[column.name]}. Both read {column.name!r}: leave one out, or give the "
                "features a second key for it."
            )
        found[column.name] = column
    if not found:
        raise ValueError("feature_columns must not be empty.")
    return [found[name] for name in sorted(found)]


def _goes_into_linear_models(column: Any) -> bool:
    return isinstance(column, tf.__internal__.feature_column.DenseColumn) or is_categorical(column)


def is_categorical(column: Any) -> bool:
    """Whether a column gives ids; the class of such columns has no public name.

    A bucketized column gives ids, and numbers too; in linear models it counts by its ids.
    """
    return hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors")


def scope_of(column: Any) -> str:
    """A column's name, fit for a variable scope."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in column.name)


def as_tuple(columns: Iterable[Any] | None) -> tuple[Any, ...]:
    """The columns, read once: programs give iterators too."""
    return tuple(columns or [])
