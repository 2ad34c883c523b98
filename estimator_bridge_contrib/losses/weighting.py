"""Reduces losses of elements to one loss, and collects losses."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope

__all__ = [
    "add_loss",
    "compute_weighted_loss",
    "get_losses",
    "get_regularization_losses",
    "get_total_loss",
]

_v1 = tf.compat.v1


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> tf.Tensor:
    """Returns the weighted losses' sum, divided by the number of nonzero weights.

    Args:
      losses: [batch, ...].
      weights: a scalar, [batch], or a shape that is broadcast to that of ``losses``, aligned at the
        first dimension.
      scope: a name scope.

    Returns:
      A scalar, in the type of ``losses``; it is added to the collection LOSSES.

    Raises:
      ValueError: the weights' shape is incompatible.
    """
    with _v1.name_scope(scope, "weighted_loss"):
        losses = tf.convert_to_tensor(losses)
        weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
        if losses.shape.rank is None or weights.shape.rank is None:
            raise ValueError(
                "losses.get_shape().ndims and weights.get_shape().ndims cannot be None: use "
                f"set_shape. Got {losses.shape} and {weights.shape}."
            )
        if weights.shape.rank > losses.shape.rank:
            if weights.shape.rank > losses.shape.rank + 1 or weights.shape.as_list()[-1] not in (
                1,
                None,
            ):
                raise ValueError(
                    f"The weights' shape {weights.shape} is incompatible with that of the losses, "
                    f"{losses.shape}. Give one weight for all, for each example, or each element."
                )
            weights = tf.squeeze(weights, [-1])
        for _ in range(losses.shape.rank - weights.shape.rank if weights.shape.rank else 0):
            weights = tf.expand_dims(weights, -1)
        weights = tf.broadcast_to(weights, tf.shape(losses))
        total = tf.reduce_sum(tf.cast(losses, tf.float32) * weights)
        present = tf.reduce_sum(tf.cast(tf.not_equal(weights, 0.0), tf.float32))
        mean = tf.math.divide_no_nan(total, present, name="value")
        mean = mean if losses.dtype == tf.float32 else tf.cast(mean, losses.dtype)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = _v1.GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection, unless that is None."""
    if loss_collection:
        _v1.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = _v1.GraphKeys.LOSSES) -> list[Any]:
    """Returns the losses of a collection whose names start with a scope."""
    return _v1.get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Returns the losses of the regularizers of layers and variables."""
    return _v1.get_collection(_v1.GraphKeys.REGULARIZATION_LOSSES, scope)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> tf.Tensor:
    """Returns the sum of all losses, with or without those of regularizers."""
    losses = get_losses()
    if add_regularization_losses:
        losses += get_regularization_losses()
    return tf.add_n(losses, name=name)
