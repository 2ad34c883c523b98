"""Metrics that count or collect values, and groups of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import (
    Metric,
    aligned,
    metric_variable,
    result,
)

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "count",
]

_v1 = tf.compat.v1


def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """Splits metrics into a list of values and a list of updates.

    Raises:
      ValueError: the list is empty.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(
    names_to_tuples: Mapping[str, Metric],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits metrics by name into values by name and updates by name."""
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}


def accuracy(
    predictions: tf.Tensor, labels: tf.Tensor, weights: Any = None, name: str | None = None
) -> tf.Tensor:
    """Returns the accuracy of one batch; it does not accumulate over batches.

    Args:
      predictions: integers, bools or strings.
      labels: a tensor of the same type.
      weights: the weight of each example.
      name: the name scope's name.

    Returns:
      A scalar.

    Raises:
      ValueError: the types are unsupported, or differ.
    """
    if not (labels.dtype.is_integer or labels.dtype in (tf.bool, tf.string)):
        raise ValueError(
            f"Labels should have bool, integer, or string dtype, not {labels.dtype.name}. For "
            "probabilities, compare tf.argmax or a threshold."
        )
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype.name}) and labels ({labels.dtype.name})"
        )
    with tf.name_scope(name or "accuracy"):
        is_right = tf.cast(tf.equal(predictions, labels), tf.float32)
        if weights is None:
            return tf.reduce_mean(is_right)
        weights = tf.cast(weights, tf.float32) * tf.ones_like(is_right)
        return tf.reduce_sum(is_right * weights) / tf.reduce_sum(weights)


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Counts values.

    Args:
      values: of any shape; each element counts.
      weights: the weight of each value; 1 by default.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      A float, and its update.
    """
    with _v1.variable_scope(name, "count"):
        total = metric_variable([], tf.float32, "count")
        values = tf.convert_to_tensor(values)
        number = tf.cast(tf.size(values), tf.float32)
        if weights is not None:
            number = tf.reduce_sum(aligned(values, values, weights)[2])
        with tf.control_dependencies([values]):
            update = _v1.assign_add(total, number)
        value = tf.identity(total)
    return result(value, tf.identity(update), metrics_collections, updates_collections)
