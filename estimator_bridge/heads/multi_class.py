"""The head for three or more classes, one per example."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.arguments import (
    check_n_classes,
    check_prediction_keys,
    check_reduction,
    check_vocabulary,
)
from estimator_bridge.heads.class_predictions import class_predictions, classify_signatures
from estimator_bridge.heads.head_metrics import Measure
from estimator_bridge.heads.keys import MetricKeys, PredictionKeys
from estimator_bridge.heads.labels import check_range, class_ids_of
from estimator_bridge.heads.shapes import check_labels, check_logits
from estimator_bridge.heads.single_objective import Batch, SingleHead
from estimator_bridge.model import ExportOutput

__all__ = ["MultiClassHead"]

_KEYS = (
    PredictionKeys.LOGITS,
    PredictionKeys.PROBABILITIES,
    PredictionKeys.CLASS_IDS,
    PredictionKeys.CLASSES,
    PredictionKeys.ALL_CLASS_IDS,
    PredictionKeys.ALL_CLASSES,
)


class MultiClassHead(SingleHead):
    """The head of a model with one of several classes per example and cross entropy.

    Logits have shape [D0, ..., DN, n_classes]. Labels have shape [D0, ..., DN, 1] or [D0, ..., DN];
    they are class numbers, or names from label_vocabulary.

    Args:
      n_classes: number of classes, at least 3.
      weight_column: the name of the feature with the examples' weights, or a numeric_column;
        weights have shape [D0, ..., DN] or [D0, ..., DN, 1].
      label_vocabulary: the names of the classes, if labels are strings.
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
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., tf.Tensor] | None = None,
        name: str | None = None,
    ):
        check_reduction(loss_reduction)
        n_classes = check_n_classes(n_classes)
        super().__init__(n_classes, 1, weight_column, loss_reduction, loss_fn, name)
        self._n_classes = n_classes  # this name, for subclasses in libraries
        self._label_vocabulary = check_vocabulary(label_vocabulary, n_classes)

    def processed_labels(self, labels: Any, logits: tf.Tensor) -> tf.Tensor:
        """Converts labels to class numbers, [D0, ..., DN, 1]."""
        labels = check_labels(labels, logits, 1)
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(
                    f"Labels dtype should be integer. Instead got {labels.dtype}. Labels are the "
                    "numbers of classes; for their names, pass label_vocabulary to the head."
                )
        elif labels.dtype != tf.string:
            raise ValueError(
                "Labels dtype should be string if there is a vocabulary. Instead got "
                f"{labels.dtype}. Leave label_vocabulary out if labels are class numbers."
            )
        else:
            labels = class_ids_of(labels, self._label_vocabulary)
        return check_range(labels, self.logits_dimension, must=self.must)

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns cross entropies, [D0, ..., DN, 1]."""
        numbers = tf.squeeze(labels, axis=-1)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=numbers, logits=logits)
        return tf.expand_dims(losses, axis=-1)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """Predicts the probabilities of all classes, and the most probable class; see `Head`."""
        requested_keys = check_prediction_keys(keys, _KEYS)
        n_classes = self.logits_dimension
        logits = check_logits(logits, n_classes)
        predictions = (
            {PredictionKeys.LOGITS: logits} if PredictionKeys.LOGITS in requested_keys else {}
        )
        with tf.name_scope("predictions"):
            predictions.update(
                class_predictions(logits, n_classes, self._label_vocabulary, requested_keys)
            )
        return predictions

    def measures(self) -> list[Measure]:
        """Lists the metrics of a classifier."""
        return [
            Measure(MetricKeys.LOSS_MEAN, "mean", ("losses",)),
            Measure(MetricKeys.ACCURACY, "accuracy", ("labels", "class_ids")),
        ]

    def observed(self, batch: Batch) -> dict[str, tf.Tensor]:
        """Returns the input tensors of `measures`."""
        class_ids = self.predictions(batch.logits, [PredictionKeys.CLASS_IDS])
        return {"losses": batch.losses, "labels": batch.labels, **class_ids}

    def export_outputs(self, predictions: Mapping[str, tf.Tensor]) -> dict[str, ExportOutput]:
        """Makes a classifier's signatures."""
        return classify_signatures(predictions, self.logits_dimension, self._label_vocabulary)
