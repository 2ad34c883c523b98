"""Powers of symmetric, positive semidefinite matrices."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["inverse_root", "power_by_svd"]

_TURNS = 100
_CLOSE = 1e-6


def power_by_svd(matrix: Any, exponent: float, epsilon: float) -> tf.Tensor:
    """Returns (matrix + epsilon * I) ** exponent."""
    values, left, right = tf.linalg.svd(_with_ridge(matrix, epsilon))
    powers = tf.pow(tf.maximum(values, epsilon), exponent)
    return tf.matmul(left * powers, right, transpose_b=True)


def inverse_root(matrix: Any, root: int, epsilon: float) -> tf.Tensor:
    """Returns (matrix + epsilon * I) ** (-1 / root), by Newton's method on two matrices.

    Iannazzo, "On the Newton method for the matrix pth root" (2006): ``power`` starts as a multiple
    of the matrix and becomes I, and ``inverse`` becomes the root.
    """
    matrix = _with_ridge(matrix, epsilon)
    identity = tf.eye(tf.shape(matrix)[0], dtype=matrix.dtype)
    scale = (1.0 + root) / (2.0 * tf.norm(matrix))

    def is_far(turn: Any, power: Any, inverse: Any) -> Any:
        del inverse
        return tf.logical_and(turn < _TURNS, tf.reduce_max(tf.abs(power - identity)) > _CLOSE)

    def improve(turn: Any, power: Any, inverse: Any) -> Any:
        step = ((root + 1) * identity - power) / root
        return turn + 1, tf.matmul(_to_the(step, root), power), tf.matmul(inverse, step)

    start = (tf.constant(0), matrix * scale, identity * tf.pow(scale, 1.0 / root))
    return tf.while_loop(is_far, improve, start)[2]


def _with_ridge(matrix: Any, epsilon: float) -> tf.Tensor:
    return matrix + epsilon * tf.eye(tf.shape(matrix)[0], dtype=matrix.dtype)


def _to_the(matrix: Any, exponent: int) -> Any:
    """Returns a matrix to an integer power, by squares."""
    result = None
    while exponent:
        if exponent % 2:
            result = matrix if result is None else tf.matmul(result, matrix)
        exponent //= 2
        matrix = tf.matmul(matrix, matrix) if exponent else matrix
    return result
