"""The loss of a batch, from the losses of its examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.arguments import call_loss_fn_arguments
from estimator_bridge.heads.shapes import check_losses

__all__ = ["call_loss_fn", "keras_reduced", "regularized", "total_regularization", "v1_reduced"]


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
      labels: as numbers, [D0, ..., DN, labels of an example].
      logits: [D0, ..., DN, logits_dimension].
      features: by name.
      dimension: how many losses an example has.
      loss_reduction: the head's.

    Returns:
      The losses, [D0, ..., DN, dimension].

    Raises:
      ValueError: when executing eagerly, they are of another shape.
    """
    with tf.name_scope("call_loss_fn"):
        given = call_loss_fn_arguments(loss_fn, features, loss_reduction)
        losses = tf.convert_to_tensor(loss_fn(labels=labels, logits=logits, **given))
        return check_losses(losses, logits, dimension)


def keras_reduced(losses: tf.Tensor, weights: tf.Tensor | None, reduction: str) -> tf.Tensor:
    """Reduces losses as tf_keras does: a mean divides by the number of losses, not of weights."""
    import tf_keras

    # It also tells v1 optimizers under a strategy whether the loss is a mean.
    weighed = tf_keras.__internal__.losses.compute_weighted_loss
    return weighed(losses, sample_weight=weights, reduction=reduction)


def v1_reduced(losses: tf.Tensor, weights: tf.Tensor | None, reduction: str) -> tf.Tensor:
    """Reduces losses as ``tf.compat.v1.losses`` does, and adds the result to its collection."""
    return tf.compat.v1.losses.compute_weighted_loss(
        losses, weights=1.0 if weights is None else weights, reduction=reduction
    )


def total_regularization(losses: Sequence[tf.Tensor] | None) -> tf.Tensor | None:
    """The sum of regularization losses; None for none."""
    return tf.add_n(list(losses)) if losses else None


def regularized(loss: tf.Tensor, regularization: tf.Tensor | None) -> tf.Tensor:
    """A loss with what regularization adds to it."""
    return loss if regularization is None else loss + regularization
