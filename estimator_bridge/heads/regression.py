"""Heads for numeric labels: linear, logistic and Poisson regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.arguments import check_reduction
from estimator_bridge.heads.head_metrics import Measure
from estimator_bridge.heads.keys import (
    DEFAULT_SIGNATURE,
    PREDICT_SIGNATURE,
    REGRESS_SIGNATURE,
    MetricKeys,
    PredictionKeys,
)
from estimator_bridge.heads.labels import check_range
from estimator_bridge.heads.shapes import check_labels, check_logits
from estimator_bridge.heads.single_objective import Batch, SingleHead
from estimator_bridge.model import ExportOutput, PredictOutput, RegressionOutput

__all__ = ["LogisticRegressionHead", "PoissonRegressionHead", "RegressionHead"]


class RegressionHead(SingleHead):
    """The head of a model that predicts numbers, by default with the squared error.

    Logits and labels have shape [D0, ..., DN, label_dimension]; if label_dimension is 1, labels may
    lack the last dimension.

    Args:
      label_dimension: number of values per example.
      weight_column: the name of the feature with the examples' weights, or a numeric_column;
        weights have shape [D0, ..., DN], [D0, ..., DN, 1] or [D0, ..., DN, label_dimension].
      loss_reduction: "sum_over_batch_size" (the mean of the weighted losses over examples and
        dimensions), "sum", or "auto", which means "sum_over_batch_size".
      loss_fn: takes labels and logits, and features or loss_reduction if it names them; returns
        the losses, [D0, ..., DN, label_dimension].
      inverse_link_fn: maps logits to predictions, such as tf.exp in Poisson regression; by default
        the logits are the predictions.
      name: appended to the names of metrics and summaries, after a slash.

    Raises:
      ValueError: an argument is not valid.
    """

    _weighs_logits = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., tf.Tensor] | None = None,
        inverse_link_fn: Callable[[tf.Tensor], tf.Tensor] | None = None,
        name: str | None = None,
    ):
        if label_dimension < 1:
            raise ValueError(
                f"Invalid label_dimension {label_dimension}. It is the number of values per "
                "example, at least 1."
            )
        check_reduction(loss_reduction)
        super().__init__(
            label_dimension, label_dimension, weight_column, loss_reduction, loss_fn, name
        )
        self._inverse_link_fn = inverse_link_fn

    def processed_labels(self, labels: Any, logits: tf.Tensor) -> tf.Tensor:
        """Converts labels to floats, [D0, ..., DN, label_dimension]."""
        return tf.cast(check_labels(labels, logits, self.logits_dimension), tf.float32)

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns squared errors."""
        return tf.math.squared_difference(logits, labels)

    def predictions(self, logits: Any) -> dict[Any, tf.Tensor]:  # type: ignore[override]
        """Returns the predicted numbers; with inverse_link_fn also the logits. See `Head`."""
        logits = check_logits(logits, self.logits_dimension)
        with tf.name_scope("predictions"):
            if self._inverse_link_fn is None:
                return {PredictionKeys.PREDICTIONS: logits}
            return {
                PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits),
                PredictionKeys.LOGITS: logits,
            }

    def measures(self) -> list[Measure]:
        """Lists the metrics of a regression."""
        return [
            Measure(MetricKeys.LOSS_MEAN, "mean", ("losses",)),
            Measure(MetricKeys.PREDICTION_MEAN, "mean", ("predictions",)),
            Measure(MetricKeys.LABEL_MEAN, "mean", ("labels",)),
        ]

    def observed(self, batch: Batch) -> dict[str, tf.Tensor]:
        """Returns the input tensors of `measures`."""
        predictions = self.predictions(batch.logits)[PredictionKeys.PREDICTIONS]
        return {"losses": batch.losses, "labels": batch.labels, "predictions": predictions}

    def export_outputs(self, predictions: Mapping[str, tf.Tensor]) -> dict[str, ExportOutput]:
        """Makes the default, "regression" and "predict" signatures."""
        value = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SIGNATURE: value,
            REGRESS_SIGNATURE: value,
            PREDICT_SIGNATURE: PredictOutput(dict(predictions)),
        }


class PoissonRegressionHead(RegressionHead):
    """A `RegressionHead` for counts: logits are the logarithms of the predicted means.

    Args:
      label_dimension: number of values per example.
      weight_column: as in `RegressionHead`.
      loss_reduction: as in `RegressionHead`.
      compute_full_loss: whether the loss includes Stirling's approximation of log(label!), which
        does not depend on the weights; see ``tf.nn.log_poisson_loss``.
      name: appended to the names of metrics and summaries, after a slash.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        compute_full_loss: bool = True,
        name: str | None = None,
    ):
        super().__init__(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            inverse_link_fn=tf.exp,
            name=name,
        )
        self._compute_full_loss = compute_full_loss

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns Poisson losses, computed from the logarithms."""
        return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=self._compute_full_loss)


class LogisticRegressionHead(RegressionHead):
    """A `RegressionHead` for numbers between 0 and 1, with sigmoid cross entropy.

    The loss is that of `BinaryClassHead`; metrics, predictions and signatures are those of a
    regression.

    Args:
      weight_column: as in `RegressionHead`.
      loss_reduction: as in `RegressionHead`.
      name: appended to the names of metrics and summaries, after a slash.

    Raises:
      ValueError: an argument is not valid.
    """

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: str = "sum_over_batch_size",
        name: str | None = None,
    ):
        super().__init__(
            label_dimension=1,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            inverse_link_fn=tf.sigmoid,
            name=name,
        )

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns sigmoid cross entropies."""
        labels = check_range(labels, 2, "Labels must be in range [0, 1]")
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
