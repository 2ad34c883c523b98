"""The metrics of heads, which tf.contrib.learn reported for classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.learn.heads.head_losses import broadcast
from estimator_bridge_contrib.learn.keys import MetricKey

__all__ = ["accuracy", "area_under_curve", "at_threshold", "mean", "of_class", "share_of_class"]

_metrics = tf.compat.v1.metrics
Metric = tuple[tf.Tensor, Any]


def accuracy(labels: Any, classes: Any, weights: Any) -> Metric:
    """The share of classes that equal their label."""
    return _metrics.accuracy(labels, classes, weights)


def mean(values: Any, weights: Any, class_id: int | None = None) -> Metric:
    """The mean of values [batch, n], or of the column of a class."""
    values, weights = _columns(tf.cast(values, tf.float32), weights, class_id)
    return _metrics.mean(values, weights)


def share_of_class(ids: Any, weights: Any, class_id: int) -> Metric:
    """The share of ids that are a class."""
    is_class = tf.equal(tf.cast(class_id, tf.int32), tf.cast(ids, tf.int32))
    return _metrics.mean(tf.cast(is_class, ids.dtype), weights)


def area_under_curve(
    probabilities: Any, labels: Any, weights: Any, class_id: int | None = None, curve: str = "ROC"
) -> Metric:
    """The area under the curve ROC or PR; of the column of a class, if one is given."""
    if labels.dtype != tf.bool:
        logging.warning("Casting %s labels to bool.", labels.dtype)
        labels = tf.cast(labels, tf.bool)
    probabilities = tf.cast(probabilities, tf.float32)
    if class_id is not None:
        labels = labels[:, class_id]
    probabilities, weights = _columns(probabilities, weights, class_id)
    return _metrics.auc(labels, probabilities, weights, curve=curve)


def at_threshold(
    probabilities: Any, labels: Any, weights: Any, threshold: float
) -> dict[str, Metric]:
    """Accuracy, precision and recall if a class is predicted from a probability on."""
    floats = None if weights is None else tf.cast(weights, tf.float32)
    predicted = tf.cast(tf.greater_equal(probabilities, threshold), tf.float32)
    metrics = {MetricKey.ACCURACY_MEAN % threshold: accuracy(labels, predicted, weights)}
    for key, metric in (
        (MetricKey.PRECISION_MEAN, _metrics.precision_at_thresholds),
        (MetricKey.RECALL_MEAN, _metrics.recall_at_thresholds),
    ):
        value, update = metric(labels, probabilities, (threshold,), floats)
        metrics[key % threshold] = tf.squeeze(value), tf.squeeze(update)
    return metrics


def of_class(class_id: int, metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Returns metrics of a class by name; their keys have a place for the class."""
    return {key % class_id: metric for key, metric in metrics.items()}


def _columns(values: tf.Tensor, weights: Any, class_id: int | None) -> tuple[Any, Any]:
    if weights is not None:
        weights = broadcast(tf.cast(weights, tf.float32), values)
    if class_id is None:
        return values, weights
    return values[:, class_id], None if weights is None else weights[:, class_id]
