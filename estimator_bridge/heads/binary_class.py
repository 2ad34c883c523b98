"""The head for two classes."""

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
from estimator_bridge.heads.class_predictions import class_predictions, classify_signatures
from estimator_bridge.heads.head_metrics import Measure, at_thresholds
from estimator_bridge.heads.keys import REGRESS_SIGNATURE, MetricKeys, PredictionKeys
from estimator_bridge.heads.labels import check_range, class_ids_of
from estimator_bridge.heads.shapes import check_labels, check_logits
from estimator_bridge.heads.single_objective import Batch, SingleHead
from estimator_bridge.model import ExportOutput, RegressionOutput

__all__ = ["BinaryClassHead"]

_KEYS = (
    PredictionKeys.LOGITS,
    PredictionKeys.LOGISTIC,
    PredictionKeys.PROBABILITIES,
    PredictionKeys.CLASS_IDS,
    PredictionKeys.CLASSES,
    PredictionKeys.ALL_CLASS_IDS,
    PredictionKeys.ALL_CLASSES,
)


class BinaryClassHead(SingleHead):
    """The head of a two-class model with sigmoid cross entropy.

    Logits have shape [D0, ..., DN, 1]. Labels have the same shape, or lack the last dimension; they
    are numbers between 0 and 1, or names from label_vocabulary.

    Args:
      weight_column: the name of the feature with the examples' weights, or a numeric_column;
        weights have shape [D0, ..., DN] or [D0, ..., DN, 1].
      thresholds: probabilities at which accuracy, precision and recall are also measured.
      label_vocabulary: the names of the classes 0 and 1, if labels are strings.
      loss_reduction: "sum_over_batch_size" (the mean of the weighted losses over the batch), "sum",
        or "auto", which means "sum_over_batch_size".
      loss_fn: takes labels and logits, and features or loss_reduction if it names them; returns
        the losses of all examples, [D0, ..., DN, 1].
      name: appended to the names of metrics and summaries, after a slash.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., tf.Tensor] | None = None,
        name: str | None = None,
    ):
        check_reduction(loss_reduction)
        super().__init__(1, 1, weight_column, loss_reduction, loss_fn, name)
        self._label_vocabulary = check_vocabulary(label_vocabulary)
        self._thresholds = parse_thresholds(thresholds)

    def processed_labels(self, labels: Any, logits: tf.Tensor) -> tf.Tensor:
        """Converts labels to floats, [D0, ..., DN, 1]."""
        labels = check_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = class_ids_of(labels, self._label_vocabulary)
        elif labels.dtype == tf.string:
            raise ValueError(
                "Labels are strings, and the head has no label_vocabulary. Pass the names of the "
                "two classes: label_vocabulary=['no', 'yes']."
            )
        return check_range(tf.cast(labels, tf.float32), n_classes=2, must=self.must)

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns sigmoid cross entropies."""
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """Predicts the probabilities ("logistic" is that of class 1) and classes; see `Head`."""
        requested_keys = check_prediction_keys(keys, _KEYS)
        logits = check_logits(logits, 1)
        predictions: dict[Any, tf.Tensor] = {}
        with tf.name_scope("predictions"):
            if PredictionKeys.LOGITS in requested_keys:
                predictions[PredictionKeys.LOGITS] = logits
            if PredictionKeys.LOGISTIC in requested_keys:
                predictions[PredictionKeys.LOGISTIC] = tf.sigmoid(
                    logits, name=PredictionKeys.LOGISTIC
                )
            of_both = tf.concat([tf.zeros_like(logits), logits], axis=-1, name="two_class_logits")
            predictions.update(
                class_predictions(of_both, 2, self._label_vocabulary, requested_keys)
            )
        return predictions

    def measures(self) -> list[Measure]:
        """Lists the metrics of a two-class classifier."""
        by_class, by_probability = ("labels", "class_ids"), ("labels", "logistic")
        return [
            Measure(MetricKeys.LOSS_MEAN, "mean", ("losses",)),
            Measure(MetricKeys.ACCURACY, "accuracy", by_class),
            Measure(MetricKeys.PRECISION, "precision", by_class),
            Measure(MetricKeys.RECALL, "recall", by_class),
            Measure(MetricKeys.PREDICTION_MEAN, "mean", ("logistic",)),
            Measure(MetricKeys.LABEL_MEAN, "mean", ("labels",)),
            Measure(MetricKeys.ACCURACY_BASELINE, "baseline", ("labels",)),
            Measure(MetricKeys.AUC, "auc", by_probability),
            Measure(MetricKeys.AUC_PR, "auc", by_probability, curve="PR"),
            *at_thresholds(self._thresholds, "logistic"),
        ]

    def observed(self, batch: Batch) -> dict[str, tf.Tensor]:
        """Returns the input tensors of `measures`."""
        keys = (PredictionKeys.LOGISTIC, PredictionKeys.CLASS_IDS)
        predictions = self.predictions(batch.logits, keys)
        return {
            "losses": batch.losses,
            "labels": batch.labels,
            "logistic": predictions[PredictionKeys.LOGISTIC],
            "class_ids": predictions[PredictionKeys.CLASS_IDS],
        }

    def export_outputs(self, predictions: Mapping[str, tf.Tensor]) -> dict[str, ExportOutput]:
        """Makes a classifier's signatures, and "regression": the probability of class 1."""
        probability = RegressionOutput(value=predictions[PredictionKeys.LOGISTIC])
        signatures = classify_signatures(predictions, 2, self._label_vocabulary)
        return {**signatures, REGRESS_SIGNATURE: probability}
