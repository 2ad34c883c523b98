"""Bidiagonalization of a linear operator (Golub, Kahan 1965).

Its vectors are kept as rows of tensor arrays, which stack them along the first axis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.solvers import util

__all__ = ["LanczosBidiagState", "bidiag_matmul", "lanczos_bidiag"]

# A vector that orthogonalization made shorter than this is orthogonalized again (Parlett 1980).
_SHORTENED = 0.7071


class LanczosBidiagState(NamedTuple):
    """A bidiagonalization ``operator * v = u * b``.

    Attributes:
      u: the left vectors, of shape [rows, k + 1].
      v: the right vectors, of shape [columns, k].
      alpha: the diagonal of b, of shape [k].
      beta: the subdiagonal of b, of shape [k].
    """

    u: Any
    v: Any
    alpha: Any
    beta: Any


def lanczos_bidiag(
    operator: Any,
    k: Any,
    orthogonalize: bool = True,
    starting_vector: tf.Tensor | None = None,
    name: str = "lanczos_bidiag",
) -> LanczosBidiagState:
    """Computes k steps of a bidiagonalization.

    Args:
      operator: a `util.LinearOperator`, or an object with the same attributes.
      k: the number of steps.
      orthogonalize: whether to make each vector orthogonal to all before it.
      starting_vector: the first left vector, of shape [rows]; a random one by default.
      name: the operations' name.

    Returns:
      The vectors, and the two diagonals.
    """
    with tf.name_scope(name):
        dtype = operator.dtype
        if starting_vector is None:
            starting_vector = tf.compat.v1.random_uniform(operator.shape[:1], -1, 1, dtype)
        first, _ = util.l2normalize(starting_vector)

        def array(size: Any, name: str) -> tf.TensorArray:
            return tf.TensorArray(dtype, size, clear_after_read=False, name=name)

        def step(i: tf.Tensor, state: LanczosBidiagState) -> tuple[tf.Tensor, Any]:
            left = _column(state.u, i)
            right = operator.apply_adjoint(left)
            shape = right.shape
            right = tf.cond(
                i > 0,
                lambda: right - state.beta.read(i - 1) * _column(state.v, i - 1),
                lambda: right,
            )
            right.set_shape(shape)
            right, alpha = _normalized(right, state.v, i - 1 if orthogonalize else None)
            left = operator.apply(right) - alpha * left
            left, beta = _normalized(left, state.u, i if orthogonalize else None)
            return i + 1, LanczosBidiagState(
                state.u.write(i + 1, tf.squeeze(left)),
                state.v.write(i, tf.squeeze(right)),
                state.alpha.write(i, alpha),
                state.beta.write(i, beta),
            )

        state = LanczosBidiagState(
            array(k + 1, "u").write(0, tf.squeeze(first)),
            array(k, "v"),
            array(k, "alpha"),
            array(k, "beta"),
        )
        _, state = tf.while_loop(lambda i, _: i < k, step, [tf.constant(0), state])
        return LanczosBidiagState(
            tf.linalg.matrix_transpose(state.u.stack()),
            tf.linalg.matrix_transpose(state.v.stack()),
            state.alpha.stack(),
            state.beta.stack(),
        )


def _column(vectors: tf.TensorArray, i: Any) -> tf.Tensor:
    return tf.expand_dims(vectors.read(i), -1)


def _normalized(
    vector: tf.Tensor, basis: tf.TensorArray, count: Any
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns a vector of length one and its length, orthogonal to a number of others, or None."""
    if count is None:
        return util.l2normalize(vector)
    before = util.l2norm(vector)
    direction, length = _orthogonal(vector, basis, count)
    return tf.cond(
        length < _SHORTENED * before,
        lambda: _orthogonal(vector, basis, count),
        lambda: (direction, length),
    )


def _orthogonal(
    vector: tf.Tensor, basis: tf.TensorArray, count: Any
) -> tuple[tf.Tensor, tf.Tensor]:
    def without(j: tf.Tensor, rest: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        other = _column(basis, j)
        left = rest - tf.matmul(other, rest, adjoint_a=True) * other
        left.set_shape(rest.shape)
        return j + 1, left

    _, rest = tf.while_loop(lambda j, _: j < count, without, [tf.constant(0), vector])
    return util.l2normalize(rest)


def bidiag_matmul(
    matrix: tf.Tensor,
    alpha: tf.Tensor,
    beta: tf.Tensor,
    adjoint_b: bool = False,
    name: str = "bidiag_matmul",
) -> tf.Tensor:
    """Multiplies a matrix by a lower bidiagonal one of shape [k + 1, k].

    Args:
      matrix: the matrix, of shape [rows, k + 1]; with ``adjoint_b``, [rows, k].
      alpha: the diagonal, of shape [k].
      beta: the subdiagonal, of shape [k].
      adjoint_b: whether to multiply by the transpose of the first k rows.
      name: the operations' name.

    Returns:
      The product, of shape [rows, k].
    """
    with tf.name_scope(name):
        if not adjoint_b:
            return matrix[:, :-1] * alpha[tf.newaxis] + matrix[:, 1:] * beta[tf.newaxis]
        zeros = tf.zeros([tf.shape(matrix)[0], 1], matrix.dtype)
        shifted = tf.concat([zeros, matrix[:, :-1] * beta[tf.newaxis, :-1]], 1)
        return matrix * alpha[tf.newaxis] + shifted
