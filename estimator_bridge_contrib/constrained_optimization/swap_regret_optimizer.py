"""Constrained optimization by a matrix that weighs the objective and the constraints."""

from __future__ import annotations

import abc
import math
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.constrained_optimization.projections import (
    nearest_log_stochastic_matrix,
    nearest_stochastic_matrix,
    principal_eigenvector,
)
from estimator_bridge_contrib.constrained_optimization.two_player_optimizer import (
    TwoPlayerOptimizer,
)

__all__ = [
    "AdditiveSwapRegretOptimizer",
    "MultiplicativeSwapRegretOptimizer",
    "SwapRegretOptimizer",
]

# Their names in TensorFlow 1.15.5, whose tests call them.
_maximal_eigenvector_power_method = principal_eigenvector
_project_log_stochastic_matrix_wrt_kl_divergence = nearest_log_stochastic_matrix
_project_stochastic_matrix_wrt_euclidean_norm = nearest_stochastic_matrix


class SwapRegretOptimizer(TwoPlayerOptimizer):
    """A base for optimizers that learn a matrix: section 4 of https://arxiv.org/abs/1804.06500.

    Its columns are probabilities. Its stationary distribution weighs the objective, which is
    first, and the constraints. The theory asks for this in problems with proxies of constraints.

    Args:
      optimizer: the optimizer of the model's variables.
      constraint_optimizer: the optimizer of the state; by default, ``optimizer``.
    """

    _state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any:
        """Returns the matrix of a state, of shape [1 + constraints, 1 + constraints]."""

    def _distribution(self, state: Any) -> tf.Tensor:
        """Returns the weights of the objective and the constraints, whose sum is 1."""
        weights = tf.abs(
            principal_eigenvector(tf.convert_to_tensor(self._stochastic_matrix(state)))
        )
        return weights / tf.reduce_sum(weights)

    def _loss_and_gradient(
        self, state: Any, objective: tf.Tensor, constraints: tf.Tensor, proxies: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        weights = self._distribution(state)
        violations = tf.concat([tf.zeros([1], constraints.dtype), constraints], 0)
        penalized = tf.concat([tf.expand_dims(objective, 0), proxies], 0)
        loss = tf.tensordot(tf.cast(weights, penalized.dtype), penalized, 1)
        column = tf.expand_dims(tf.cast(violations, weights.dtype), 1)
        return loss, tf.matmul(column, tf.expand_dims(weights, 0))


class AdditiveSwapRegretOptimizer(SwapRegretOptimizer):
    """Adds the optimizer's steps to the matrix, and projects it.

    The matrix is the variable ``swap_regret_optimizer_state``, of shape
    [1 + constraints, 1 + constraints]. At the start, the objective has all of the weight.

    Args:
      optimizer: the optimizer of the model's variables.
      constraint_optimizer: the optimizer of the matrix; by default, ``optimizer``.
    """

    def _initial_state(self, num_constraints: int) -> tf.Tensor:
        size = num_constraints + 1
        return tf.concat([tf.ones([1, size]), tf.zeros([num_constraints, size])], 0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return state

    def _project(self, state: tf.Tensor) -> tf.Tensor:
        return nearest_stochastic_matrix(state)


class MultiplicativeSwapRegretOptimizer(SwapRegretOptimizer):
    """Multiplies the matrix by the exponentials of the optimizer's steps, and normalizes it.

    The variable ``swap_regret_optimizer_state`` has the logarithms of the matrix, of shape
    [1 + constraints, 1 + constraints]. The method is close to Algorithm 2 of
    https://arxiv.org/abs/1804.06500.

    Args:
      optimizer: the optimizer of the model's variables.
      constraint_optimizer: the optimizer of the logarithms; by default, ``optimizer``.
      minimum_multiplier_radius: the smallest element of the matrix, times 1 + constraints.
      initial_multiplier_radius: the first value of the constraints' elements, times
        1 + constraints; the smallest one by default.

    Raises:
      ValueError: the smallest element is not between 0 and 1, or the first value is smaller.
    """

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        smallest, first = minimum_multiplier_radius, initial_multiplier_radius
        if not 0 < smallest < 1:
            raise ValueError(
                f"minimum_multiplier_radius must be in the range (0,1), got {smallest}."
            )
        if first is not None and first < smallest:
            raise ValueError(
                "initial_multiplier_radius must be in the range [minimum_multiplier_radius,1], "
                f"got {first}, which is less than {smallest}."
            )
        self._smallest, self._first = smallest, smallest if first is None else first

    def _initial_state(self, num_constraints: int) -> tf.Tensor:
        size = num_constraints + 1
        share = self._first / size
        objective = tf.fill([1, size], math.log(1 - share * num_constraints))
        return tf.concat([objective, tf.fill([num_constraints, size], math.log(share))], 0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return tf.exp(state)

    def _project(self, state: tf.Tensor) -> tf.Tensor:
        smallest = math.log(self._smallest / state.shape.as_list()[0])
        return tf.maximum(nearest_log_stochastic_matrix(state), smallest)
