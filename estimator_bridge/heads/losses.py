"""Reduction of a batch's losses to a scalar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.arguments import call_loss_fn_arguments
from estimator_bridge.heads.shapes import check_losses
from estimator_bridge.model.cross_shard import cross_replica_sum, number_of_parts

__all__ = [
    "call_loss_fn",
    "is_sum",
    "keras_reduced",
    "regularized",
    "total_regularization",
    "v1_reduced",
    "whole_loss",
]


_Reduction = tf.compat.v1.losses.Reduction


def call_loss_fn(
    loss_fn: Callable[..., tf.Tensor],
    labels: tf.Tensor,
    logits: tf.Tensor,
    features: Mapping[str, Any] | None,
    dimension: int = 1,
    loss_reduction: str = "sum_over_batch_size",
) -> tf.Tensor:
    """Calls a user's loss function.

    Args:
      loss_fn: takes labels, logits, and features or loss_reduction if it names them.
      labels: labels as numbers, [D0, ..., DN, labels per example].
      logits: [D0, ..., DN, logits_dimension].
      features: features by name.
      dimension: number of losses per example.
      loss_reduction: the head's loss_reduction.

    Returns:
      The losses, [D0, ..., DN, dimension].

    Raises:
      ValueError: when executing eagerly, the losses have another shape.
    """
    with tf.name_scope("call_loss_fn"):
        arguments = call_loss_fn_arguments(loss_fn, features, loss_reduction)
        losses = tf.convert_to_tensor(loss_fn(labels=labels, logits=logits, **arguments))
        return check_losses(losses, logits, dimension)


def is_sum(reduction: str | None) -> bool:
    """Returns whether a reduction is a sum, by either version's name."""
    return reduction in ("sum", _Reduction.SUM)


def whole_loss(loss: tf.Tensor, reduction: str | None) -> tf.Tensor:
    """Scales a replica's loss for a metric, which takes the mean over a TPU's cores."""
    return loss * number_of_parts() if is_sum(reduction) and number_of_parts() > 1 else loss


def keras_reduced(losses: tf.Tensor, weights: tf.Tensor | None, reduction: str) -> tf.Tensor:
    """Reduces losses as tf_keras does: a mean divides by the number of losses, not of weights."""
    import tf_keras

    # It also tells v1 optimizers under a strategy whether the loss is a mean.
    compute_weighted_loss = tf_keras.__internal__.losses.compute_weighted_loss
    loss = compute_weighted_loss(losses, sample_weight=weights, reduction=reduction)
    return loss if is_sum(reduction) else _part_of_mean(loss, lambda: _size(losses))


def v1_reduced(losses: tf.Tensor, weights: tf.Tensor | None, reduction: str | None) -> tf.Tensor:
    """Reduces losses as ``tf.compat.v1.losses`` does, and adds the result to its collection."""
    loss = tf.compat.v1.losses.compute_weighted_loss(
        losses, weights=1.0 if weights is None else weights, reduction=reduction
    )
    if is_sum(reduction):
        return loss

    def divisor() -> tf.Tensor | None:
        if weights is None or reduction == _Reduction.SUM_OVER_BATCH_SIZE:
            return _size(losses)
        each = weights * tf.ones_like(losses)
        if reduction == _Reduction.MEAN:
            return tf.reduce_sum(each)
        return tf.math.count_nonzero(each, dtype=tf.int32)

    return _part_of_mean(loss, divisor)


def total_regularization(losses: Sequence[tf.Tensor] | None) -> tf.Tensor | None:
    """Returns the sum of regularization losses; None without any."""
    return tf.add_n(list(losses)) if losses else None


def regularized(
    loss: tf.Tensor, regularization: tf.Tensor | None, reduction: str | None
) -> tf.Tensor:
    """Adds the regularization to a loss.

    On the cores of a TPU each replica has the loss of its part of the batch. Sums are added over
    the replicas, so each then adds its share of the regularization; means are averaged.
    """
    if regularization is None:
        return loss
    if is_sum(reduction) and number_of_parts() > 1:
        regularization /= number_of_parts()
    return loss + regularization


def _size(losses: tf.Tensor) -> tf.Tensor | None:
    """Returns the number of a replica's losses; None if it is the same on all replicas."""
    return None if losses.shape.is_fully_defined() else tf.size(losses)


def _part_of_mean(loss: tf.Tensor, divisor: Callable[[], tf.Tensor | None]) -> tf.Tensor:
    """Scales a replica's loss so that the mean over a TPU's cores is that of the global batch.

    Args:
      loss: the mean over the replica's part of the batch.
      divisor: returns the divisor of the mean; None if it is the same on all replicas. Called only
        with several cores, so that otherwise the graph stays identical to the original's.
    """
    parts = number_of_parts()
    own_divisor = divisor() if parts > 1 else None
    if own_divisor is None:
        return loss
    own_divisor = tf.cast(own_divisor, loss.dtype)
    return loss * parts * tf.math.divide_no_nan(own_divisor, cross_replica_sum(own_divisor))
