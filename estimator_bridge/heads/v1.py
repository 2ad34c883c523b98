"""Heads of TF1: v1 losses, v1 metrics, v1 optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.heads.arguments import check_reduction
from estimator_bridge.heads.head_metrics import v1_metric
from estimator_bridge.heads.head_train_op import v1_train_op, write_summaries
from estimator_bridge.heads.keys import MetricKeys
from estimator_bridge.heads.losses import regularized, total_regularization, v1_reduced
from estimator_bridge.heads.single_objective import REGULARIZATION, Batch, SingleHead
from estimator_bridge.model import EstimatorSpec, ModeKeys, TPUEstimatorSpec

__all__ = ["AnyV1Head", "LossSpec", "V1Head"]

_Reduction = tf.compat.v1.losses.Reduction


class LossSpec(NamedTuple):
    """A loss and the tensors it was computed from."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class AnyV1Head:
    """The base class of all V1 heads, which distinguishes them from V2 heads.

    A subclass has a name, a logits_dimension, `create_loss`, and `create_estimator_spec` or
    `_create_tpu_estimator_spec`.
    """

    name: Any
    logits_dimension: Any
    _loss_reduction: str | None = None

    @property
    def loss_reduction(self) -> str | None:
        """The reduction of a batch's losses; None if a subclass does not define it."""
        return self._loss_reduction

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """Computes the loss of a batch, with the tensors it was computed from."""
        raise NotImplementedError(f"{type(self).__name__} has no create_loss.")

    def create_estimator_spec(
        self,
        features: Mapping[str, Any] | None,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> EstimatorSpec:
        """Makes the spec that a model_fn returns.

        Args:
          features: features by name, for weights and loss_fn.
          mode: one of `ModeKeys`.
          logits: output of the model's last layer, [batch, ..., logits_dimension].
          labels: labels of the batch; required for training and evaluation.
          optimizer: a ``tf.compat.v1.train`` or tf_keras optimizer; it updates all trainable
            variables and increments the global step.
          train_op_fn: returns the training op for a loss, instead of an optimizer.
          regularization_losses: scalars to add to the loss.

        Returns:
          The spec. Operations in the collection UPDATE_OPS run with each training step.

        Raises:
          ValueError: labels or logits have a wrong shape, or training does not get exactly one of
            optimizer and train_op_fn.
          NotImplementedError: the subclass cannot make a spec.
        """
        try:
            spec = self._create_tpu_estimator_spec(
                features, mode, logits, labels, optimizer, train_op_fn, regularization_losses
            )
        except NotImplementedError as error:
            raise NotImplementedError(
                "Subclasses of _Head must implement `create_estimator_spec()` or "
                f"_create_tpu_estimator_spec(). {type(self).__name__} has neither."
            ) from error
        return spec.as_estimator_spec()

    def _create_tpu_estimator_spec(
        self,
        features: Mapping[str, Any] | None,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> TPUEstimatorSpec:
        """Makes the same spec for a TPU, with the metrics as a function of tensors."""
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")


class V1Head(AnyV1Head):
    """A V2 head of one objective with the losses, metrics and training of TF1.

    Args:
      head: defines labels, predictions and metrics; its own loss_reduction is not used.
      loss_reduction: one of ``tf.compat.v1.losses.Reduction``.
      prediction_keys: the predictions that the V1 head had; all by default.

    Raises:
      ValueError: loss_reduction is not one of them, or is NONE.
    """

    # True if the losses of a batch may stay unreduced: loss_reduction NONE.
    may_keep_losses = False

    def __init__(
        self,
        head: SingleHead,
        loss_reduction: str = _Reduction.SUM,
        prediction_keys: Sequence[str] | None = None,
    ):
        unfit = () if self.may_keep_losses else (_Reduction.NONE,)
        check_reduction(loss_reduction, set(_Reduction.all()).difference(unfit))
        self.head = head
        head.must = "must"
        self.name = head.name
        self.logits_dimension = head.logits_dimension
        self._loss_reduction = loss_reduction
        self._prediction_keys = prediction_keys

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """Computes the loss of a batch.

        Args:
          features: features by name, for weights and loss_fn.
          mode: not used.
          logits: [D0, ..., DN, logits_dimension].
          labels: labels of the batch.

        Returns:
          The scalar loss, the losses of all labels, their weights (1.0 for none), and the labels
          as numbers.

        Raises:
          ValueError: labels, logits or weights have a wrong shape or type.
        """
        del mode
        loss, batch = self._loss(features, logits, labels)
        weights = 1.0 if batch.weights is None else batch.weights
        return LossSpec(loss, batch.losses, weights, batch.labels)

    def _create_tpu_estimator_spec(
        self,
        features: Mapping[str, Any] | None,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> TPUEstimatorSpec:
        with tf.name_scope(self.name or "head"):
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self.head.export_outputs(predictions)
                return TPUEstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            training_loss, batch = self._loss(features, logits, labels)
            regularization = total_regularization(regularization_losses)
            loss = regularized(training_loss, regularization, self._loss_reduction)
            if mode == ModeKeys.EVAL:
                return TPUEstimatorSpec(
                    mode,
                    predictions=predictions,
                    loss=loss,
                    eval_metrics=self._eval_metrics(batch, regularization),
                )
            train_op = v1_train_op(loss, optimizer, train_op_fn, self._loss_reduction)
            mean = self._mean(training_loss, batch)
        summaries = {
            MetricKeys.LOSS: loss,
            MetricKeys.LOSS_MEAN: mean,
            MetricKeys.LOSS_REGULARIZATION: regularization,
        }
        write_summaries({self._key(name): value for name, value in summaries.items()})
        return TPUEstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _key(self, name: str) -> str:
        return f"{name}/{self.name}" if self.name else name

    def _loss(self, features: Any, logits: Any, labels: Any) -> tuple[tf.Tensor, Batch]:
        batch = self.head.batch(labels, logits, features)
        return v1_reduced(batch.losses, batch.weights, self._loss_reduction), batch

    def _predictions(self, logits: Any) -> dict[Any, tf.Tensor]:
        if self._prediction_keys is None:
            return self.head.predictions(logits)
        return self.head.predictions(logits, self._prediction_keys)

    def _mean(self, loss: tf.Tensor, batch: Batch) -> tf.Tensor | None:
        """Returns a sum's mean, for a summary; None if the loss is a mean itself."""
        if self._loss_reduction != _Reduction.SUM:
            return None
        unit_weights = tf.ones_like(batch.losses)
        return loss / tf.reduce_sum(
            unit_weights if batch.weights is None else unit_weights * batch.weights
        )

    def _eval_metrics(
        self, batch: Batch, regularization: tf.Tensor | None
    ) -> tuple[Callable[..., dict[str, Any]], dict[str, tf.Tensor]]:
        measures = self.head.measures()
        tensors = self.head.observed(batch)
        if regularization is not None:
            measures = [*measures, REGULARIZATION]
            tensors["regularization"] = regularization
        if batch.weights is not None:
            tensors["weights"] = batch.weights

        def metric_fn(**rows: tf.Tensor) -> dict[str, Any]:
            weights = rows.pop("weights", None)
            with tf.name_scope("metrics"):
                return {self._key(m.name): v1_metric(m, rows, weights) for m in measures}

        return metric_fn, tensors
