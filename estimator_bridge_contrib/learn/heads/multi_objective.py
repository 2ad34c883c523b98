"""Several heads on one model, and a head that is a loss only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.configuration import ModeKeys
from estimator_bridge_contrib.learn.heads.base import Head, check_mode, summarize_loss
from estimator_bridge_contrib.learn.keys import MetricKey
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["LossOnlyHead", "MultiHead", "no_op_train_fn"]

_v1 = tf.compat.v1
_NO_TRAIN_OP_FN = "train_op_fn can not be None in TRAIN mode"


def no_op_train_fn(loss: Any) -> tf.Operation:
    """A train_op_fn without a step, for a loss that is minimized elsewhere."""
    del loss
    return tf.no_op()


class LossOnlyHead(Head):
    """A loss that does not depend on labels, such as regularization.

    Args:
      loss_fn: a function without arguments that returns a scalar, or a list of scalars.
      head_name: the name of the head.
    """

    def __init__(self, loss_fn: Callable[[], Any], head_name: str | None = None):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """The last dimension of the logits: 0, as it needs none."""
        return 0

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """See `Head.create_model_fn_ops`; features, labels and logits have no effect."""
        check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with _v1.variable_scope(scope, self.head_name):
                loss = self._loss_fn()
                loss = tf.add_n(loss) if isinstance(loss, list) else loss
                summarize_loss(f"{MetricKey.LOSS}/{self.head_name}", loss)
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError(_NO_TRAIN_OP_FN)
                    with _v1.name_scope(None, "train_op", [loss]):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode, {}, loss, train_op, {})


class MultiHead(Head):
    """Several heads with a name each, whose losses are added up.

    Args:
      heads: the heads.
      loss_weights: the factor of each head's loss; 1 by default.

    Raises:
      ValueError: a head has no name.
    """

    def __init__(self, heads: Sequence[Any], loss_weights: Sequence[float] | None = None):
        for head in heads:
            if not head.head_name:
                raise ValueError(f"Members of MultiHead must have names. {head} has none.")
        self._heads = list(heads)
        self._loss_weights = loss_weights

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' logits_dimension."""
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """See `Head.create_model_fn_ops`.

        ``logits`` may also be tensors by the name of their head. The names of predictions are
        tuples (name of the head, name of the prediction).
        """
        check_mode(mode)
        all_ops = [
            head.create_model_fn_ops(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=no_op_train_fn,
                logits=own,
                logits_input=logits_input if logits is None else None,
                scope=scope,
            )
            for head, own in zip(self._heads, self._logits_of_heads(logits))
        ]
        if mode == ModeKeys.INFER:
            return self._predicted(all_ops)
        metrics = {key: metric for each in all_ops for key, metric in each.eval_metric_ops.items()}
        loss = self._total_loss([each.loss for each in all_ops])
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, self._predictions(all_ops), loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError(_NO_TRAIN_OP_FN + ".")
        train_op = tf.group(train_op_fn(loss), *[each.train_op for each in all_ops])
        return ModelFnOps(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _logits_of_heads(self, logits: Any) -> list[Any]:
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, Mapping):
            return [
                None if isinstance(head, LossOnlyHead) else logits[head.head_name]
                for head in self._heads
            ]
        parts, begin = [], 0
        for head in self._heads:
            parts.append(tf.slice(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return parts

    def _total_loss(self, losses: Sequence[Any]) -> tf.Tensor:
        if self._loss_weights:
            losses = [tf.multiply(each, by) for each, by in zip(losses, self._loss_weights)]
        return tf.add_n(losses)

    def _predictions(self, all_ops: Sequence[ModelFnOps]) -> dict[Any, Any]:
        return {
            (head.head_name, key): value
            for head, ops in zip(self._heads, all_ops)
            for key, value in ops.predictions.items()
        }

    def _predicted(self, all_ops: Sequence[ModelFnOps]) -> ModelFnOps:
        alternatives = {
            head.head_name: ops.output_alternatives[head.head_name]
            for head, ops in zip(self._heads, all_ops)
            if not isinstance(head, LossOnlyHead)
        }
        return ModelFnOps(
            ModeKeys.INFER, self._predictions(all_ops), output_alternatives=alternatives
        )
