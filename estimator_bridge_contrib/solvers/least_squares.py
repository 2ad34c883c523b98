"""Least squares by conjugate gradients of the normal equations."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.solvers import util

__all__ = ["CGLSState", "cgls"]


class CGLSState(NamedTuple):
    """The state after some steps.

    Attributes:
      i: the number of steps.
      x: the solution.
      r: the residual.
      p: the direction of the next step.
      gamma: the square of the normal equations' residual.
    """

    i: tf.Tensor
    x: tf.Tensor
    r: tf.Tensor
    p: tf.Tensor
    gamma: tf.Tensor

    def squeezed(self) -> CGLSState:
        """Returns the state with vectors instead of columns."""
        return self._replace(x=tf.squeeze(self.x), r=tf.squeeze(self.r), p=tf.squeeze(self.p))


def cgls(
    operator: Any, rhs: tf.Tensor, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls"
) -> CGLSState:
    """Finds the x for which ``operator * x - rhs`` is shortest.

    Args:
      operator: a `util.LinearOperator`, or an object with the same attributes.
      rhs: a vector, of shape [rows].
      tol: the norm of the normal equations' residual at which to stop, as a share of the first.
      max_iter: the largest number of steps.
      name: the operations' name.

    Returns:
      The last state: ``x`` and ``p`` have the shape [columns], ``r`` has [rows].
    """
    with tf.name_scope(name):
        residual = tf.expand_dims(rhs, -1)
        direction = operator.apply_adjoint(residual)
        square = util.l2norm_squared(direction)
        limit = tol * tol * square
        start = tf.expand_dims(tf.zeros(operator.shape[1:], residual.dtype.base_dtype), -1)
        state = CGLSState(tf.constant(0), start, residual, direction, square)

        def goes_on(state: CGLSState) -> tf.Tensor:
            return tf.logical_and(state.i < max_iter, state.gamma > limit)

        def step(state: CGLSState) -> list[CGLSState]:
            image = operator.apply(state.p)
            length = state.gamma / util.l2norm_squared(image)
            residual = state.r - length * image
            normal = operator.apply_adjoint(residual)
            gamma = util.l2norm_squared(normal)
            direction = normal + gamma / state.gamma * state.p
            solution = state.x + length * state.p
            return [CGLSState(state.i + 1, solution, residual, direction, gamma)]

        [state] = tf.while_loop(goes_on, step, [state])
        return state.squeezed()
