"""Metrics of tf.metrics under their older names, with predictions before labels."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import Metric
from estimator_bridge_contrib.metrics.thresholds import counts_at_thresholds

__all__ = [
    "streaming_accuracy",
    "streaming_auc",
    "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positives",
    "streaming_false_positives_at_thresholds",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives",
    "streaming_true_positives_at_thresholds",
]

_metrics = tf.compat.v1.metrics


def _predictions_first(name: str, metric: Callable[..., Metric]) -> Callable[..., Metric]:
    """Returns a metric of tf.metrics with its first arguments, labels and predictions, swapped."""
    labels, predictions, *others = inspect.signature(metric).parameters.values()
    signature = inspect.Signature([predictions, labels, *others])

    @functools.wraps(metric)
    def exchanged(*args: Any, **kwargs: Any) -> Metric:
        return metric(**signature.bind(*args, **kwargs).arguments)

    exchanged.__name__ = exchanged.__qualname__ = name
    exchanged.__doc__ = f"tf.metrics.{metric.__name__}, with predictions before labels."
    exchanged.__signature__ = signature  # type: ignore[attr-defined]
    return exchanged


def _counted(name: str) -> Callable[..., Metric]:
    """Returns a count at thresholds, whose variable is in the caller's scope."""
    key = "".join(word[0] for word in name.split("_"))

    def counted(predictions: Any, labels: Any, thresholds: Any, weights: Any = None) -> Metric:
        values, updates = counts_at_thresholds([key], labels, predictions, weights, thresholds)
        return values[key], updates[key]

    counted.__name__ = counted.__qualname__ = f"streaming_{name}_at_thresholds"
    counted.__doc__ = f"tf.metrics.{name}_at_thresholds, with predictions before labels."
    return counted


streaming_mean = _metrics.mean
streaming_mean_tensor = _metrics.mean_tensor
streaming_percentage_less = _metrics.percentage_below

streaming_accuracy = _predictions_first("streaming_accuracy", _metrics.accuracy)
streaming_auc = _predictions_first("streaming_auc", _metrics.auc)
streaming_false_negatives = _predictions_first(
    "streaming_false_negatives", _metrics.false_negatives
)
streaming_false_negatives_at_thresholds = _counted("false_negatives")
streaming_false_positives = _predictions_first(
    "streaming_false_positives", _metrics.false_positives
)
streaming_false_positives_at_thresholds = _counted("false_positives")
streaming_mean_absolute_error = _predictions_first(
    "streaming_mean_absolute_error", _metrics.mean_absolute_error
)
streaming_mean_cosine_distance = _predictions_first(
    "streaming_mean_cosine_distance", _metrics.mean_cosine_distance
)
streaming_mean_iou = _predictions_first("streaming_mean_iou", _metrics.mean_iou)
streaming_mean_relative_error = _predictions_first(
    "streaming_mean_relative_error", _metrics.mean_relative_error
)
streaming_mean_squared_error = _predictions_first(
    "streaming_mean_squared_error", _metrics.mean_squared_error
)
streaming_precision = _predictions_first("streaming_precision", _metrics.precision)
streaming_precision_at_thresholds = _predictions_first(
    "streaming_precision_at_thresholds", _metrics.precision_at_thresholds
)
streaming_recall = _predictions_first("streaming_recall", _metrics.recall)
streaming_recall_at_thresholds = _predictions_first(
    "streaming_recall_at_thresholds", _metrics.recall_at_thresholds
)
streaming_root_mean_squared_error = _predictions_first(
    "streaming_root_mean_squared_error", _metrics.root_mean_squared_error
)
streaming_sensitivity_at_specificity = _predictions_first(
    "streaming_sensitivity_at_specificity", _metrics.sensitivity_at_specificity
)
streaming_sparse_average_precision_at_k = _predictions_first(
    "streaming_sparse_average_precision_at_k", _metrics.average_precision_at_k
)
streaming_sparse_precision_at_k = _predictions_first(
    "streaming_sparse_precision_at_k", _metrics.precision_at_k
)
streaming_sparse_recall_at_k = _predictions_first(
    "streaming_sparse_recall_at_k", _metrics.recall_at_k
)
streaming_specificity_at_sensitivity = _predictions_first(
    "streaming_specificity_at_sensitivity", _metrics.specificity_at_sensitivity
)
streaming_true_negatives = _predictions_first("streaming_true_negatives", _metrics.true_negatives)
streaming_true_negatives_at_thresholds = _counted("true_negatives")
streaming_true_positives = _predictions_first("streaming_true_positives", _metrics.true_positives)
streaming_true_positives_at_thresholds = _counted("true_positives")
