"""Heads for two classes, by logistic regression or as a support vector machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.heads import head_losses, head_metrics
from estimator_bridge_contrib.learn.heads.base import HeadOptions, SingleHead, as_classes
from estimator_bridge_contrib.learn.keys import MetricKey, PredictionKey, ProblemType

__all__ = ["BinaryLogisticHead", "BinarySvmHead"]

DEFAULT_THRESHOLDS = (0.5,)


class BinaryLogisticHead(SingleHead):
    """Predicts the probability of the second of two classes.

    Args:
      thresholds: probabilities from which the second class is predicted, for metrics.
      loss_fn: the loss; by default the log loss.
      options: the arguments that all heads have.
    """

    default_scope = "binary_logistic_head"

    def __init__(
        self,
        thresholds: Sequence[float] | None,
        loss_fn: head_losses.Loss | None,
        options: HeadOptions,
    ):
        loss_fn = loss_fn or head_losses.log_loss
        super().__init__(1, ProblemType.LOGISTIC_REGRESSION, loss_fn, options)
        self._thresholds = thresholds or DEFAULT_THRESHOLDS

    def _predictions(self, logits: tf.Tensor) -> dict[str, Any]:
        both = _both(logits)
        key = PredictionKey
        return {
            key.LOGITS: logits,
            key.LOGISTIC: tf.sigmoid(logits, name=key.LOGISTIC),
            key.PROBABILITIES: tf.nn.softmax(both, name=key.PROBABILITIES),
            key.CLASSES: tf.argmax(both, 1, name=key.CLASSES),
        }

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[Any, Any]:
        return as_classes(self.head_name, self._problem_type, predictions)

    def _metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        probabilities = predictions[PredictionKey.LOGISTIC]
        metrics = {
            MetricKey.ACCURACY: head_metrics.accuracy(
                labels, predictions[PredictionKey.CLASSES], weights
            ),
            MetricKey.PREDICTION_MEAN: head_metrics.mean(probabilities, weights),
            MetricKey.LABEL_MEAN: head_metrics.mean(labels, weights),
            MetricKey.ACCURACY_BASELINE: head_metrics.mean(labels, weights),
            MetricKey.AUC: head_metrics.area_under_curve(probabilities, labels, weights),
            MetricKey.AUC_PR: head_metrics.area_under_curve(
                probabilities, labels, weights, curve="PR"
            ),
        }
        for threshold in self._thresholds:
            metrics.update(head_metrics.at_threshold(probabilities, labels, weights, threshold))
        return metrics


class BinarySvmHead(SingleHead):
    """Predicts one of two classes by the sign of the logit, with the hinge loss.

    Args:
      options: the arguments that all heads have.
    """

    default_scope = "binary_svm_head"

    def __init__(self, options: HeadOptions):
        super().__init__(1, ProblemType.LOGISTIC_REGRESSION, head_losses.hinge, options)

    def _predictions(self, logits: tf.Tensor) -> dict[str, Any]:
        classes = tf.argmax(_both(logits), 1, name=PredictionKey.CLASSES)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        return {MetricKey.ACCURACY: head_metrics.accuracy(labels, classes, weights)}


def _both(logits: tf.Tensor) -> tf.Tensor:
    """Returns logits [batch, 2]: the first class has 0."""
    return tf.concat([tf.zeros_like(logits), logits], 1)
