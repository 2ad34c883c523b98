"""Metrics that count or collect values, and groups of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.metrics.state import (
    Metric,
    aligned,
    metric_variable,
    result,
)

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "cohen_kappa",
    "count",
    "streaming_concat",
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


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Computes Cohen's kappa: the agreement of predictions with labels beyond chance.

    It is (agreed - expected) / (1 - expected), where ``expected`` is the agreement of two
    independent raters with these class shares (Cohen 1960).

    Args:
      labels: [batch] or [batch, 1], classes.
      predictions_idx: [batch] or [batch, 1], predicted classes.
      num_classes: the number of classes.
      weights: the weight of each example.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The kappa, 0 if it is undefined; and its update.

    Raises:
      ValueError: there are fewer than two classes.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with _v1.variable_scope(name, "cohen_kappa"):
        predicted, labels, weights = aligned(predictions_idx, labels, weights)
        table = metric_variable([num_classes, num_classes], tf.float32, "counts")
        flat = [tf.reshape(classes, [-1]) for classes in (labels, predicted)]
        flat_weights = None if weights is None else tf.reshape(weights, [-1])
        batch = tf.math.confusion_matrix(*flat, num_classes, flat_weights, tf.float32)
        update = _kappa(tf.identity(_v1.assign_add(table, batch)))
        value = _kappa(tf.identity(table))
    return result(value, update, metrics_collections, updates_collections)


def _kappa(table: tf.Tensor) -> tf.Tensor:
    table = tf.cast(table, tf.float64)
    total = tf.reduce_sum(table)
    by_chance = tf.reduce_sum(tf.reduce_sum(table, 0) * tf.reduce_sum(table, 1))
    expected = tf.math.divide_no_nan(by_chance, total)
    return tf.math.divide_no_nan(tf.linalg.trace(table) - expected, total - expected)


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Concatenates all values, batch by batch.

    Args:
      values: values whose static shape is known, except along ``axis``.
      axis: the dimension of the concatenation.
      max_size: the number of values to keep, from the start; None for all.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The values, and an update, whose value is their number.

    Raises:
      ValueError: another dimension is unknown, or there is no such axis.
    """
    with _v1.variable_scope(name, "streaming_concat"):
        values = tf.convert_to_tensor(values)
        if values.shape.rank is None:
            raise ValueError("`values` must have known statically known rank: use set_shape.")
        shape = values.shape.as_list()
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis = {axis} not in [0, {len(shape)})")
        axis %= len(shape)
        shape[axis] = None
        if None in shape[:axis] + shape[axis + 1 :]:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must "
                f"have statically known size, got {values.shape} and axis {axis}."
            )
        kept = metric_variable(shape, values.dtype, "array")
        joined = tf.concat([kept, values], axis)
        if max_size is not None:
            joined = tf.gather(
                joined, tf.range(tf.minimum(tf.shape(joined)[axis], max_size)), axis=axis
            )
        with tf.control_dependencies([_v1.assign(kept, joined, validate_shape=False)]):
            update = tf.shape(joined)[axis]
        value = tf.identity(kept)
    return result(value, update, metrics_collections, updates_collections)
