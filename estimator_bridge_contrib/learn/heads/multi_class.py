"""Heads for several classes, of which an example has one, or any number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import lookup
from estimator_bridge_contrib.learn.heads import head_losses, head_metrics
from estimator_bridge_contrib.learn.heads.base import (
    HeadOptions,
    SingleHead,
    as_classes,
    dense_labels,
    labels_of,
)
from estimator_bridge_contrib.learn.keys import MetricKey, PredictionKey, ProblemType

__all__ = ["MultiClassHead", "MultiLabelHead"]

_v1 = tf.compat.v1


class MultiClassHead(SingleHead):
    """Predicts one of more than two classes.

    Args:
      n_classes: the number of classes.
      metric_class_ids: classes with metrics of their own.
      label_keys: the names of the classes, if labels are strings.
      loss_fn: the loss; by default softmax cross entropy.
      options: the arguments that all heads have.

    Raises:
      ValueError: n_classes is below 3, or does not fit the classes that are given.
    """

    default_scope = "multi_class_head"

    def __init__(
        self,
        n_classes: int,
        metric_class_ids: Sequence[int] | None,
        label_keys: Sequence[str] | None,
        loss_fn: head_losses.Loss | None,
        options: HeadOptions,
    ):
        loss_fn = loss_fn or head_losses.softmax_cross_entropy
        super().__init__(n_classes, ProblemType.CLASSIFICATION, self._loss_of_ids, options)
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._own_loss = loss_fn
        self._metric_class_ids = _checked_ids(metric_class_ids, n_classes)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError(
                f"Length of label_keys must equal n_classes. Got {len(label_keys)} and {n_classes}."
            )
        self._label_keys = list(label_keys) if label_keys else None

    def _loss_of_ids(self, labels: Any, logits: Any, weights: Any = None) -> Any:
        return self._own_loss(labels["label_ids"], logits, weights)

    def _prepared_labels(self, labels: Any) -> dict[str, Any]:
        dense = ids = dense_labels(labels, self.label_name)
        if self._label_keys:
            table = lookup.index_table_from_tensor(self._label_keys, name="label_id_lookup")
            ids = table.lookup(dense)
        return {"labels": dense, "label_ids": ids}

    def _predictions(self, logits: tf.Tensor) -> dict[str, Any]:
        key = PredictionKey
        classes = tf.argmax(logits, 1, name=key.CLASSES)
        if self._label_keys:
            table = lookup.index_to_string_table_from_tensor(
                self._label_keys, name="class_string_lookup"
            )
            classes = table.lookup(classes)
        probabilities = tf.nn.softmax(logits, name=key.PROBABILITIES)
        return {key.LOGITS: logits, key.PROBABILITIES: probabilities, key.CLASSES: classes}

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[Any, Any]:
        return as_classes(self.head_name, self._problem_type, predictions, self._label_keys)

    def _metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        metrics = {MetricKey.ACCURACY: head_metrics.accuracy(labels["labels"], classes, weights)}
        if self._label_keys:
            return metrics
        for class_id in self._metric_class_ids:
            own = {
                MetricKey.CLASS_PREDICTION_MEAN: head_metrics.share_of_class(
                    classes, weights, class_id
                ),
                MetricKey.CLASS_LABEL_MEAN: head_metrics.share_of_class(
                    labels["label_ids"], weights, class_id
                ),
                **_means(predictions, weights, class_id),
            }
            metrics.update(head_metrics.of_class(class_id, own))
        return metrics


class MultiLabelHead(SingleHead):
    """Predicts for each class whether an example has it.

    Args:
      n_classes: the number of classes.
      metric_class_ids: classes with metrics of their own.
      loss_fn: the loss; by default the sum of the classes' log losses.
      options: the arguments that all heads have.

    Raises:
      ValueError: metric_class_ids has an id that is no class.
    """

    default_scope = "multi_label_head"

    def __init__(
        self,
        n_classes: int,
        metric_class_ids: Sequence[int] | None,
        loss_fn: head_losses.Loss | None,
        options: HeadOptions,
    ):
        loss_fn = loss_fn or head_losses.sigmoid_cross_entropy
        super().__init__(n_classes, ProblemType.CLASSIFICATION, loss_fn, options)
        self._metric_class_ids = _checked_ids(metric_class_ids, n_classes)

    def _prepared_labels(self, labels: Any) -> Any:
        labels = _v1.convert_to_tensor_or_sparse_tensor(labels_of(labels, self.label_name))
        if not isinstance(labels, tf.SparseTensor):
            return labels
        return tf.cast(_v1.sparse_to_indicator(labels, self.logits_dimension), tf.int64)

    def _predictions(self, logits: tf.Tensor) -> dict[str, Any]:
        key = PredictionKey
        return {
            key.LOGITS: logits,
            key.PROBABILITIES: tf.sigmoid(logits, name=key.PROBABILITIES),
            key.CLASSES: tf.cast(tf.greater(logits, 0), tf.int64, name=key.CLASSES),
        }

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[Any, Any]:
        return as_classes(self.head_name, self._problem_type, predictions)

    def _metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        arguments = predictions[PredictionKey.PROBABILITIES], labels, weights
        area = head_metrics.area_under_curve
        metrics = {
            MetricKey.ACCURACY: head_metrics.accuracy(labels, classes, weights),
            MetricKey.AUC: area(*arguments),
            MetricKey.AUC_PR: area(*arguments, curve="PR"),
        }
        for class_id in self._metric_class_ids:
            own = {
                MetricKey.CLASS_PREDICTION_MEAN: head_metrics.mean(classes, weights, class_id),
                MetricKey.CLASS_LABEL_MEAN: head_metrics.mean(labels, weights, class_id),
                **_means(predictions, weights, class_id),
                MetricKey.CLASS_AUC: area(*arguments, class_id),
                MetricKey.CLASS_AUC_PR: area(*arguments, class_id, curve="PR"),
            }
            metrics.update(head_metrics.of_class(class_id, own))
        return metrics


def _means(predictions: Mapping[str, Any], weights: Any, class_id: int) -> dict[str, Any]:
    named = {
        MetricKey.CLASS_PROBABILITY_MEAN: predictions[PredictionKey.PROBABILITIES],
        MetricKey.CLASS_LOGITS_MEAN: predictions[PredictionKey.LOGITS],
    }
    return {key: head_metrics.mean(values, weights, class_id) for key, values in named.items()}


def _checked_ids(class_ids: Sequence[int] | None, n_classes: int) -> tuple[int, ...]:
    for class_id in class_ids or ():
        if not 0 <= class_id < n_classes:
            raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
    return tuple(class_ids or ())
