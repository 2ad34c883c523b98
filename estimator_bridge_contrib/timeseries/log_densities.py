"""Logarithms of densities."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

__all__ = ["cauchy_log_prob", "mvn_tril_log_prob", "normal_log_prob"]


def normal_log_prob(loc: Any, scale: Any, x: Any) -> tf.Tensor:
    """Computes what TensorFlow 1 called a normal distribution's log density.

    It is ``-((x - loc)**2 / scale**2 + log(2 pi) + log(scale)) / 2``: half of log(scale) is missing
    from the density, as it was in TensorFlow 1, whose losses it determines.
    """
    squared = tf.square((x - loc) / scale)
    return -0.5 * (squared + math.log(2.0 * math.pi) + tf.math.log(scale))


def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> tf.Tensor:
    """Computes the log density of a Cauchy distribution."""
    squared = tf.square((x - loc) / scale)
    return -math.log(math.pi) - tf.math.log(scale) - tf.math.log1p(squared)


def mvn_tril_log_prob(loc: Any, scale_tril: Any, x: Any) -> tf.Tensor:
    """Computes the log density of a multivariate normal distribution.

    Args:
      loc: the means, [..., n].
      scale_tril: the Cholesky factors of the covariances, [..., n, n].
      x: the points, [..., n].

    Returns:
      [...].
    """
    whitened = tf.linalg.triangular_solve(scale_tril, (x - loc)[..., tf.newaxis])[..., 0]
    diagonal = tf.linalg.diag_part(scale_tril)
    log_determinant = 2.0 * tf.reduce_sum(tf.math.log(diagonal), axis=-1)
    size = tf.cast(tf.shape(scale_tril)[-1], log_determinant.dtype)
    squared = tf.reduce_sum(tf.square(whitened), axis=-1)
    return -0.5 * (squared + size * math.log(2.0 * math.pi) + log_determinant)
