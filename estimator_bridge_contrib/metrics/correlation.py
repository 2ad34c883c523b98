"""Covariance and correlation over batches.

Each batch's mean and co-moment are merged with the previous ones by the formula of Chan, Golub and
LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import (
    Metric,
    aligned,
    metric_variable,
    result,
)

__all__ = ["streaming_covariance", "streaming_pearson_correlation"]

_v1 = tf.compat.v1


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Computes the unbiased covariance of all predictions and labels.

    Args:
      predictions: floats.
      labels: floats, of the same shape.
      weights: the weight of each pair; broadcast.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The covariance, NaN for fewer than two pairs; and its update.
    """
    with _v1.variable_scope(name, "covariance"):
        predictions, labels, weights = aligned(predictions, labels, weights)
        weights = tf.ones_like(labels) if weights is None else tf.cast(weights, labels.dtype)
        count, mean_x, mean_y, comoment = (
            metric_variable([], tf.float32, name)
            for name in ("count", "mean_prediction", "mean_label", "comoment")
        )
        batch_count = tf.reduce_sum(weights)
        batch_x = tf.math.divide_no_nan(tf.reduce_sum(predictions * weights), batch_count)
        batch_y = tf.math.divide_no_nan(tf.reduce_sum(labels * weights), batch_count)
        batch_comoment = tf.reduce_sum((predictions - batch_x) * (labels - batch_y) * weights)
        # Derives the old values from the new ones: reading a reference variable makes no copy.
        total = _v1.assign_add(count, batch_count)
        share = tf.math.divide_no_nan(batch_count, total)
        change_x, change_y = (batch_x - mean_x) * share, (batch_y - mean_y) * share
        old_x = _v1.assign_add(mean_x, change_x) - change_x
        old_y = _v1.assign_add(mean_y, change_y) - change_y
        joined = (batch_x - old_x) * (batch_y - old_y) * (total - batch_count) * share
        update = _unbiased(_v1.assign_add(comoment, batch_comoment + joined), total, "update_op")
        value = _unbiased(comoment, count, "covariance")
    return result(value, update, metrics_collections, updates_collections)


def _unbiased(comoment: Any, count: Any, name: str) -> tf.Tensor:
    nan = tf.constant(float("nan"), comoment.dtype)
    return tf.where(count > 1.0, comoment / tf.maximum(count - 1.0, 1e-30), nan, name=name)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Computes Pearson's correlation of all predictions and labels.

    Args:
      predictions: floats.
      labels: floats, of the same shape.
      weights: the weight of each pair; broadcast.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The covariance divided by both standard deviations, from -1 to 1; and its update.
    """
    with _v1.variable_scope(name, "pearson_r"):
        predictions, labels, weights = aligned(predictions, labels, weights)
        both, both_update = streaming_covariance(predictions, labels, weights, name="covariance")
        x, x_update = streaming_covariance(
            predictions, predictions, weights, name="variance_predictions"
        )
        y, y_update = streaming_covariance(labels, labels, weights, name="variance_labels")
        value = tf.truediv(both, tf.sqrt(x) * tf.sqrt(y), name="pearson_r")
        update = tf.truediv(both_update, tf.sqrt(x_update) * tf.sqrt(y_update), name="update_op")
    return result(value, update, metrics_collections, updates_collections)
