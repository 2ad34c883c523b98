"""LogisticRegressor: an estimator of a model_fn, with the metrics of two classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import metrics as streaming
from estimator_bridge_contrib.learn.configuration import ModeKeys
from estimator_bridge_contrib.learn.estimator import Estimator
from estimator_bridge_contrib.learn.keys import MetricKey, ProblemType
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["LogisticRegressor"]

_DEFAULT_THRESHOLDS = (0.5,)


def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    feature_engineering_fn: Callable[..., Any] | None = None,
) -> Estimator:
    """Makes an estimator of a model for two classes, with metrics.

    Args:
      model_fn: a function of features, labels and mode that returns a tuple (predictions, loss,
        train_op); predictions are probabilities of the second class.
      thresholds: probabilities from which the second class is predicted, for metrics; by default
        0.5.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
    """

    def with_metrics(
        features: Any, labels: Any, mode: str, params: Mapping[str, Any]
    ) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            used = params["thresholds"] or _DEFAULT_THRESHOLDS
            metrics = _metrics(labels, predictions, used)
        head = ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions}
        return ModelFnOps(mode, predictions, loss, train_op, metrics, {"head": head})

    params = {"thresholds": thresholds}
    return Estimator(with_metrics, model_dir, config, params, feature_engineering_fn)


def _metrics(labels: Any, predictions: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    if isinstance(labels, Mapping) and len(labels) == 1:
        (labels,) = labels.values()
    metrics = {
        MetricKey.PREDICTION_MEAN: streaming.streaming_mean(predictions),
        MetricKey.LABEL_MEAN: streaming.streaming_mean(labels),
        MetricKey.ACCURACY_BASELINE: streaming.streaming_mean(labels),
        MetricKey.AUC: streaming.streaming_auc(labels=labels, predictions=predictions),
    }
    for threshold in thresholds:
        name = f"predictions_at_threshold_{threshold:f}"
        predicted = tf.cast(tf.greater_equal(predictions, threshold), tf.float32, name=name)
        tensors = {"labels": labels, "predictions": predicted}
        metrics[MetricKey.ACCURACY_MEAN % threshold] = streaming.streaming_accuracy(**tensors)
        metrics[MetricKey.PRECISION_MEAN % threshold] = streaming.streaming_precision(**tensors)
        metrics[MetricKey.RECALL_MEAN % threshold] = streaming.streaming_recall(**tensors)
    return metrics
