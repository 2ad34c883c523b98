"""The head for any number of classes per example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.arguments import (
    check_prediction_keys,
    check_reduction,
    check_vocabulary,
    parse_thresholds,
)
from estimator_bridge.heads.class_predictions import classify_signatures
from estimator_bridge.heads.head_metrics import Measure, at_thresholds
from estimator_bridge.heads.keys import MetricKeys, PredictionKeys
from estimator_bridge.heads.labels import all_classes, check_range, class_ids_of
from estimator_bridge.heads.shapes import check_labels, check_logits
from estimator_bridge.heads.single_objective import Batch, SingleHead
from estimator_bridge.model import ExportOutput

__all__ = ["MultiLabelHead"]

_KEYS = (PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES, PredictionKeys.CLASSES)


class MultiLabelHead(SingleHead):
    """The head of a model with any number of classes per example.

    The loss of an example is the mean of its classes' sigmoid cross entropies. Logits have shape
    [D0, ..., DN, n_classes]. Labels are a multi-hot tensor of the same shape, or a SparseTensor of
    shape [D0, ..., DN, any] that lists each example's classes, by number or by name.

    Args:
      n_classes: number of classes, at least 2.
      weight_column: the name of the feature with the examples' weights, or a numeric_column;
        weights have shape [D0, ..., DN] or [D0, ..., DN, 1].
      thresholds: probabilities at which accuracy, precision and recall are measured.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: "sum_over_batch_size" (the mean of the weighted losses over the batch), "sum",
        or "auto", which means "sum_over_batch_size".
      loss_fn: takes labels as a multi-hot tensor and logits, and features or loss_reduction if it
        names them; returns the losses of all examples, [D0, ..., DN, 1].
      classes_for_class_based_metrics: numbers or names of classes that get their own metrics.
      name: appended to the names of metrics and summaries, after a slash.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., tf.Tensor] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ):
        if n_classes is None or n_classes < 2:
            raise ValueError(
                "n_classes must be > 1 for multi-label classification. Given: "
                f"{n_classes}. For a single class, use BinaryClassHead."
            )
        check_reduction(loss_reduction)
        super().__init__(n_classes, 1, weight_column, loss_reduction, loss_fn, name)
        self._thresholds = parse_thresholds(thresholds)
        self._n_classes = n_classes  # this name, for subclasses in libraries
        self._label_vocabulary = check_vocabulary(
            label_vocabulary, n_classes, "must be a list or tuple"
        )
        self._single_classes = _class_numbers(
            classes_for_class_based_metrics, self._label_vocabulary, n_classes
        )

    def processed_labels(self, labels: Any, logits: tf.Tensor) -> tf.Tensor:
        """Converts labels to a multi-hot tensor, [D0, ..., DN, n_classes]."""
        n_classes = self.logits_dimension
        if labels is None:
            return check_labels(labels, logits, n_classes)  # raises with advice
        labels = tf.compat.v1.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, tf.SparseTensor):
            numbers = labels.with_values(self._numbers(labels.values))
            labels = tf.cast(tf.sparse.to_indicator(numbers, n_classes), tf.int64)
        else:
            message = "labels must be an integer indicator Tensor with values in [0, 1]"
            labels = check_range(labels, 2, message)
        return check_labels(labels, logits, n_classes)

    def _numbers(self, values: tf.Tensor) -> tf.Tensor:
        n_classes = self.logits_dimension
        if values.dtype == tf.string:
            if self._label_vocabulary is None:
                raise ValueError(
                    "Labels are strings, and the head has no label_vocabulary. Pass the names of "
                    f"its {n_classes} classes."
                )
            values = class_ids_of(values, self._label_vocabulary)
        elif not values.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {values.dtype}. A SparseTensor of "
                "labels lists the numbers of each example's classes, or their names."
            )
        message = f"labels must be an integer SparseTensor with values in [0, {n_classes})"
        return check_range(values, n_classes, message)

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns the mean of the classes' sigmoid cross entropies, [D0, ..., DN, 1]."""
        labels = tf.cast(labels, logits.dtype)
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(losses, axis=-1, keepdims=True)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """Predicts the probabilities and names of all classes; see `Head`."""
        requested_keys = check_prediction_keys(keys, _KEYS)
        logits = check_logits(logits, self.logits_dimension)
        predictions: dict[Any, tf.Tensor] = {}
        with tf.name_scope("predictions"):
            if PredictionKeys.LOGITS in requested_keys:
                predictions[PredictionKeys.LOGITS] = logits
            if PredictionKeys.PROBABILITIES in requested_keys:
                predictions[PredictionKeys.PROBABILITIES] = tf.sigmoid(
                    logits, name=PredictionKeys.PROBABILITIES
                )
            if PredictionKeys.CLASSES in requested_keys:
                predictions[PredictionKeys.CLASSES] = all_classes(
                    logits, self.logits_dimension, self._label_vocabulary
                )
        return predictions

    def measures(self) -> list[Measure]:
        """Lists the metrics of all classes together, and of single classes."""
        both = ("labels", "probabilities")
        measures = [
            Measure(MetricKeys.LOSS_MEAN, "mean", ("losses",)),
            Measure(MetricKeys.AUC, "auc", both),
            Measure(MetricKeys.AUC_PR, "auc", both, curve="PR"),
            *at_thresholds(self._thresholds, "probabilities"),
        ]
        for number in self._single_classes:
            names = _names_of_class(number, self._label_vocabulary)
            labels, probabilities = f"labels_{number}", f"probabilities_{number}"
            measures += [
                Measure(names[0], "mean", (probabilities,)),
                Measure(names[1], "auc", (labels, probabilities)),
                Measure(names[2], "auc", (labels, probabilities), curve="PR"),
            ]
        return measures

    def observed(self, batch: Batch) -> dict[str, tf.Tensor]:
        """Returns the input tensors of `measures`."""
        keys = [PredictionKeys.PROBABILITIES]
        probabilities = self.predictions(batch.logits, keys)[PredictionKeys.PROBABILITIES]
        tensors = {
            "losses": batch.losses,
            "labels": batch.labels,
            "probabilities": probabilities,
        }
        for number in self._single_classes:
            tensors[f"labels_{number}"] = batch.labels[..., number : number + 1]
            tensors[f"probabilities_{number}"] = probabilities[..., number : number + 1]
        return tensors

    def export_outputs(self, predictions: Mapping[str, tf.Tensor]) -> dict[str, ExportOutput]:
        """Makes a classifier's signatures; scores do not sum to 1."""
        return classify_signatures(predictions, self.logits_dimension, self._label_vocabulary)


