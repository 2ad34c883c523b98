"""The base class of V2 heads."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, TPUEstimatorSpec

__all__ = ["Head"]


class Head(abc.ABC):
    """The last part of a model: turns logits into a loss, predictions, metrics and a spec.

    A subclass implements the members below, and `create_estimator_spec` or
    `_create_tpu_estimator_spec`. `loss`, `predictions`, `metrics` and `update_metrics` also work
    eagerly.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The head's name, appended to the names of its metrics and summaries; or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of logits: the number of units of the last layer."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """The reduction of a batch's losses: one of ``tf.losses.Reduction``."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Computes the loss of a batch.

        Args:
          labels: labels of the batch.
          logits: output of the model's last layer, [batch, ..., logits_dimension].
          features: features by name, for weights and loss_fn.
          mode: one of `ModeKeys`, for heads that depend on it.
          regularization_losses: scalars to add.

        Returns:
          A scalar.
        """

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """Computes predictions.

        Args:
          logits: [batch, ..., logits_dimension].
          keys: prediction keys; all by default.

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
        """Updates metrics with a batch.

        Args:
          eval_metrics: the result of `metrics`.
          features: features by name, for weights and loss_fn.
          logits: [batch, ..., logits_dimension].
          labels: labels of the batch.
          mode: one of `ModeKeys`, for heads that depend on it.
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
        """Makes the spec that a model_fn returns.

        Args:
          features: features by name, for weights and loss_fn.
          mode: one of `ModeKeys`.
          logits: output of the model's last layer, [batch, ..., logits_dimension].
          labels: labels of the batch; required for training and evaluation.
          optimizer: a tf_keras optimizer. One of ``tf_keras.optimizers.legacy`` counts its own
            steps: set its ``iterations`` to ``tf.compat.v1.train.get_global_step()``. One of
            ``tf_keras.optimizers`` is given the global step.
          trainable_variables: the variables that the optimizer updates.
          train_op_fn: returns the training op for a loss; replaces `optimizer`, and is the way to
            use optimizers of ``tf.compat.v1.train``.
          update_ops: operations to run with each training step, such as a batch norm's updates.
          regularization_losses: scalars to add to the loss.

        Returns:
          The spec.

        Raises:
          ValueError: labels or logits have a wrong shape, or training does not get exactly one of
            optimizer and train_op_fn.
          NotImplementedError: the subclass cannot make a spec.
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
        """Makes the same spec for a TPU, with the metrics as a function of tensors."""
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key
