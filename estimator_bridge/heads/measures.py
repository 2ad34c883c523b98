"""What heads measure, said once for both kinds of metrics: tf_keras's and tf.compat.v1.metrics.

The two kinds round differently in a few places, as they did in the original: the area under a curve
is interpolated by tf_keras and taken by trapezoids in v1, and a probability that equals a threshold
counts as positive in v1's accuracy alone.
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
      name: of the metric, without the head's.
      kind: "mean", "accuracy", "precision", "recall", "auc" or "baseline" (the accuracy of naming
        the more frequent of two classes every time).
      of: which of a batch's tensors it looks at: the values of a mean, the labels of a baseline,
        labels and predictions of the others.
      threshold: above which a prediction counts as positive; None where predictions are classes.
      curve: of an auc, "ROC" or "PR".
      is_weighted: whether examples count by their weights.
    """

    name: str
    kind: str
    of: tuple[str, ...]
    threshold: float | None = None
    curve: str = "ROC"
    is_weighted: bool = True


def at_thresholds(thresholds: Iterable[float], predictions: str) -> list[Measure]:
    """Accuracy, precision and recall of probabilities, at each threshold.

    Args:
      thresholds: numbers between 0 and 1.
      predictions: which of a batch's tensors the probabilities are.

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
    """Makes a tf_keras metric, still without a value."""
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
    made = {"precision": metrics.Precision, "recall": metrics.Recall}[measure.kind]
    return made(name=name, thresholds=threshold)


def update_keras_metric(
    metric: Any, measure: Measure, batch: Mapping[str, tf.Tensor], weights: tf.Tensor | None
) -> None:
    """Adds a batch to a metric of `keras_metric`.

    Args:
      metric: the metric.
      measure: what it was made of.
      batch: the tensors that measures look at, by name.
      weights: of the examples, broadcastable to the tensors; None where all count the same.
    """
    values = [batch[name] for name in measure.of]
    weighed = broadcast(weights, values[-1]) if measure.is_weighted else None
    if len(values) == 1:
        metric.update_state(tf.cast(values[0], tf.float32), sample_weight=weighed)
    else:
        metric.update_state(y_true=values[0], y_pred=values[1], sample_weight=weighed)


@functools.cache
def _baseline_class() -> type:
    """The class is made when it is first needed: tf_keras is slow to import."""
    from tf_keras import metrics

    class AccuracyBaseline(metrics.Mean):
        """The share of the more frequent of the labels 0 and 1, from their mean."""

        # tf_keras wraps a function around the updates of metrics that are not of its own modules.
        __module__ = metrics.Mean.__module__

        def result(self) -> tf.Tensor:
            more = tf.maximum(self.total, self.count - self.total)
            return tf.math.divide_no_nan(more, self.count)

    return AccuracyBaseline


def v1_metric(
    measure: Measure, batch: Mapping[str, tf.Tensor], weights: tf.Tensor | None
) -> tuple[tf.Tensor, Any]:
    """Makes a metric of a batch's tensors, as ``tf.compat.v1.metrics`` does.

    Args:
      measure: what it is.
      batch: the tensors that measures look at, by name.
      weights: of the examples, broadcastable to the tensors; None where all count the same.

    Returns:
      The value, and the operation that adds the batch to it.
    """
    name = measure.name
    values = [batch[of] for of in measure.of]
    weighed = broadcast(weights, values[-1]) if measure.is_weighted else None
    if measure.kind in ("mean", "baseline"):
        value, update = _v1.metrics.mean(tf.cast(values[0], tf.float32), weighed, name=name)
        if measure.kind == "baseline":
            return tf.maximum(value, 1.0 - value), tf.maximum(update, 1.0 - update)
        return value, update
    labels, predictions = values
    if measure.kind == "auc":
        return _v1.metrics.auc(labels, predictions, weighed, curve=measure.curve, name=name)
    if measure.threshold is not None and measure.kind == "accuracy":
        predictions = tf.cast(predictions >= measure.threshold, tf.float32)
    elif measure.threshold is not None:
        metric = {
            "precision": _v1.metrics.precision_at_thresholds,
            "recall": _v1.metrics.recall_at_thresholds,
        }[measure.kind]
        value, update = metric(labels, predictions, (measure.threshold,), weighed, name=name)
        return tf.squeeze(value), tf.squeeze(update)
    metric = {
        "accuracy": _v1.metrics.accuracy,
        "precision": _v1.metrics.precision,
        "recall": _v1.metrics.recall,
    }[measure.kind]
    return metric(labels, predictions, weighed, name=name)
