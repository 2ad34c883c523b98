"""The base of optimizers of constrained problems."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.constrained_optimization.constrained_minimization_problem import (
    ConstrainedMinimizationProblem,
)

__all__ = ["ConstrainedOptimizer"]

_v1 = tf.compat.v1
_GATE_OP = _v1.train.Optimizer.GATE_OP


class ConstrainedOptimizer(abc.ABC):
    """Minimizes a problem's objective, subject to its constraints.

    A subclass defines ``_minimize_constrained``, with the arguments of ``minimize_constrained``.
    It leaves ``pre_train_ops`` to the caller.

    Args:
      optimizer: the ``tf.compat.v1.train.Optimizer`` of the model's variables.
    """

    def __init__(self, optimizer: Any):
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """The optimizer of the model's variables."""
        return self._optimizer

    @abc.abstractmethod
    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = _GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Returns the operation of one step."""

    def minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = _GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Makes one step towards the constrained minimum.

        Args:
          minimization_problem: the problem.
          global_step: a variable to increment.
          var_list: the variables to change; by default the trainable ones.
          gate_gradients: as in ``tf.compat.v1.train.Optimizer.minimize``.
          aggregation_method: as there.
          colocate_gradients_with_ops: as there.
          name: the step's name.
          grad_loss: as there.

        Returns:
          An operation or a tensor to run.

        Raises:
          ValueError: the problem's tensors have different types, or shapes that do not match.
        """
        return self._after_pre_train_ops(
            minimization_problem,
            lambda: self._minimize_constrained(
                minimization_problem,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            ),
        )

    def minimize_unconstrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = _GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Makes one step towards the objective's minimum, without regard to the constraints.

        The arguments and the result are those of ``minimize_constrained``.
        """
        return self._after_pre_train_ops(
            minimization_problem,
            lambda: self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            ),
        )

    def minimize(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        unconstrained_steps: Any = None,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = _GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Makes one step, which is unconstrained at the start of the training.

        The unconstrained minimum can be a good start for the constrained problem.

        Args:
          minimization_problem: the problem.
          unconstrained_steps: the global step at which constrained steps begin; None for
            constrained steps only.
          global_step: a variable to increment.
          var_list: the variables to change; by default the trainable ones.
          gate_gradients: as in ``tf.compat.v1.train.Optimizer.minimize``.
          aggregation_method: as there.
          colocate_gradients_with_ops: as there.
          name: the step's name.
          grad_loss: as there.

        Returns:
          An operation or a tensor to run.

        Raises:
          ValueError: unconstrained_steps is given without global_step, or the problem's tensors
            do not fit together.
        """
        arguments: dict[str, Any] = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **arguments)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided.")
        limit = tf.convert_to_tensor(unconstrained_steps)
        return _v1.cond(
            tf.cast(global_step, limit.dtype) < limit,
            true_fn=lambda: self.minimize_unconstrained(minimization_problem, **arguments),
            false_fn=lambda: self.minimize_constrained(minimization_problem, **arguments),
        )

    @staticmethod
    def _after_pre_train_ops(
        problem: ConstrainedMinimizationProblem, step: Callable[[], Any]
    ) -> Any:
        first = problem.pre_train_ops
        if not first:
            return step()
        with tf.control_dependencies(first):
            return step()
