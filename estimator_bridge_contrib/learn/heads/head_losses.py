"""The losses of heads: each returns the loss to minimize, and the one to report."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "Loss",
    "as_matrix",
    "broadcast",
    "checked_loss_fn",
    "hinge",
    "log_loss",
    "mean_squared",
    "poisson",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
]

_v1 = tf.compat.v1
_NAMES = ("labels", "logits", "weights")

# A function of labels, logits and weights, which returns the two losses.
Loss = Callable[[Any, Any, Any], tuple[tf.Tensor, tf.Tensor]]


def broadcast(weights: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Returns weights in the shape of values.

    Args:
      weights: a scalar, or a tensor of the rank of values; each size is 1 or that of values.
      values: a tensor.

    Raises:
      ValueError: weights have another shape.
    """
    ones = tf.ones_like(values, dtype=weights.dtype)
    return _v1.losses.compute_weighted_loss(
        ones, weights, loss_collection=None, reduction=_v1.losses.Reduction.NONE
    )


def mean_squared(labels: Any, logits: Any, weights: Any = None) -> tuple[tf.Tensor, tf.Tensor]:
    """The squared difference of labels [batch] or [batch, dimension] and logits."""
    with _v1.name_scope(None, "mean_squared_loss", [logits, labels]) as name:
        labels, logits = _alike(labels, logits)
        losses = _v1.squared_difference(logits, tf.cast(labels, tf.float32), name=name)
        return _weighted(losses, weights)


def poisson(labels: Any, logits: Any, weights: Any = None) -> tuple[tf.Tensor, tf.Tensor]:
    """The log loss of counts [batch] or [batch, dimension]; logits are logarithms of means."""
    with _v1.name_scope(None, "_poisson_loss", [logits, labels]) as name:
        labels, logits = _alike(labels, logits)
        losses = tf.nn.log_poisson_loss(labels, logits, compute_full_loss=True, name=name)
        return _weighted(losses, weights)


def log_loss(labels: Any, logits: Any, weights: Any = None) -> tuple[tf.Tensor, tf.Tensor]:
    """The log loss of labels 0 and 1, [batch] or [batch, 1], with logits [batch, 1]."""
    with _v1.name_scope(None, "log_loss_with_two_classes", [logits, labels]) as name:
        labels = as_matrix(tf.cast(labels, tf.float32))
        return _weighted(_sigmoid(labels, tf.convert_to_tensor(logits), name), weights)


def sigmoid_cross_entropy(
    labels: Any, logits: Any, weights: Any = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """The log loss of each class: labels 0 and 1, and logits, both [batch, n_classes]."""
    with _v1.name_scope(None, "sigmoid_cross_entropy_loss", [logits, labels]) as name:
        return _weighted(_sigmoid(tf.cast(labels, tf.float32), logits, name), weights)


def softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """The log loss of class ids, [batch] or [batch, 1], with logits [batch, n_classes].

    Raises:
      ValueError: labels are not integers.
    """
    with _v1.name_scope(None, "softmax_cross_entropy_loss", [logits, labels]) as name:
        labels = tf.convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer Instead got {labels.dtype}. Pass class ids, or "
                "the label_keys of a head if labels are strings."
            )
        is_matrix = labels.shape.rank == 2
        ids = tf.squeeze(labels, axis=[1]) if is_matrix else labels
        losses = _v1.nn.sparse_softmax_cross_entropy_with_logits(
            labels=ids, logits=logits, name=name
        )
        # In the shape of the labels, which is that of weights too.
        return _weighted(tf.expand_dims(losses, axis=1) if is_matrix else losses, weights)


def hinge(labels: Any, logits: Any, weights: Any = None) -> tuple[tf.Tensor, tf.Tensor]:
    """The hinge loss of labels 0 and 1, [batch] or [batch, 1], with logits [batch, 1]."""
    with _v1.name_scope(None, "hinge_loss", [logits, labels]) as name:
        is_known = _v1.assert_rank_in(
            labels, [0, 1, 2], message="labels shape should be either [batch_size, 1] or "
            "[batch_size]",
        )  # fmt: skip
        with tf.control_dependencies([is_known]):
            labels = tf.reshape(labels, [-1, 1])
        losses = _v1.losses.hinge_loss(
            labels, logits, scope=name, reduction=_v1.losses.Reduction.NONE
        )
        return _weighted(losses, weights)


def checked_loss_fn(loss_fn: Callable[..., Any] | None) -> Loss | None:
    """Returns a program's function of labels, logits and weights as a `Loss`; None for None.

    Raises:
      ValueError: it lacks one of the arguments.
    """
    if loss_fn is None:
        return None
    names = inspect.signature(loss_fn).parameters
    for name in _NAMES:
        if name not in names:
            raise ValueError(
                f"Argument {name} not found in loss_fn. Its arguments are {list(names)}; give it "
                f"{', '.join(_NAMES)}."
            )

    def call(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        loss = loss_fn(labels, logits, *([] if weights is None else [weights]))
        return loss, loss

    return call


def as_matrix(values: Any) -> tf.Tensor:
    """Returns a vector [batch] as a column [batch, 1], and other tensors unchanged."""
    values = tf.convert_to_tensor(values)
    return tf.expand_dims(values, axis=1) if values.shape.rank == 1 else values


def _alike(labels: Any, logits: Any) -> tuple[tf.Tensor, tf.Tensor]:
    labels, logits = as_matrix(labels), as_matrix(logits)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


def _sigmoid(labels: tf.Tensor, logits: tf.Tensor, name: str) -> tf.Tensor:
    return _v1.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def _weighted(losses: tf.Tensor, weights: tf.Tensor | None) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the sum over the number of examples, and the sum over their weights.

    The first is minimized, so an example of weight 2 counts twice; the second is reported.
    """
    with _v1.name_scope("loss", values=[losses]) as name:
        if weights is None:
            loss = tf.reduce_mean(losses, name=name)
            return loss, loss
        weights = broadcast(weights, losses)
        weighted = tf.multiply(losses, weights, name="weighted_loss")
        loss = tf.reduce_mean(weighted, name=name)
        total = tf.cast(tf.reduce_sum(weights), tf.float32)
        return loss, tf.divide(tf.reduce_sum(weighted), total, name="weighted_average_loss")
