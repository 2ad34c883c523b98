"""Target columns of tf.contrib.layers: the loss, predictions and metrics of a kind of label."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics import (
    streaming_accuracy,
    streaming_auc,
    streaming_mean,
    streaming_precision_at_thresholds,
    streaming_recall_at_thresholds,
)

__all__ = ["multi_class_target", "regression_target"]

v1 = tf.compat.v1
_CLASSIFICATION, _REGRESSION = 1, 2  # tf.contrib.learn.ProblemType
_THRESHOLD = 0.5


def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> _Target:
    """Makes a column of numbers, with the squared error as its loss.

    Args:
      label_name: the key of the labels, if they are a dict.
      weight_column_name: the key of the examples' weights in the features.
      label_dimension: the number of numbers per example.
    """
    return _Regression(label_name, weight_column_name, label_dimension, _REGRESSION)


def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> _Target:
    """Makes a column of classes, with the cross entropy as its loss.

    Args:
      n_classes: the number of classes.
      label_name: the key of the labels, if they are a dict.
      weight_column_name: the key of the examples' weights in the features.

    Raises:
      ValueError: there are fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification, got {n_classes}.")
    kind, columns = (_Binary, 1) if n_classes == 2 else (_MultiClass, n_classes)
    return kind(label_name, weight_column_name, columns, _CLASSIFICATION)


@dataclasses.dataclass(frozen=True)
class _Target:
    """A kind of labels, with its loss and metrics.

    Attributes:
      label_name: the key of the labels, or None.
      weight_column_name: the key of the weights, or None.
      num_label_columns: the number of logits per example.
      problem_type: 1 for classes, 2 for numbers.
    """

    label_name: str | None
    weight_column_name: str | None
    num_label_columns: int
    problem_type: int

    def get_weight_tensor(self, features: Mapping[str, Any]) -> Any:
        """Returns the examples' weights [batch], or None."""
        if not self.weight_column_name:
            return None
        if self.weight_column_name not in features:
            raise KeyError(
                f"The features have no weights {self.weight_column_name!r}, only "
                f"{sorted(features)}."
            )
        return tf.reshape(tf.cast(features[self.weight_column_name], tf.float32), [-1])

    def loss(self, logits: Any, target: Any, features: Mapping[str, Any]) -> tf.Tensor:
        """Returns the weighted mean of the examples' losses."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        return tf.divide(tf.reduce_sum(losses * weights), tf.reduce_sum(weights), name="loss")

    def training_loss(
        self, logits: Any, target: Any, features: Mapping[str, Any], name: str = "training_loss"
    ) -> tf.Tensor:
        """Returns the mean of the examples' weighted losses."""
        losses, weights = self._losses(logits, target, features)
        return tf.reduce_mean(losses if weights is None else losses * weights, name=name)

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> tf.Tensor:
        """Returns predictions; with ``proba``, probabilities of classes."""
        raise NotImplementedError

    def get_eval_ops(
        self,
        features: Mapping[str, Any],
        logits: Any,
        labels: Any,
        metrics: Mapping[Any, Callable[..., Any]] | None = None,
    ) -> dict[Any, Any]:
        """Returns metrics, pairs of a value and an update, by name.

        Args:
          features: features, with the weights.
          logits: [batch, num_label_columns].
          labels: the labels.
          metrics: functions of predictions, labels and, if they take them, ``weights``, by name. Of
            classes, a name can be a pair with "classes" or "probabilities".
        """
        labels = self._of(labels)
        weights = self.get_weight_tensor(features)
        results = {"loss": streaming_mean(self.loss(logits, labels, features))}
        results.update(self._own_metrics(logits, labels))
        for name, metric in (self._default_metrics() if metrics is None else metrics).items():
            key, predictions = self._predictions_for(name, logits)
            results[key] = _measured(metric, predictions, labels, weights)
        return results

    def _of(self, labels: Any) -> Any:
        if self.label_name is not None and isinstance(labels, Mapping):
            labels = labels[self.label_name]
        return tf.convert_to_tensor(labels)

    def _losses(self, logits: Any, target: Any, features: Mapping[str, Any]) -> tuple[Any, Any]:
        losses = self._loss_of_examples(logits, self._of(target))
        weights = self.get_weight_tensor(features)
        return (losses if weights is None else tf.reshape(losses, [-1])), weights

    def _loss_of_examples(self, logits: Any, labels: tf.Tensor) -> tf.Tensor:
        raise NotImplementedError

    def _own_metrics(self, logits: Any, labels: tf.Tensor) -> dict[str, Any]:
        del logits, labels
        return {}

    def _default_metrics(self) -> Mapping[Any, Callable[..., Any]]:
        return {}

    def _predictions_for(self, name: Any, logits: Any) -> tuple[Any, Any]:
        return name, self.logits_to_predictions(logits)


