"""The V1 head for several objectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.head_train_op import v1_train_op, write_summaries
from estimator_bridge.heads.keys import MetricKeys
from estimator_bridge.heads.losses import regularized, total_regularization, whole_loss
from estimator_bridge.heads.objectives import (
    check_heads,
    check_labels_by_head,
    common_reduction,
    logits_by_head,
    merged_losses,
    merged_outputs,
)
from estimator_bridge.heads.v1 import AnyV1Head, LossSpec
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge.model.modes import check_mode

__all__ = ["V1MultiHead"]


class V1MultiHead(AnyV1Head):
    """The head of tf.contrib.estimator.multi_head.

    Args:
      heads: V1 heads, each with a name; the first is served by default.
      head_weights: factors of the heads' losses in the sum.

    Raises:
      ValueError: there are no heads, one has no name, or the number of weights differs.
    """

    def __init__(self, heads: Sequence[AnyV1Head], head_weights: Sequence[float] | None = None):
        self.heads, self._head_weights = check_heads(heads, head_weights)
        self.name = "_".join(head.name for head in self.heads)
        self.logits_dimension = sum(head.logits_dimension for head in self.heads)

    @property
    def loss_reduction(self) -> str | None:
        """The heads' common reduction."""
        return common_reduction(self.heads)

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """Computes the loss of a batch.

        Args:
          features: features by name, for weights and loss_fn.
          mode: one of `ModeKeys`.
          logits: a dict by head name, or one tensor.
          labels: labels by head name.

        Returns:
          The sum of the heads' losses; and by head name the losses of all labels and their weights,
          both multiplied by the head's weight, and the labels as numbers.
        """
        check_labels_by_head(labels, self.heads)
        head_logits = logits_by_head(logits, self.heads)
        names = [head.name for head in self.heads]
        loss_specs = [
            head.create_loss(features, mode, head_logits[head.name], labels[head.name])
            for head in self.heads
        ]
        factors = self._head_weights or (1.0,) * len(loss_specs)
        return LossSpec(
            merged_losses([spec.training_loss for spec in loss_specs], self._head_weights),
            {n: s.unreduced_loss * f for n, s, f in zip(names, loss_specs, factors)},
            {n: s.weights * f for n, s, f in zip(names, loss_specs, factors)},
            {n: s.processed_labels for n, s in zip(names, loss_specs)},
        )

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
        """Makes the spec that a model_fn returns, for all heads; see `V1Head`."""
        check_mode(mode, type(self).__name__)
        check_labels_by_head(labels, self.heads)
        head_logits = logits_by_head(logits, self.heads)
        names = [head.name for head in self.heads]
        specs = [
            head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=head_logits[head.name],
                labels=labels[head.name] if labels else None,
                train_op_fn=lambda _: tf.no_op(),
            )
            for head in self.heads
        ]
        predictions = {
            (name, key): value
            for name, spec in zip(names, specs)
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            outputs = merged_outputs(names, specs)
            return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
        total = merged_losses([spec.loss for spec in specs], self._head_weights)
        reduction = common_reduction(self.heads)
        loss = regularized(total, total_regularization(regularization_losses), reduction)
        if mode == ModeKeys.EVAL:
            return EstimatorSpec(
                mode,
                predictions=predictions,
                loss=loss,
                eval_metric_ops=_metrics(self.heads, specs),
            )
        train_op = v1_train_op(loss, optimizer, train_op_fn, reduction)
        write_summaries({MetricKeys.LOSS: loss})
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def _metrics(heads: Sequence[AnyV1Head], specs: Sequence[EstimatorSpec]) -> dict[str, Any]:
    """Returns the heads' metrics, and the mean of each head's loss."""
    metrics = {}
    with tf.name_scope("merge_eval"):
        for head, spec in zip(heads, specs):
            key = f"{MetricKeys.LOSS}/{head.name}"
            loss = whole_loss(spec.loss, getattr(head, "loss_reduction", None))
            metrics[key] = tf.compat.v1.metrics.mean(loss, name=key)
            metrics.update(spec.eval_metric_ops)
    return metrics
