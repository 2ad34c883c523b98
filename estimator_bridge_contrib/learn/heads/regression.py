"""Heads whose predictions are numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.heads.base import HeadOptions, SingleHead
from estimator_bridge_contrib.learn.heads.head_losses import Loss
from estimator_bridge_contrib.learn.keys import PredictionKey, ProblemType

__all__ = ["RegressionHead"]


class RegressionHead(SingleHead):
    """Predicts numbers.

    Args:
      label_dimension: the number of labels of an example.
      loss_fn: the loss.
      link_fn: a function from logits to predictions.
      options: the arguments that all heads have.
    """

    default_scope = "regression_head"

    def __init__(
        self,
        label_dimension: int,
        loss_fn: Loss,
        link_fn: Callable[[Any], Any],
        options: HeadOptions,
    ):
        super().__init__(label_dimension, ProblemType.LINEAR_REGRESSION, loss_fn, options)
        self._link_fn = link_fn

    def _predictions(self, logits: tf.Tensor) -> dict[str, Any]:
        if self.logits_dimension == 1:
            logits = tf.squeeze(logits, axis=[1], name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}

    def _metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        return {}
