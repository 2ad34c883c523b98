"""The check of a V1 logistic regression's labels, numbers from 0 to 1."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.heads.regression import LogisticRegressionHead
from estimator_bridge.heads.shapes import checked

__all__ = ["V1LogisticRegressionHead"]

_RANGE = "Labels must be in range [0, 1]"


class V1LogisticRegressionHead(LogisticRegressionHead):
    """A `LogisticRegressionHead` that refuses labels when a step runs, in TF1's words."""

    def own_losses(self, labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        """Returns sigmoid cross entropies; computing them fails if a label is out of range."""
        with tf.name_scope("assert_range"):
            for condition, holds in (
                ("Condition x <= 1 did not hold element-wise:", labels <= 1),
                ("Condition x >= 0 did not hold element-wise:", labels >= 0),
            ):
                message = [_RANGE, condition, "labels: ", labels]
                labels = checked(labels, tf.reduce_all(holds), message)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
