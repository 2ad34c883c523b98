"""Covariance matrices: made of variables and of features, limited, and judged by a prior."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.dense import fully_connected

__all__ = [
    "clip_covariance",
    "entropy_matched_cauchy_scale",
    "log_noninformative_covariance_prior",
    "sign_magnitude_positive_definite",
    "transform_to_covariance_matrices",
    "variable_covariance_matrix",
]

_v1 = tf.compat.v1


def clip_covariance(
    covariance_matrix: Any, maximum_variance_ratio: Any, minimum_variance: Any
) -> tf.Tensor:
    """Raises small variances of covariance matrices, so that filters stay stable.

    Args:
      covariance_matrix: [..., n, n].
      maximum_variance_ratio: the largest allowed ratio of two variances of a matrix.
      minimum_variance: the smallest allowed variance.

    Returns:
      [..., n, n].
    """
    variances = tf.linalg.diag_part(covariance_matrix)
    largest = tf.reduce_max(variances, axis=-1, keepdims=True)
    raised = tf.maximum(variances, largest / maximum_variance_ratio)
    return tf.linalg.set_diag(covariance_matrix, tf.maximum(raised, minimum_variance))


def sign_magnitude_positive_definite(
    raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0
) -> tf.Tensor:
    """Makes positive definite matrices of any numbers.

    The result is ``C^T C``. C's diagonal is ``exp((raw[i, i] + overall_scale) / 2)``; above it,
    ``softsign(raw[j, i]) exp((raw[i, j] + off_diagonal_scale + overall_scale) / 2)``.

    Args:
      raw: [..., n, n].
      off_diagonal_scale: a number, or [...].
      overall_scale: a number, or [...].

    Returns:
      [..., n, n].
    """
    raw = tf.convert_to_tensor(raw)
    diagonal = tf.linalg.diag_part(raw)

    def up_to(scale: Any, rank: tf.Tensor) -> tf.Tensor:
        scale = tf.convert_to_tensor(scale, dtype=raw.dtype.base_dtype)
        ones = tf.ones([rank - tf.rank(scale)], dtype=rank.dtype)
        return tf.reshape(scale, tf.concat([tf.shape(scale), ones], axis=0))

    rank = tf.rank(raw)
    magnitude = tf.exp((raw + up_to(off_diagonal_scale, rank) + up_to(overall_scale, rank)) / 2.0)
    signed = magnitude * tf.nn.softsign(tf.linalg.matrix_transpose(raw))
    signed.set_shape(raw.shape)
    factor = tf.linalg.set_diag(
        tf.linalg.band_part(signed, 0, -1),
        tf.exp((diagonal + up_to(overall_scale, tf.rank(diagonal))) / 2.0),
    )
    return tf.matmul(factor, factor, transpose_a=True)


def transform_to_covariance_matrices(input_vectors: Any, matrix_size: int) -> tf.Tensor:
    """Makes covariance matrices of vectors, by a dense layer.

    Args:
      input_vectors: [batch, size].
      matrix_size: n.

    Returns:
      [batch, n, n].
    """
    values = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    shape = tf.concat([tf.shape(values)[:-1], [matrix_size, matrix_size]], 0)
    return sign_magnitude_positive_definite(
        raw=tf.reshape(values[..., :-2], shape),
        off_diagonal_scale=values[..., -2],
        overall_scale=values[..., -1],
    )


def variable_covariance_matrix(
    size: int,
    name: str,
    dtype: Any,
    initial_diagonal_values: Any = None,
    initial_overall_scale_log: Any = 0.0,
) -> tf.Tensor:
    """Makes a covariance matrix of variables.

    Args:
      size: n.
      name: the matrix's name; the variables are ``NAME_pre_transform``,
        ``NAME_off_diagonal_scale`` and ``NAME_overall_scale``.
      dtype: the type.
      initial_diagonal_values: what to multiply the initial variances by, [n].
      initial_overall_scale_log: the logarithm of what to multiply the initial matrix by.

    Returns:
      [n, n].
    """
    raw = _v1.get_variable(
        f"{name}_pre_transform",
        dtype=dtype,
        shape=[size, size],
        initializer=_v1.zeros_initializer(),
    )
    if initial_diagonal_values is not None:
        raw = raw + tf.linalg.diag(tf.math.log(initial_diagonal_values))
    off_diagonal = _v1.get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=tf.constant(-5.0, dtype=dtype)
    )
    initial = tf.convert_to_tensor(initial_overall_scale_log, dtype=dtype)
    overall = _v1.get_variable(
        f"{name}_overall_scale", dtype=dtype, shape=[], initializer=_v1.zeros_initializer()
    )
    matrix = sign_magnitude_positive_definite(raw, off_diagonal, initial + overall)
    return tf.identity(matrix, name=name)


def log_noninformative_covariance_prior(covariance: Any) -> tf.Tensor:
    """Computes the log of a prior that prefers small noise: ``det(covariance)**(-(n + 1) / 2)``.

    Villegas, "On the A Priori Distribution of the Covariance Matrix", 1969. 1e-8 is added to the
    variances.

    Args:
      covariance: [n, n].

    Returns:
      A number.
    """
    size = tf.shape(covariance)[0]
    covariance += tf.linalg.diag(1e-8 * tf.ones([size], dtype=covariance.dtype))
    power = -(tf.cast(tf.shape(covariance)[0] + 1, covariance.dtype) / 2.0)
    return power * tf.math.log(tf.linalg.det(covariance))


def entropy_matched_cauchy_scale(covariance: Any) -> tf.Tensor:
    """Computes scales of Cauchy distributions with the entropies of normal distributions.

    Equal entropies, ``log(2 pi e variance) / 2 = log(4 pi scale)``, give
    ``scale = sqrt(e variance / (8 pi))``.

    Args:
      covariance: [batch, n, n], of which only the variances count.

    Returns:
      [batch, n].
    """
    return tf.sqrt(math.e / (8.0 * math.pi) * tf.linalg.diag_part(covariance))
