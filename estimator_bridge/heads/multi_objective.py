"""The head for several objectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.base import Head
from estimator_bridge.heads.head_metrics import keras_metric
from estimator_bridge.heads.head_train_op import keras_train_op, write_summaries
from estimator_bridge.heads.keys import MetricKeys
from estimator_bridge.heads.losses import regularized, total_regularization, whole_loss
from estimator_bridge.heads.objectives import (
    check_heads,
    check_labels_by_head,
    logits_by_head,
    merged_losses,
    merged_outputs,
)
from estimator_bridge.heads.single_objective import REGULARIZATION
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge.model.modes import check_mode

__all__ = ["MultiHead"]


class MultiHead(Head):
    """The head of a model with several objectives, whose losses are added up.

    Labels are dicts by head name. Logits are too, or one tensor whose last dimension is split in
    the order of the heads. Predictions have keys of (head name, key).

    Args:
      heads: `Head` objects, each with a name; the first is served by default.
      head_weights: factors of the heads' losses in the sum.

    Raises:
      ValueError: there are no heads, one has no name, or the number of weights differs.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None):
        self._heads, self._head_weights = check_heads(heads, head_weights)

    @property
    def name(self) -> str:
        """The heads' names, joined by "_"."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """The number of logits per example for all heads."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        """The reduction of a batch's losses, which must be the same in all heads.

        Raises:
          ValueError: the heads' reductions differ.
        """
        reductions = {head.name: head.loss_reduction for head in self._heads}
        if len(set(reductions.values())) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {reductions}."
            )
        return self._heads[0].loss_reduction

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Mapping[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> tf.Tensor:
        """Computes the weighted sum of the heads' losses; see `Head`."""
        head_logits = self._dealt(logits, labels)
        losses = [
            head.loss(
                labels=labels[head.name],
                logits=head_logits[head.name],
                features=features,
                mode=mode,
            )
            for head in self._heads
        ]
        total = merged_losses(losses, self._head_weights)
        return regularized(total, total_regularization(regularization_losses), self.loss_reduction)

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, tf.Tensor]:
        """Returns all predictions of all heads, by (head name, key); see `Head`."""
        head_logits = self._dealt(logits)
        with tf.name_scope("merge_pred"):
            return {
                (head.name, key): value
                for head in self._heads
                for key, value in head.predictions(logits=head_logits[head.name]).items()
            }

    def metrics(self, regularization_losses: Sequence[tf.Tensor] | None = None) -> dict[str, Any]:
        """Makes a metric for the loss of each head; the heads' own are added by an update."""
        head_metrics = {}
        if regularization_losses:
            head_metrics[self._regularization_key] = keras_metric(REGULARIZATION)
        from tf_keras import metrics

        with tf.name_scope("merge_eval"):
            for head in self._heads:
                key = f"{MetricKeys.LOSS}/{head.name}"
                head_metrics[key] = metrics.Mean(name=key)
        return head_metrics

    def update_metrics(  # type: ignore[override]  # the original's heads take no mode here
        self,
        eval_metrics: dict[str, Any],
        features: Mapping[str, Any] | None,
        logits: Any,
        labels: Any,
        regularization_losses: Sequence[tf.Tensor] | None = None,
    ) -> dict[str, Any]:
        """Updates metrics with a batch, and adds the heads' own to eval_metrics; see `Head`."""
        head_logits = self._dealt(logits, labels)
        if regularization_losses:
            total = total_regularization(regularization_losses)
            eval_metrics[self._regularization_key].update_state(total)
        for head in self._heads:
            its_logits, its_labels = head_logits[head.name], labels[head.name]
            loss = head.loss(logits=its_logits, labels=its_labels, features=features)
            loss = whole_loss(loss, head.loss_reduction)
            eval_metrics[f"{MetricKeys.LOSS}/{head.name}"].update_state(loss)
            own_metrics = head.update_metrics(head.metrics(), features, its_logits, its_labels)
            eval_metrics.update(own_metrics or {})
        return eval_metrics

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
        """Makes the spec that a model_fn returns, for all heads; see `Head`."""
        check_mode(mode, type(self).__name__)
        with tf.name_scope(self.name):
            head_logits = self._dealt(logits, labels)
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                specs = [
                    head.create_estimator_spec(
                        features=features, mode=mode, logits=head_logits[head.name]
                    )
                    for head in self._heads
                ]
                outputs = merged_outputs([head.name for head in self._heads], specs)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses=regularization_losses),
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
                )
            for head in self._heads:  # for their summaries
                head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    logits=head_logits[head.name],
                    labels=labels[head.name],
                    train_op_fn=lambda _: tf.no_op(),
                )
            train_op = keras_train_op(
                loss, self.loss_reduction, optimizer, trainable_variables, train_op_fn, update_ops
            )
        regularization = total_regularization(regularization_losses)
        write_summaries({MetricKeys.LOSS: loss, MetricKeys.LOSS_REGULARIZATION: regularization})
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    @property
    def _regularization_key(self) -> str:
        return self._summary_key(MetricKeys.LOSS_REGULARIZATION)

    def _dealt(self, logits: Any, labels: Any = None) -> Mapping[str, Any]:
        check_labels_by_head(labels, self._heads)
        return logits_by_head(logits, self._heads)
