"""The losses of an `SdcaModel`, averaged over the weights of examples, in float64."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["mean_loss"]

_v1 = tf.compat.v1


def mean_loss(
    loss_type: str, labels: tf.Tensor, predictions: tf.Tensor, weights: tf.Tensor
) -> tf.Tensor:
    """Returns the weighted mean of the examples' losses.

    Args:
      loss_type: one of `sdca_settings.LOSSES`.
      labels: float64 [batch]; 0 and 1 for classes.
      predictions: the linear model's values, float64 [batch].
      weights: float64 [batch].
    """
    by_example = {
        "logistic_loss": _logistic,
        "poisson_loss": _poisson,
        "hinge_loss": _hinge,
        "smooth_hinge_loss": _hinge,  # the original reports the hinge loss for both
        "squared_loss": _squared,
    }[loss_type]
    losses = by_example(labels, predictions)
    return tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)


def _logistic(labels: tf.Tensor, predictions: tf.Tensor) -> tf.Tensor:
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)


def _poisson(labels: tf.Tensor, predictions: tf.Tensor) -> tf.Tensor:
    return tf.nn.log_poisson_loss(targets=labels, log_input=predictions)


def _hinge(labels: tf.Tensor, predictions: tf.Tensor) -> tf.Tensor:
    return tf.nn.relu(1.0 - (2.0 * labels - 1.0) * predictions)


def _squared(labels: tf.Tensor, predictions: tf.Tensor) -> tf.Tensor:
    return tf.square(labels - predictions) / 2.0
