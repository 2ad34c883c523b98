"""Linear operators as pairs of functions, and norms of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

__all__ = [
    "LinearOperator",
    "create_operator",
    "dot",
    "identity_operator",
    "l2norm",
    "l2norm_squared",
    "l2normalize",
]


class LinearOperator(NamedTuple):
    """A linear operator.

    Attributes:
      shape: the numbers of its rows and columns: a list, or a tensor of two.
      dtype: the type of its numbers.
      apply: the product of the operator and a matrix.
      apply_adjoint: the product of its conjugate transpose and a matrix.
    """

    shape: Any
    dtype: tf.DType
    apply: Callable[[tf.Tensor], tf.Tensor]
    apply_adjoint: Callable[[tf.Tensor], tf.Tensor]


def create_operator(matrix: tf.Tensor) -> LinearOperator:
    """Returns the operator of a matrix."""
    return LinearOperator(
        _shape(matrix),
        matrix.dtype,
        lambda v: tf.matmul(matrix, v),
        lambda v: tf.matmul(matrix, v, adjoint_a=True),
    )


def identity_operator(matrix: tf.Tensor) -> LinearOperator:
    """Returns the operator that changes nothing, of a matrix's shape and type."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


def _shape(matrix: tf.Tensor) -> Any:
    return matrix.shape.as_list() if matrix.shape.is_fully_defined() else tf.shape(matrix)


def dot(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns the sum of the products of x, conjugated, and y."""
    return tf.reduce_sum(tf.math.conj(x) * y)


def l2norm_squared(v: tf.Tensor) -> tf.Tensor:
    """Returns the sum of squares."""
    return tf.constant(2, v.dtype.base_dtype) * tf.nn.l2_loss(v)


def l2norm(v: tf.Tensor) -> tf.Tensor:
    """Returns the root of the sum of squares."""
    return tf.sqrt(l2norm_squared(v))


def l2normalize(v: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns a vector of length one, and the length before."""
    length = l2norm(v)
    return v / length, length
