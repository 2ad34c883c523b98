"""Conjugate gradients (Hestenes, Stiefel 1952) for a selfadjoint, positive definite operator."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.solvers import util

__all__ = ["CGState", "conjugate_gradient"]


class CGState(NamedTuple):
    """The state of conjugate gradients after some steps.

    Attributes:
      i: the number of steps.
      x: the solution.
      r: the residual.
      p: the direction of the next step.
      gamma: the residual's square, weighed by the preconditioner.
    """

    i: tf.Tensor
    x: tf.Tensor
    r: tf.Tensor
    p: tf.Tensor
    gamma: tf.Tensor

    def squeezed(self) -> CGState:
        """Returns the state with vectors instead of columns."""
        return self._replace(x=tf.squeeze(self.x), r=tf.squeeze(self.r), p=tf.squeeze(self.p))


def conjugate_gradient(
    operator: Any,
    rhs: tf.Tensor,
    preconditioner: Any = None,
    x: tf.Tensor | None = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> CGState:
    """Solves ``operator * x = rhs``.

    Args:
      operator: a selfadjoint, positive definite `util.LinearOperator`, or an object with the same
        attributes.
      rhs: a vector, of shape [size].
      preconditioner: an operator that approximates the inverse, or None.
      x: the first solution, of shape [size]; zeros by default.
      tol: the residual's norm at which to stop, as a share of the first one.
      max_iter: the largest number of steps.
      name: the operations' name.

    Returns:
      The last state, with vectors of shape [size].
    """
    with tf.name_scope(name):
        residual = tf.expand_dims(rhs, -1)
        if x is None:
            start = tf.expand_dims(tf.zeros(operator.shape[1:], residual.dtype.base_dtype), -1)
        else:
            start = tf.expand_dims(x, -1)
            residual -= operator.apply(start)
        direction = preconditioner.apply(residual) if preconditioner else residual
        limit = tol * tf.norm(residual)
        state = CGState(tf.constant(0), start, residual, direction, util.dot(residual, direction))

        def goes_on(state: CGState) -> tf.Tensor:
            return tf.logical_and(state.i < max_iter, tf.norm(state.r) > limit)

        def step(state: CGState) -> list[CGState]:
            image = operator.apply(state.p)
            length = state.gamma / util.dot(state.p, image)
            residual = state.r - length * image
            weighed = preconditioner.apply(residual) if preconditioner else residual
            gamma = util.dot(residual, weighed)
            direction = weighed + gamma / state.gamma * state.p
            solution = state.x + length * state.p
            return [CGState(state.i + 1, solution, residual, direction, gamma)]

        [state] = tf.while_loop(goes_on, step, [state])
        return state.squeezed()
