"""A step of a game: one player changes the model, the other the weights of the constraints.

https://arxiv.org/abs/1804.06500 describes the games.
"""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.constrained_optimization.constrained_minimization_problem import (
    ConstrainedMinimizationProblem,
)
from estimator_bridge_contrib.constrained_optimization.constrained_optimizer import (
    ConstrainedOptimizer,
)

__all__ = ["TwoPlayerOptimizer"]

_v1 = tf.compat.v1


class TwoPlayerOptimizer(ConstrainedOptimizer):
    """An optimizer that learns the weights of the constraints along with the model.

    The weights derive from a variable, the state.

    Args:
      optimizer: the optimizer of the model's variables.
      constraint_optimizer: the optimizer of the state; by default, ``optimizer``.
    """

    _state_name = ""

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None):
        super().__init__(optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """The optimizer of the state, or None if it is that of the model."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> tf.Tensor:
        """Returns the state's first value."""

    @abc.abstractmethod
    def _project(self, state: tf.Tensor) -> tf.Tensor:
        """Returns the allowed state that is nearest to a value of the state."""

    @abc.abstractmethod
    def _loss_and_gradient(
        self, state: Any, objective: tf.Tensor, constraints: tf.Tensor, proxies: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the model's loss, and the direction in which the state grows.

        Args:
          state: the variable.
          objective: the problem's objective.
          constraints: its constraints, as a vector.
          proxies: their differentiable approximations, or the constraints themselves.
        """

    def _constraint_grad_and_var(self, state: Any, gradient: tf.Tensor) -> tuple[tf.Tensor, Any]:
        """Returns the pair that an optimizer applies, so that the state grows."""
        return -gradient, state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        """Returns the assignment of the nearest allowed state."""
        return state.assign(self._project(state.read_value()), name=name)

    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = _v1.train.Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        objective, constraints, proxies = _tensors(minimization_problem)
        # A function, whose operations are free of the control dependencies of this call.
        state = tf.Variable(
            lambda: self._initial_state(minimization_problem.num_constraints),
            trainable=False,
            name=self._state_name,
        )
        loss, direction = self._loss_and_gradient(state, objective, constraints, proxies)
        pairs = self.optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        own_pair = self._constraint_grad_and_var(state, direction)
        # Both players' gradients are computed before either moves.
        gradients = [gradient for gradient, _ in [*pairs, own_pair] if gradient is not None]
        with tf.control_dependencies(gradients):
            updates = self._apply(pairs, own_pair)
        with tf.control_dependencies(updates):
            if global_step is None:
                return self._projection_op(state, name=name)
            projection = self._projection_op(state, name="project")
            step = _v1.assign_add(global_step, 1, name="global_step_increment")
            return tf.group(projection, step, name=name)

    def _apply(self, pairs: list[Any], own_pair: Any) -> list[Any]:
        if self.constraint_optimizer is None:
            return [self.optimizer.apply_gradients([*pairs, own_pair], name="update")]
        return [
            self.optimizer.apply_gradients(pairs, name="update"),
            self.constraint_optimizer.apply_gradients([own_pair], name="optimizer_state_update"),
        ]


def _tensors(problem: ConstrainedMinimizationProblem) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the objective, the constraints and their proxies, the last two as vectors."""
    objective, constraints, proxies = (
        problem.objective,
        problem.constraints,
        problem.proxy_constraints,
    )
    if proxies is None:
        proxies = constraints
    types = [each.dtype.base_dtype for each in (objective, constraints, proxies)]
    if len(set(types)) > 1:
        raise ValueError(
            "objective, constraints and proxy_constraints must have the same dtype, got "
            + ", ".join(each.name for each in types)
            + "."
        )
    shape = [problem.num_constraints]
    return objective, tf.reshape(constraints, shape), tf.reshape(proxies, shape)
