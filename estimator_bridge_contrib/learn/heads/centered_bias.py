"""The centered bias: a bias of its own for each logit, with its own optimizer."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.heads.head_losses import Loss

__all__ = ["centered_bias", "centered_bias_step"]

_v1 = tf.compat.v1
_LEARNING_RATE = 0.1


def centered_bias(logits_dimension: int, head_name: str | None) -> Any:
    """Makes the variable [logits_dimension], and summaries of it."""
    bias = _v1.Variable(tf.zeros([logits_dimension]), trainable=True, name="centered_bias_weight")
    for index in range(logits_dimension):
        tag = f"centered_bias/bias_{index}"
        _v1.summary.scalar(f"{tag}/{head_name}" if head_name else tag, bias[index])
    return bias


def centered_bias_step(
    bias: Any, batch_size: Any, labels: Any, loss_fn: Loss, weights: Any
) -> tf.Operation:
    """Makes a step of Adagrad that fits the bias alone to the labels."""
    values = tf.nest.flatten(labels)
    with _v1.name_scope(None, "centered_bias_step", values) as name:
        size = tf.shape(bias)[0]
        logits = tf.reshape(tf.tile(bias, [batch_size]), [batch_size, size])
        with _v1.name_scope(None, "centered_bias", values):
            loss = tf.reduce_mean(loss_fn(labels, logits, weights), name="training_loss")
    optimizer = _v1.train.AdagradOptimizer(_LEARNING_RATE)
    return optimizer.minimize(loss, var_list=[bias], name=name)
