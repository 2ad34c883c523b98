"""Distances of embeddings in a batch."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["distances", "squared_distances"]


def squared_distances(embeddings: tf.Tensor) -> tf.Tensor:
    """Returns squared Euclidean distances.

    Args:
      embeddings: [batch, size].

    Returns:
      [batch, batch]; exactly 0 on the diagonal, and never negative.
    """
    products = tf.matmul(embeddings, embeddings, transpose_b=True)
    squares = tf.linalg.diag_part(products)
    distances = tf.expand_dims(squares, 1) + tf.expand_dims(squares, 0) - 2.0 * products
    return tf.linalg.set_diag(tf.maximum(distances, 0.0), tf.zeros_like(squares))


def distances(embeddings: tf.Tensor) -> tf.Tensor:
    """Returns Euclidean distances, whose gradients are 0 where they are 0.

    Args:
      embeddings: [batch, size].

    Returns:
      [batch, batch].
    """
    squares = squared_distances(embeddings)
    is_zero = tf.equal(squares, 0.0)  # the root has no gradient there
    roots = tf.sqrt(tf.where(is_zero, tf.ones_like(squares), squares))
    return tf.where(is_zero, tf.zeros_like(squares), roots)
