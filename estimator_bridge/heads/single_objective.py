"""The base class of heads with one objective."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.heads.arguments import check_loss_fn
from estimator_bridge.heads.base import Head
from estimator_bridge.heads.head_metrics import Measure, keras_metric, update_keras_metric
from estimator_bridge.heads.head_train_op import keras_train_op, write_summaries
from estimator_bridge.heads.keys import MetricKeys
from estimator_bridge.heads.losses import (
    call_loss_fn,
    keras_reduced,
    regularized,
    total_regularization,
)
from estimator_bridge.heads.shapes import check_logits
from estimator_bridge.heads.weights import example_weights
from estimator_bridge.model import ExportOutput, ModeKeys, TPUEstimatorSpec

__all__ = ["REGULARIZATION", "Batch", "SingleHead"]

REGULARIZATION = Measure(
    MetricKeys.LOSS_REGULARIZATION, "mean", ("regularization",), is_weighted=False
)


class Batch(NamedTuple):
    """Checked labels, logits and weights, with the losses before any reduction."""

    labels: tf.Tensor  # numbers, with their last dimension
    logits: tf.Tensor  # floats [D0, ..., DN, logits_dimension]
    losses: tf.Tensor  # one per label
    weights: tf.Tensor | None  # broadcastable to the losses


class SingleHead(Head):
    """A head of one objective. A subclass defines its labels, losses and predictions.

    Both versions of heads build on it: the V2 heads are its subclasses, and a `V1Head` contains
    one.

    Args:
      logits_dimension: number of logits per example.
      loss_dimension: number of losses per example.
      weight_column: the name of the feature with the examples' weights, or a numeric_column.
      loss_reduction: "sum_over_batch_size", "sum", or "auto", which means "sum_over_batch_size".
      loss_fn: a loss function that replaces the head's own.
      name: name of the head.

    Raises:
      ValueError: loss_fn takes arguments that a head cannot provide.
    """

    # Whether each logit may have its own weight.
    _weighs_logits = False
    # The verb in errors about labels, see `check_range`.
    must = "must be"

    def __init__(
        self,
        logits_dimension: Any,
        loss_dimension: int,
        weight_column: Any,
        loss_reduction: str,
        loss_fn: Callable[..., tf.Tensor] | None,
        name: str | None,
    ):
        self._logits_dimension = logits_dimension
        self._loss_dimension = loss_dimension
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = check_loss_fn(loss_fn)
        self._name = name

    @property
    def name(self) -> str | None:
        """The head's name, or None."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """The number of logits per example."""
        return self._logits_dimension

    @property
    def loss_reduction(self) -> str:
        """The reduction of a batch's losses."""
        return self._loss_reduction

    @abc.abstractmethod
    def processed_labels(self, labels: Any, logits: tf.Tensor) -> tf.Tensor:
        """Converts labels to numbers and checks them against logits."""

    @abc.abstractmethod
    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns the head's own losses, [D0, ..., DN, loss_dimension]."""

    @abc.abstractmethod
    def measures(self) -> list[Measure]:
        """Lists the head's metrics, except for regularization."""

    @abc.abstractmethod
    def observed(self, batch: Batch) -> dict[str, tf.Tensor]:
        """Returns the input tensors of `measures`, by name."""

    @abc.abstractmethod
    def export_outputs(self, predictions: Mapping[str, tf.Tensor]) -> dict[str, ExportOutput]:
        """Makes the signatures of a served model."""

    def batch(self, labels: Any, logits: Any, features: Mapping[str, Any] | None) -> Batch:
        """Checks a batch's labels, logits and weights, and computes the losses.

        Args:
          labels: as input_fn returned them.
          logits: output of the model's last layer.
          features: features by name, for weights and loss_fn.

        Returns:
          The checked tensors, and the loss of each label.

        Raises:
          ValueError: a tensor is missing or has a wrong shape, or weights are not numeric.
        """
        logits = check_logits(logits, self.logits_dimension)
        labels = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, labels, features)
        return Batch(labels, logits, losses, weights)

    # The next two have the original's names, since libraries' subclasses call and override them.
    def _processed_labels(self, logits: tf.Tensor, labels: Any) -> tf.Tensor:
        return self.processed_labels(labels, logits)

    def _unweighted_loss_and_weights(
        self, logits: tf.Tensor, labels: tf.Tensor, features: Mapping[str, Any] | None
    ) -> tuple[tf.Tensor, tf.Tensor | None]:
        if self._loss_fn:
            losses = call_loss_fn(
                self._loss_fn, labels, logits, features, self._loss_dimension, self._loss_reduction
            )
        else:
            losses = self.own_losses(labels, logits)
        weights = example_weights(features, self._weight_column, logits, self._weighs_logits)
        return losses, weights

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Computes the loss of a batch, a scalar; see `Head`."""
        del mode  # the same in all modes
        with tf.name_scope("losses"):
            batch = self.batch(labels, logits, features)
            loss = keras_reduced(batch.losses, batch.weights, self._loss_reduction)
            return regularized(
                loss, total_regularization(regularization_losses), self._loss_reduction
            )

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> dict[str, Any]:
        """Makes the head's tf_keras metrics, by name; see `Head`."""
        with tf.name_scope("metrics"):
            return {
                self._summary_key(measure.name): keras_metric(measure)
                for measure in self._all_measures(regularization_losses)
            }

    def update_metrics(  # type: ignore[override]  # the original's heads take no mode here
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any] | None,
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> dict[str, Any]:
        """Updates metrics with a batch; see `Head`."""
        batch = self.batch(labels, logits, features)
        tensors = self.observed(batch)
        if regularization_losses:
            tensors["regularization"] = total_regularization(regularization_losses)
        for measure in self._all_measures(regularization_losses):
            metric = eval_metrics[self._summary_key(measure.name)]
            update_keras_metric(metric, measure, tensors, batch.weights)
        return eval_metrics

    def _all_measures(self, regularization_losses: Any) -> list[Measure]:
        return self.measures() + ([REGULARIZATION] if regularization_losses else [])

    def _create_tpu_estimator_spec(
        self,
        features: Mapping[str, Any] | None,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[tf.Variable] | None = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> TPUEstimatorSpec:
        with tf.name_scope(self.name or "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self.export_outputs(predictions)
                return TPUEstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(
                labels=labels,
                logits=logits,
                features=features,
                mode=mode,
                regularization_losses=regularization_losses,
            )
            if mode == ModeKeys.EVAL:
                return TPUEstimatorSpec(
                    mode,
                    predictions=predictions,
                    loss=loss,
                    eval_metrics=self._eval_metrics(
                        features, logits, labels, regularization_losses
                    ),
                )
            train_op = keras_train_op(
                loss, self.loss_reduction, optimizer, trainable_variables, train_op_fn, update_ops
            )
        write_summaries(
            {
                self._summary_key(MetricKeys.LOSS): loss,
                self._summary_key(MetricKeys.LOSS_REGULARIZATION): total_regularization(
                    regularization_losses
                ),
            }
        )
        return TPUEstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _eval_metrics(
        self, features: Any, logits: Any, labels: Any, regularization_losses: Any
    ) -> tuple[Callable[..., dict[str, Any]], dict[str, tf.Tensor]]:
        tensors = {"logits": logits, "labels": labels}
        batch_tensors = {name: tensor for name, tensor in tensors.items() if tf.is_tensor(tensor)}

        def metric_fn(**rows: Any) -> dict[str, Any]:
            values = {**tensors, **rows}
            return self.update_metrics(
                self.metrics(regularization_losses=regularization_losses),
                features=features,
                regularization_losses=regularization_losses,
                **values,
            )

        return metric_fn, batch_tensors
