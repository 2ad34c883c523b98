"""The loss for sequences of tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["sequence_loss"]

v1 = tf.compat.v1


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the weighted cross entropy of sequences.

    Averages divide by the sum of the weights; sums are divided by the number of nonzero
    weights.

    Args:
      logits: [batch, time, classes].
      targets: [batch, time], the right classes.
      weights: [batch, time], such as 1 for tokens and 0 for padding.
      average_across_timesteps: whether to average over time.
      average_across_batch: whether to average over the batch.
      sum_over_timesteps: whether to sum over time.
      sum_over_batch: whether to sum over the batch.
      softmax_loss_function: a function of (labels, logits) by name to use instead of the cross
        entropy, such as a sampled softmax.
      name: the operations' name.

    Returns:
      A scalar; [time] or [batch] if one dimension remains; or [batch, time].

    Raises:
      ValueError: a tensor has a wrong rank, or a dimension is both averaged and summed.
    """
    ranks = {"Logits": (logits, 3), "Targets": (targets, 2), "Weights": (weights, 2)}
    for what, (tensor, rank) in ranks.items():
        if tensor.shape.rank != rank:
            form = "batch_size x sequence_length" + (" x logits" if rank == 3 else "")
            raise ValueError(f"{what} must be a [{form}] tensor, got the shape {tensor.shape}")
    pairs = {
        "timesteps": (average_across_timesteps, sum_over_timesteps),
        "batch": (average_across_batch, sum_over_batch),
    }
    for what, (average, total) in pairs.items():
        if average and total:
            raise ValueError(
                f"average_across_{what} and sum_over_{what} cannot be set to True at same time."
            )
    with v1.name_scope(name, "sequence_loss", [logits, targets, weights]):
        function = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
        flat = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        losses = function(labels=tf.reshape(targets, [-1]), logits=flat)
        losses = tf.reshape(losses * tf.reshape(weights, [-1]), tf.shape(logits)[:2])
        weights = tf.convert_to_tensor(weights)
        losses.set_shape(weights.shape)
        counts = tf.cast(tf.not_equal(weights, 0), losses.dtype)
        if average_across_timesteps and average_across_batch:
            return _quotient(losses, weights, None)
        if sum_over_timesteps and sum_over_batch:
            return _quotient(losses, counts, None)
        if average_across_timesteps or average_across_batch:
            return _quotient(losses, weights, [0] if average_across_batch else [1])
        if sum_over_timesteps or sum_over_batch:
            return _quotient(losses, counts, [0] if sum_over_batch else [1])
        return losses


def _quotient(losses: tf.Tensor, sizes: tf.Tensor, axis: list[int] | None) -> tf.Tensor:
    return tf.math.divide_no_nan(tf.reduce_sum(losses, axis), tf.reduce_sum(sizes, axis))
