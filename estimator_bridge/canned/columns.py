"""Checks of features and feature columns that canned estimators make before they build a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.columns import is_v2_column

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
    """Checks that features have keys for the columns to look up.

    Raises:
      ValueError: they are not a dict.
    """
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}. "
            "Feature columns look a feature up by its key: return ({'x': features}, labels) from "
            "input_fn."
        )


def are_v2(columns: Iterable[Any]) -> bool:
    """Returns whether all columns are V2 feature columns.

    All columns of ``tf.feature_column`` are, also under ``tf.compat.v1``, except
    ``tf.compat.v1.feature_column.shared_embedding_columns`` and a program's own classes with TF1's
    interface.
    """
    return all(isinstance(c, _FeatureColumn) and is_v2_column(c) for c in columns)


def check_v2(columns: Iterable[Any]) -> None:
    """Checks the columns of an estimator of ``tf.estimator``.

    Raises:
      ValueError: a column has TF1's interface.
    """
    columns = list(columns)
    if not are_v2(columns):
        old = [getattr(c, "name", c) for c in columns if not are_v2([c])]
        raise ValueError(
            "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator: "
            f"{old}. Either use v2 feature columns (tf.feature_column.*, such as "
            "tf.feature_column.shared_embeddings), or the estimator of tf.compat.v1.estimator, "
            "which accepts both."
        )


def sorted_columns(columns: Any) -> list[Any]:
    """Returns columns sorted by name, which is the order of their weights and outputs.

    Args:
      columns: V2 feature columns that a linear model supports.

    Raises:
      ValueError: there is none, two have the same name, or a linear model does not support one.
    """
    if isinstance(columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict. Give its values.")
    by_name: dict[str, Any] = {}
    for column in [columns] if isinstance(columns, _FeatureColumn) else columns:
        if not _goes_into_linear_models(column):
            raise ValueError(
                "Items of feature_columns must be either a DenseColumn or CategoricalColumn. "
                f"Given: {column}. Sequence columns need a model that reads sequences."
            )
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and "
                f"{by_name[column.name]}. Both read {column.name!r}: leave one out, or give the "
                "features a second key for it."
            )
        by_name[column.name] = column
    if not by_name:
        raise ValueError("feature_columns must not be empty.")
    return [by_name[name] for name in sorted(by_name)]


def _goes_into_linear_models(column: Any) -> bool:
    return isinstance(column, tf.__internal__.feature_column.DenseColumn) or is_categorical(column)


def is_categorical(column: Any) -> bool:
    """Returns whether a column yields IDs; the class of such columns has no public name.

    A bucketized column yields IDs and numbers; linear models use its IDs.
    """
    return hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors")


def scope_of(column: Any) -> str:
    """Returns a column's name as a valid variable scope."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in column.name)


def as_tuple(columns: Iterable[Any] | None) -> tuple[Any, ...]:
    """Returns the columns, read once: programs may pass iterators."""
    return tuple(columns or [])
