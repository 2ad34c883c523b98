"""The sparse sums of weighted alternating least squares, whose kernels have left TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["normal_equations", "products_at"]


def normal_equations(
    factors: tf.Tensor,
    factor_weights: tf.Tensor,
    unobserved_weight: Any,
    row_weights: tf.Tensor,
    entries: tf.SparseTensor,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns what a matrix's entries add to the normal equations of its rows.

    With an entry's weight w = row_weights[i] * factor_weights[j], a row's left side is the sum of
    w * f_j f_j^T, and its right side that of (unobserved_weight + w) * value * f_j.

    Args:
      factors: the factors f of the columns, [columns, dimensions].
      factor_weights: the weights of the columns, [columns].
      unobserved_weight: the weight of all entries, a scalar.
      row_weights: the weights of the rows, [rows].
      entries: the matrix, [rows, columns].

    Returns:
      The left sides, [rows, dimensions, dimensions], and the right sides, [rows, dimensions].
    """
    at = entries.indices
    weights = tf.gather(row_weights, at[:, 0]) * tf.gather(factor_weights, at[:, 1])
    size = tf.shape(factors)[1]
    outer = tf.expand_dims(factors, 2) * tf.expand_dims(factors, 1)
    # A sparse product needs no tensor of the size entries * dimensions * dimensions.
    left = tf.sparse.sparse_dense_matmul(
        entries.with_values(weights), tf.reshape(outer, [-1, size * size])
    )
    right = tf.sparse.sparse_dense_matmul(
        entries.with_values(entries.values * (unobserved_weight + weights)), factors
    )
    return tf.reshape(left, [-1, size, size]), right


def products_at(left: tf.Tensor, right: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """Returns the entries of left * right^T at some indices, [entries, 2]."""
    rows, columns = tf.gather(left, indices[:, 0]), tf.gather(right, indices[:, 1])
    return tf.reduce_sum(rows * columns, axis=1)
