"""Parsing specs for TFRecord examples with a head's labels and weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

__all__ = [
    "classifier_parse_example_spec",
    "classifier_parse_example_spec_v1",
    "regressor_parse_example_spec",
    "regressor_parse_example_spec_v1",
]

_v1_columns = tf.compat.v1.feature_column
_v2_columns = tf.compat.v2.feature_column


def classifier_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: tf.DType = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Makes the parsing spec of a classifier's examples: features, label and weight.

    Args:
      feature_columns: the columns of the model.
      label_key: the name of the label in a tf.train.Example.
      label_dtype: type of the label: tf.int64 for class numbers, tf.string for class names,
        tf.float32 for probabilities of two classes.
      label_default: the label of examples without one; by default such an example is an error.
      weight_column: the name of the weight, or a numeric_column.

    Returns:
      The features for ``tf.io.parse_example``, by name. The label has shape [batch, 1].

    Raises:
      ValueError: a column is not a feature column, weight_column is not a numeric column, or the
        label or the weight is among the features.
    """
    spec = _v2_columns.make_parse_example_spec(feature_columns)
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _complete(spec, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: tf.DType = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Makes the parsing spec of a regressor's examples: features, labels and weight.

    Args:
      feature_columns: the columns of the model.
      label_key: the name of the labels in a tf.train.Example.
      label_dtype: type of the labels.
      label_default: the labels of examples without any; by default such an example is an error.
      label_dimension: number of labels per example.
      weight_column: the name of the weight, or a numeric_column.

    Returns:
      The features for ``tf.io.parse_example``, by name. The labels have shape
      [batch, label_dimension].

    Raises:
      ValueError: a column is not a feature column, weight_column is not a numeric column, or the
        label or the weight is among the features.
    """
    spec = _v2_columns.make_parse_example_spec(feature_columns)
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _complete(spec, label_key, label, weight_column)


def classifier_parse_example_spec_v1(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: tf.DType = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """`classifier_parse_example_spec` of tf.compat.v1.estimator, which also takes V1 columns."""
    spec = _v1_columns.make_parse_example_spec(feature_columns)
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _complete(spec, label_key, label, weight_column)


def regressor_parse_example_spec_v1(
    feature_columns: Iterable[Any],
    label_key: str,
    label_dtype: tf.DType = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """`regressor_parse_example_spec` of tf.compat.v1.estimator, which also takes V1 columns."""
    spec = _v1_columns.make_parse_example_spec(feature_columns)
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _complete(spec, label_key, label, weight_column)


def _complete(
    spec: dict[str, Any], label_key: str, label: Any, weight_column: Any
) -> dict[str, Any]:
    _check_free(spec, label_key, "label", "label_key")
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = _v2_columns.numeric_column(weight_column)
    if not hasattr(weight_column, "normalizer_fn"):  # only numeric columns have this
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}. Or pass the feature's name."
        )
    _check_free(spec, weight_column.key, "weight_column", "weight_column")
    return {**spec, **weight_column.parse_example_spec}


def _check_free(spec: dict[str, Any], key: str, role: str, argument: str) -> None:
    if key in spec:
        raise ValueError(
            f"{role} should not be used as feature. {argument}: {key}, features: {sorted(spec)}. "
            "Leave its column out of feature_columns."
        )
