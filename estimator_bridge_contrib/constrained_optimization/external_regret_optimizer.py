"""Constrained optimization by Lagrange multipliers."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.constrained_optimization.projections import nearest_multipliers
from estimator_bridge_contrib.constrained_optimization.two_player_optimizer import (
    TwoPlayerOptimizer,
)

__all__ = ["AdditiveExternalRegretOptimizer", "ExternalRegretOptimizer"]

# Its name in TensorFlow 1.15.5, whose tests call it.
_project_multipliers_wrt_euclidean_norm = nearest_multipliers


class ExternalRegretOptimizer(TwoPlayerOptimizer):
    """A base for optimizers that minimize a Lagrangian: section 3 of arxiv.org/abs/1804.06500.

    Args:
      optimizer: the optimizer of the model's variables.
      constraint_optimizer: the optimizer of the state; by default, ``optimizer``.
    """

    _state_name = "external_regret_optimizer_state"

    @abc.abstractmethod
    def _lagrange_multipliers(self, state: Any) -> Any:
        """Returns the multipliers of a state, of shape [constraints]."""

    def _loss_and_gradient(
        self, state: Any, objective: tf.Tensor, constraints: tf.Tensor, proxies: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        multipliers = self._lagrange_multipliers(state)
        penalty = tf.tensordot(tf.cast(multipliers, proxies.dtype), proxies, 1)
        return objective + penalty, tf.cast(constraints, multipliers.dtype.base_dtype)


class AdditiveExternalRegretOptimizer(ExternalRegretOptimizer):
    """Minimizes a Lagrangian over the model, and maximizes it over the multipliers.

    The multipliers are the variable ``external_regret_optimizer_state``, of shape [constraints].
    The method is close to Algorithm 3 of https://arxiv.org/abs/1804.06500.

    Args:
      optimizer: the optimizer of the model's variables.
      constraint_optimizer: the optimizer of the multipliers; by default, ``optimizer``.
      maximum_multiplier_radius: the largest sum of the multipliers; None for any.

    Raises:
      ValueError: the largest sum is negative.
    """

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        maximum_multiplier_radius: float | None = None,
    ):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius < 0:
            raise ValueError(
                "maximum_multiplier_radius must be strictly positive, got "
                f"{maximum_multiplier_radius}."
            )
        self._radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> tf.Tensor:
        return tf.zeros([num_constraints])

    def _lagrange_multipliers(self, state: Any) -> Any:
        return state

    def _project(self, state: tf.Tensor) -> tf.Tensor:
        return nearest_multipliers(state, self._radius) if self._radius else tf.nn.relu(state)
