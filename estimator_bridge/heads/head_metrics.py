"""Heads' metrics, described once for both kinds: tf_keras metrics and tf.compat.v1.metrics.

The two kinds differ slightly, as in the original: tf_keras interpolates the area under a curve and
v1 uses trapezoids, and a probability equal to a threshold counts as positive only in v1's accuracy.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.keys import MetricKeys
from estimator_bridge.heads.weights import broadcast

__all__ = ["Measure", "at_thresholds", "keras_metric", "update_keras_metric", "v1_metric"]

_v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Measure:
    """One metric of a head.

    Attributes:
      name: name of the metric, without the head's.
      kind: "mean", "accuracy", "precision", "recall", "auc" or "baseline" (the accuracy of always
        predicting the more frequent of two classes).
      of: names of its input tensors: the values of a mean, the labels of a baseline, labels and
        predictions of the others.
      threshold: value above which a prediction is positive; None if predictions are classes.
      curve: curve of an auc, "ROC" or "PR".
      is_weighted: whether the examples' weights apply.
    """

    name: str
    kind: str
    of: tuple[str, ...]
    threshold: float | None = None
    curve: str = "ROC"
    is_weighted: bool = True


def at_thresholds(thresholds: Iterable[float], predictions: str) -> list[Measure]:
    """Describes accuracy, precision and recall at each threshold.

    Args:
      thresholds: numbers between 0 and 1.
      predictions: the name of the probabilities among a batch's tensors.

    Returns:
      The measures.
    """
    kinds = {
        "accuracy": MetricKeys.ACCURACY_AT_THRESHOLD,
        "precision": MetricKeys.PRECISION_AT_THRESHOLD,
        "recall": MetricKeys.RECALL_AT_THRESHOLD,
    }
    return [
        Measure(name % threshold, kind, ("labels", predictions), threshold=threshold)
        for threshold in thresholds
        for kind, name in kinds.items()
    ]


def keras_metric(measure: Measure) -> Any:
    """Makes a tf_keras metric."""
    from tf_keras import metrics

    name, threshold = measure.name, measure.threshold
    if measure.kind == "baseline":
        return _baseline_class()(name=name)
    if measure.kind == "mean":
        return metrics.Mean(name=name)
    if measure.kind == "auc":
        return metrics.AUC(curve=measure.curve, name=name)
    if measure.kind == "accuracy":
        if threshold is None:
            return metrics.Accuracy(name=name)
        return metrics.BinaryAccuracy(name=name, threshold=threshold)
    metric_class = {"precision": metrics.Precision, "recall": metrics.Recall}[measure.kind]
    return metric_class(name=name, thresholds=threshold)


def update_keras_metric(
    metric: Any, measure: Measure, batch: Mapping[str, tf.Tensor], weights: tf.Tensor | None
) -> None:
    """Updates a metric of `keras_metric` with a batch.

    Args:
      metric: the metric.
      measure: the metric's description.
      batch: the input tensors, by name.
      weights: weights of the examples, broadcastable to the tensors; None for equal weights.
    """
    values = [batch[name] for name in measure.of]
    sample_weight = broadcast(weights, values[-1]) if measure.is_weighted else None
    if len(values) == 1:
        metric.update_state(tf.cast(values[0], tf.float32), sample_weight=sample_weight)
    else:
        metric.update_state(y_true=values[0], y_pred=values[1], sample_weight=sample_weight)


@functools.cache
def _baseline_class() -> type:
    """Makes the class on first use: tf_keras is slow to import."""
    from tf_keras import metrics

    class AccuracyBaseline(metrics.Mean):
        """The share of the more frequent of the labels 0 and 1, computed from their mean."""

        # tf_keras wraps the updates of metrics outside of its own modules in a function.
        __module__ = metrics.Mean.__module__

        def result(self) -> tf.Tensor:
            majority = tf.maximum(self.total, self.count - self.total)
            return tf.math.divide_no_nan(majority, self.count)

    return AccuracyBaseline


def v1_metric(
    measure: Measure, batch: Mapping[str, tf.Tensor], weights: tf.Tensor | None
) -> tuple[tf.Tensor, Any]:
    """Makes a metric of a batch's tensors with ``tf.compat.v1.metrics``.

    Args:
      measure: the metric's description.
      batch: the input tensors, by name.
      weights: weights of the examples, broadcastable to the tensors; None for equal weights.

    Returns:
      The value, and the operation that updates it with the batch.
    """
    name = measure.name
    values = [batch[of] for of in measure.of]
    sample_weight = broadcast(weights, values[-1]) if measure.is_weighted else None
    if measure.kind in ("mean", "baseline"):
        value, update = _v1.metrics.mean(tf.cast(values[0], tf.float32), sample_weight, name=name)
        if measure.kind == "baseline":
            return tf.maximum(value, 1.0 - value), tf.maximum(update, 1.0 - update)
        return value, update
    labels, predictions = values
    if measure.kind == "auc":
        return _v1.metrics.auc(labels, predictions, sample_weight, curve=measure.curve, name=name)
    if measure.threshold is not None and measure.kind == "accuracy":
        predictions = tf.cast(predictions >= measure.threshold, tf.float32)
    elif measure.threshold is not None:
        metric = {
            "precision": _v1.metrics.precision_at_thresholds,
            "recall": _v1.metrics.recall_at_thresholds,
        }[measure.kind]
        value, update = metric(labels, predictions, (measure.threshold,), sample_weight, name=name)
        return tf.squeeze(value), tf.squeeze(update)
    metric = {
        "accuracy": _v1.metrics.accuracy,
        "precision": _v1.metrics.precision,
        "recall": _v1.metrics.recall,
    }[measure.kind]
    return metric(labels, predictions, sample_weight, name=name)