class _Regression(_Target):
    def logits_to_predictions(self, logits: Any, proba: bool = False) -> tf.Tensor:
        """Returns the logits, [batch] if they are one number per example."""
        del proba
        return tf.squeeze(logits, [1]) if self.num_label_columns == 1 else logits

    def _loss_of_examples(self, logits: Any, labels: tf.Tensor) -> tf.Tensor:
        labels = _as_column(labels)
        logits.shape.assert_is_compatible_with(labels.shape)
        return tf.square(logits - tf.cast(labels, tf.float32))


class _MultiClass(_Target):
    def logits_to_predictions(self, logits: Any, proba: bool = False) -> tf.Tensor:
        """Returns the classes [batch], or their probabilities [batch, classes]."""
        logits = self._of_all_classes(logits)
        return tf.nn.softmax(logits) if proba else tf.argmax(logits, 1)

    def _of_all_classes(self, logits: Any) -> Any:
        return logits

    def _loss_of_examples(self, logits: Any, labels: tf.Tensor) -> tf.Tensor:
        labels = tf.squeeze(labels, [1]) if labels.shape.rank == 2 else labels
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def _default_metrics(self) -> Mapping[Any, Callable[..., Any]]:
        return {("accuracy", "classes"): streaming_accuracy}

    def _predictions_for(self, name: Any, logits: Any) -> tuple[Any, Any]:
        if not isinstance(name, tuple):
            return name, self.logits_to_predictions(logits)
        if len(name) != 2:
            raise ValueError(
                f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2."
            )
        if name[1] not in ("classes", "probabilities"):
            raise ValueError(
                f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' "
                "or 'probabilities'."
            )
        return name[0], self.logits_to_predictions(logits, proba=name[1] == "probabilities")


class _Binary(_MultiClass):
    def _of_all_classes(self, logits: Any) -> Any:
        return tf.concat([tf.zeros_like(logits), logits], 1)

    def _loss_of_examples(self, logits: Any, labels: tf.Tensor) -> tf.Tensor:
        labels = tf.cast(_as_column(labels), tf.float32)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _own_metrics(self, logits: Any, labels: tf.Tensor) -> dict[str, Any]:
        """Returns metrics without weights, as the original's are."""
        predicted, labels = tf.sigmoid(logits), tf.cast(_as_column(labels), tf.float32)
        is_above = tf.cast(predicted >= _THRESHOLD, tf.float32)
        metrics = {
            "labels/prediction_mean": streaming_mean(predicted),
            "labels/actual_target_mean": streaming_mean(labels),
            "accuracy/baseline_target_mean": streaming_mean(labels),
            "auc": streaming_auc(predicted, labels),
            f"accuracy/threshold_{_THRESHOLD:f}_mean": streaming_accuracy(is_above, labels),
        }
        for name, metric in (
            ("precision", streaming_precision_at_thresholds),
            ("recall", streaming_recall_at_thresholds),
        ):
            value, update = metric(predicted, labels, [_THRESHOLD])
            key = f"{name}/positive_threshold_{_THRESHOLD:f}_mean"
            metrics[key] = tf.squeeze(value), update
        return metrics


def _as_column(labels: tf.Tensor) -> tf.Tensor:
    return tf.expand_dims(labels, 1) if labels.shape.rank == 1 else labels


def _measured(metric: Callable[..., Any], predictions: Any, labels: Any, weights: Any) -> Any:
    """Calls a metric, with weights if it takes them."""
    if weights is not None and "weights" in _parameters(metric):
        return metric(predictions, labels, weights=weights)
    return metric(predictions, labels)


def _parameters(function: Callable[..., Any]) -> Any:
    return inspect.signature(function).parameters
