"""Sparsemax and its loss, of Martins and Astudillo (2016), https://arxiv.org/abs/1602.02068."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["sparsemax", "sparsemax_loss"]

_v1 = tf.compat.v1


def sparsemax(logits: Any, name: str | None = None) -> tf.Tensor:
    """Projects each row onto the nearest probabilities.

    The result is max(logits - tau, 0), with the tau of each row for which it sums up to 1.

    Args:
      logits: floats [batch, classes].
      name: the operations' name.

    Returns:
      The probabilities, [batch, classes]; NaN in rows with NaN or infinity, or of -infinity only.
    """
    with _v1.name_scope(name, "sparsemax", [logits]):
        logits = tf.convert_to_tensor(logits, name="logits")
        classes = tf.shape(logits)[1]
        ordered = tf.sort(logits, axis=1, direction="DESCENDING")
        sums = tf.cumsum(ordered, axis=1)
        ranks = tf.cast(tf.range(1, classes + 1), logits.dtype)
        # The support has the largest logits: those for which this holds.
        size = tf.math.count_nonzero(1 + ranks * ordered > sums, axis=1, dtype=tf.int32)
        total = tf.gather(sums, tf.maximum(size, 1) - 1, axis=1, batch_dims=1)
        tau = (total - 1) / tf.cast(size, logits.dtype)
        # Where both are 0, the gradient is that of the first.
        probabilities = tf.maximum(tf.cast(0, logits.dtype), logits - tf.expand_dims(tau, 1))
        is_invalid = tf.logical_or(tf.equal(size, 0), tf.math.is_nan(sums[:, -1]))
        missing = tf.cast(float("nan"), logits.dtype)
        return tf.where(tf.expand_dims(is_invalid, 1), missing, probabilities)


def sparsemax_loss(logits: Any, sparsemax: Any, labels: Any, name: str | None = None) -> tf.Tensor:
    """Computes the loss whose gradient is sparsemax(logits) - labels.

    Args:
      logits: floats [batch, classes].
      sparsemax: their sparsemax.
      labels: the probabilities of the classes, [batch, classes].
      name: the operations' name.

    Returns:
      The loss of each row, [batch].
    """
    with _v1.name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]):
        logits = tf.convert_to_tensor(logits, name="logits")
        sparsemax = tf.convert_to_tensor(sparsemax, name="sparsemax")
        labels = tf.convert_to_tensor(labels, name="labels")
        # Where a probability or a label is 0, an infinite logit does not count.
        in_support = tf.logical_or(sparsemax > 0, tf.math.is_nan(sparsemax))
        of_support = sparsemax * (logits - 0.5 * sparsemax)
        of_support = tf.where(in_support, of_support, tf.zeros_like(sparsemax))
        ignored = tf.logical_and(tf.equal(labels, 0), tf.math.is_inf(logits))
        of_labels = labels * (0.5 * labels - logits)
        of_labels = tf.where(ignored, tf.zeros_like(logits), of_labels)
        return tf.reduce_sum(of_support + of_labels, axis=1)
