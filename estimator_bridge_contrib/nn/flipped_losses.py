"""Cross entropies with the logits before the labels, as they were before TensorFlow 1.0."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = [
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
]

_v1 = tf.compat.v1


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> tf.Tensor:
    """Calls ``tf.nn.softmax_cross_entropy_with_logits``; no gradient reaches the labels.

    Args:
      logits: unscaled log probabilities, [..., classes].
      labels: probabilities of the same shape.
      dim: the dimension of classes.
      name: the operations' name.

    Returns:
      A loss for each row.
    """
    return _v1.nn.softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=dim, name=name
    )


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> tf.Tensor:
    """Calls ``tf.nn.sparse_softmax_cross_entropy_with_logits``.

    Args:
      logits: unscaled log probabilities, [..., classes].
      labels: classes, with one dimension less.
      name: the operations' name.

    Returns:
      A loss for each label.

    Raises:
      ValueError: the ranks do not fit.
    """
    return _v1.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> tf.Tensor:
    """Calls ``tf.nn.sigmoid_cross_entropy_with_logits``.

    Args:
      logits: floats of any shape.
      targets: probabilities of the same shape.
      name: the operations' name.

    Returns:
      A loss for each element.

    Raises:
      ValueError: the shapes differ.
    """
    return _v1.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)
