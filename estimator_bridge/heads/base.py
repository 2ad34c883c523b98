"""What a head is."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, TPUEstimatorSpec

__all__ = ["Head"]


class Head(abc.ABC):
    """The last part of a model: from logits to a loss, predictions, metrics and a spec.

    A subclass has the members below, and `create_estimator_spec` or `_create_tpu_estimator_spec`.
    `loss`, `predictions`, `metrics` and `update_metrics` work eagerly too.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The head's name, which ends the names of its metrics and summaries; or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of logits, which is how many units a last layer needs."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of a batch become one: one of ``tf.losses.Reduction``."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """The loss of a batch.

        Args:
          labels: of the batch.
          logits: what the model's last layer returned, [batch, ..., logits_dimension].
          features: by name; needed for weights alone.
          mode: one of `ModeKeys`, for heads that care.
          regularization_losses: scalars that are added.

        Returns:
          A scalar.
        """

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """What a model predicts.

        Args:
          logits: [batch, ..., logits_dimension].
          keys: which predictions; by default all that the head has.

        Returns:
          The predictions by name, batch first.
        """

    @abc.abstractmethod
    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> dict[str, Any]:
        """Makes the head's tf_keras metrics, by name; one more if there is regularization."""

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any] | None,
        logits: Any,
        labels: Any,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> dict[str, Any]:
        """Adds a batch to metrics.

        Args:
          eval_metrics: what `metrics` returned.
          features: by name; needed for weights alone.
          logits: [batch, ..., logits_dimension].
          labels: of the batch.
          mode: one of `ModeKeys`, for heads that care.
          regularization_losses: scalars; their sum is a metric.

        Returns:
          `eval_metrics`.
        """

    def create_estimator_spec(
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
    ) -> EstimatorSpec:
        """Makes what a model_fn returns.

        Args:
          features: by name; needed for weights alone.
          mode: one of `ModeKeys`.
          logits: what the model's last layer returned, [batch, ..., logits_dimension].
          labels: of the batch; needed to train and to evaluate.
          optimizer: a tf_keras optimizer. One of ``tf_keras.optimizers.legacy`` counts its steps
            itself: set its ``iterations`` to ``tf.compat.v1.train.get_global_step()``. One of
            ``tf_keras.optimizers`` is given the global step.
          trainable_variables: what the optimizer is to change.
          train_op_fn: returns the training operation for a loss; in place of an optimizer, and
            for those of ``tf.compat.v1.train``.
          update_ops: what is to run with each training step, as a batch norm's updates.
          regularization_losses: scalars that are added to the loss.

        Returns:
          The spec.

        Raises:
          ValueError: labels or logits are of a wrong shape, or there is not one of optimizer and
            train_op_fn to train with.
          NotImplementedError: the subclass has no way to make a spec.
        """
        try:
            spec = self._create_tpu_estimator_spec(
                features=features,
                mode=mode,
                logits=logits,
                labels=labels,
                optimizer=optimizer,
                trainable_variables=trainable_variables,
                train_op_fn=train_op_fn,
                update_ops=update_ops,
                regularization_losses=regularization_losses,
            )
        except NotImplementedError as error:
            raise NotImplementedError(
                "Subclasses of Head must implement `create_estimator_spec()` or "
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
        trainable_variables: Sequence[tf.Variable] | None = None,
        train_op_fn: Callable[[tf.Tensor], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> TPUEstimatorSpec:
        """As `create_estimator_spec`, with the metrics as a function of tensors."""
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key