def _class_numbers(
    classes: Sequence[Any] | None, vocabulary: Sequence[str] | None, n_classes: int
) -> tuple[int, ...]:
    classes = tuple(classes or ())
    if classes and isinstance(classes[0], str):
        if not vocabulary:
            raise ValueError(
                "label_vocabulary must be provided when classes_for_class_based_metrics are "
                f"strings. Given: {classes}."
            )
        for name in classes:
            if name not in vocabulary:
                raise ValueError(
                    f"{name!r} is not in list label_vocabulary, and is one of "
                    f"classes_for_class_based_metrics. The list is {list(vocabulary)}."
                )
        return tuple(list(vocabulary).index(name) for name in classes)
    for number in classes:
        if not 0 <= number < n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. "
                f"Given: {number}."
            )
    return classes


def _names_of_class(number: int, vocabulary: Sequence[str] | None) -> tuple[str, str, str]:
    """Returns the metric names of a class: its mean probability, and the areas under two curves."""
    if vocabulary is None:
        return (
            MetricKeys.PROBABILITY_MEAN_AT_CLASS % number,
            MetricKeys.AUC_AT_CLASS % number,
            MetricKeys.AUC_PR_AT_CLASS % number,
        )
    name = vocabulary[number]
    return (
        MetricKeys.PROBABILITY_MEAN_AT_NAME % name,
        MetricKeys.AUC_AT_NAME % name,
        MetricKeys.AUC_PR_AT_NAME % name,
    )
