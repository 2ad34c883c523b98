"""Features of columns of ``tf.contrib.layers``: parsed, transformed, inferred, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.column_bases import Features
from estimator_bridge_contrib.layers.column_order import sort_key, sorted_columns
from estimator_bridge_contrib.layers.feature_columns import (
    create_feature_spec_for_parsing,
    real_valued_column,
)

__all__ = [
    "check_feature_columns",
    "checked_columns",
    "infer_real_valued_columns",
    "make_place_holder_tensors_for_base_features",
    "parse_feature_columns_from_examples",
    "parse_feature_columns_from_sequence_examples",
    "transform_features",
]

v1 = tf.compat.v1


def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Checks that there are no two equal columns.

    Raises:
      ValueError: there are, or the columns are in a dict.
    """
    checked_columns(feature_columns)


def checked_columns(feature_columns: Iterable[Any]) -> list[Any]:
    """Returns the columns, none of which are equal.

    Raises:
      ValueError: there are, or the columns are in a dict.
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    columns, seen = list(feature_columns), set()
    for column in columns:
        key = sort_key(column)
        if key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means "
                "that the column is almost identical to another column, and one must be discarded."
            )
        seen.add(key)
    return columns


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Iterable[Any], name: str | None = None,
    example_names: Any = None,
) -> dict[Any, Any]:  # fmt: skip
    """Parses examples, and transforms columns.

    Args:
      serialized: serialized ``tf.train.Example``s [batch].
      feature_columns: the columns.
      name: the operation's name.
      example_names: names of the examples, for errors.

    Returns:
      The tensors, by feature and by column.
    """
    columns = checked_columns(feature_columns)
    tensors = v1.parse_example(
        serialized, create_feature_spec_for_parsing(columns), name=name, example_names=example_names
    )
    features = Features(tensors)
    for column in sorted_columns(columns):
        features.get(column)
    return tensors


def transform_features(features: dict[Any, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    """Returns the transformed columns.

    Args:
      features: the features by name.
      feature_columns: the columns.

    Returns:
      By column, its ids or numbers.
    """
    columns = checked_columns(feature_columns)
    cache = Features(dict(features))
    return {column: cache.get(column) for column in sorted_columns(columns)}


def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Iterable[Any] | None,
    sequence_feature_columns: Iterable[Any] | None,
    name: str | None = None,
    example_name: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses one ``tf.train.SequenceExample``.

    Args:
      serialized: the serialized example, a scalar.
      context_feature_columns: columns of features of the whole example.
      sequence_feature_columns: columns of features of each time step.
      name: the operation's name.
      example_name: the example's name, for errors.

    Returns:
      The features of the example, and those of its time steps, by name.

    Raises:
      ValueError: there is more than one example.
    """
    try:
        serialized = tf.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after "
            f"parsing for sequence examples. Error: {error}"
        ) from error
    context = checked_columns(context_feature_columns or [])
    sequence = checked_columns(sequence_feature_columns or [])
    steps = {
        key: feature if isinstance(feature, tf.io.VarLenFeature) else _each_step(feature)
        for key, feature in create_feature_spec_for_parsing(sequence).items()
    }
    return v1.parse_single_sequence_example(
        serialized, create_feature_spec_for_parsing(context), steps, example_name, name
    )


def _each_step(feature: Any) -> Any:
    return tf.io.FixedLenSequenceFeature(
        feature.shape, feature.dtype, allow_missing=feature.default_value is not None
    )


def infer_real_valued_columns(features: Any) -> list[Any]:
    """Makes a column of numbers for each feature.

    Args:
      features: a tensor [batch, ...] of numbers, or a dict of them.

    Returns:
      The columns; that of a single tensor is named ''.

    Raises:
      ValueError: a feature is sparse or not of numbers.
    """
    named = features if isinstance(features, dict) else {"": features}
    return [_inferred(name, tensor) for name, tensor in named.items()]


def _inferred(name: str, tensor: Any) -> Any:
    advice = f"Please define corresponding FeatureColumn for tensor {name} {tensor}."
    if isinstance(tensor, tf.SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. {advice}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            f"Non integer or non floating types are not supported for auto detection. {advice}"
        )
    dimension = tensor.shape[1:].num_elements()
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)


def make_place_holder_tensors_for_base_features(
    feature_columns: Iterable[Any],
) -> dict[str, Any]:
    """Returns a placeholder for each feature of columns, by name; sparse ones for sparse columns.

    Args:
      feature_columns: the columns.
    """
    placeholders = {}
    for name, feature in create_feature_spec_for_parsing(list(feature_columns)).items():
        if isinstance(feature, tf.io.VarLenFeature):
            placeholders[name] = v1.sparse_placeholder(feature.dtype, name=f"Placeholder_{name}")
        else:
            placeholders[name] = v1.placeholder(
                feature.dtype, shape=(None, feature.shape[0]), name=f"Placeholder_{name}"
            )
    return placeholders
