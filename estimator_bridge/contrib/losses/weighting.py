"""How losses of elements become one loss, and the collection that losses join."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.arg_scope import add_arg_scope

__all__ = [
    "add_loss",
    "compute_weighted_loss",
    "get_losses",
    "get_regularization_losses",
    "get_total_loss",
]

_v1 = tf.compat.v1


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> tf.Tensor:
    """The weighted losses' sum, divided by how many have a weight that is not 0.

    Args:
      losses: [batch, ...].
      weights: a scalar, [batch], or of a shape that is broadcast to that of ``losses`` from its
        first dimension on.
      scope: a name scope.

    Returns:
      A scalar, in the type of ``losses``; it joins the collection LOSSES.

    Raises:
      ValueError: the weights' shape does not fit.
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
            if weights.shape.rank > losses.shape.rank + 1 or weights.shape.as_list()[-1] != 1:
                raise ValueError(
                    f"The weights' shape {weights.shape} does not fit that of the losses, "
                    f"{losses.shape}. Give one weight for all, for each example, or each element."
                )
            weights = tf.squeeze(weights, [-1])
        for _ in range(losses.shape.rank - weights.shape.rank if weights.shape.rank else 0):
            weights = tf.expand_dims(weights, -1)
        weights = tf.broadcast_to(weights, tf.shape(losses))
        total = tf.reduce_sum(tf.cast(losses, tf.float32) * weights)
        present = tf.reduce_sum(tf.cast(tf.not_equal(weights, 0.0), tf.float32))
        mean = tf.cast(tf.math.divide_no_nan(total, present), losses.dtype)
        add_loss(mean)
        return mean


@add_arg_scope
def add_loss(loss: Any, loss_collection: str | None = _v1.GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; None: to none."""
    if loss_collection:
        _v1.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = _v1.GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection whose names begin with a scope."""
    return _v1.get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses that regularizers of layers and variables made."""
    return _v1.get_collection(_v1.GraphKeys.REGULARIZATION_LOSSES, scope)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> tf.Tensor:
    """The sum of all losses, with those of regularizers or without."""
    losses = get_losses()
    if add_regularization_losses:
        losses += get_regularization_losses()
    return tf.add_n(losses, name=name)
