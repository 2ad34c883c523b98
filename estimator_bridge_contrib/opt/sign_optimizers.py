"""PowerSign and AddSign: larger steps if a gradient agrees with its average.

Bello, Zoph, Vasudevan, Le, "Neural Optimizer Search with Reinforcement Learning" (2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates, factor

__all__ = ["AddSignOptimizer", "PowerSignOptimizer"]

_v1 = tf.compat.v1


class _SignOptimizer(RefOrResourceUpdates, tf.compat.v1.train.Optimizer):
    def __init__(
        self,
        learning_rate: Any,
        beta: float,
        sign_decay_fn: Callable[[Any], Any] | None,
        use_locking: bool,
        name: str,
    ):
        super().__init__(use_locking, name)
        self._rate, self._beta, self._sign_decay_fn = learning_rate, beta, sign_decay_fn
        self._sign_decay: Any = 1.0

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: Any = None):
        if self._sign_decay_fn is not None:
            self._sign_decay = self._sign_decay_fn(global_step)
        return super().apply_gradients(grads_and_vars, global_step, name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)

    def _scale(self, agreement: tf.Tensor, var: Any) -> tf.Tensor:
        """Returns a gradient's factor; ``agreement`` is 1 if its sign is its average's, else -1."""
        raise NotImplementedError

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        m, beta = self.get_slot(var, "m"), factor(self._beta, var)
        new_m = beta * m + (1 - beta) * grad
        agreement = factor(self._sign_decay, var) * tf.sign(grad) * tf.sign(new_m)
        change = factor(self._rate, var) * self._scale(agreement, var) * grad
        return tf.group(_v1.assign(m, new_m), _v1.assign_sub(var, change))

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        m, beta = self.get_slot(var, "m"), factor(self._beta, var)
        row_m = beta * tf.gather(m, indices) + (1 - beta) * grad
        agreement = factor(self._sign_decay, var) * tf.sign(grad) * tf.sign(row_m)
        change = factor(self._rate, var) * self._scale(agreement, var) * grad
        with tf.control_dependencies([row_m]):
            decayed = _v1.assign(m, beta * m)
        with tf.control_dependencies([decayed]):
            update = _v1.scatter_update(m, indices, row_m)
        return tf.group(update, _v1.scatter_sub(var, indices, change))


class PowerSignOptimizer(_SignOptimizer):
    """Steps of ``base ** (decay * sign(g) * sign(m)) * g``, where m is the average of g.

    Args:
      learning_rate: the learning rate.
      base: the base of the power.
      beta: the decay of the average.
      sign_decay_fn: a function of the global step that returns the signs' weight; 1 by default.
      use_locking: whether to block other writes.
      name: the operations' name.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._log_base = math.log(base)

    def _scale(self, agreement: tf.Tensor, var: Any) -> tf.Tensor:
        return tf.exp(factor(self._log_base, var) * agreement)


class AddSignOptimizer(_SignOptimizer):
    """Steps of ``(alpha + decay * sign(g) * sign(m)) * g``, where m is the average of g.

    Args:
      learning_rate: the learning rate.
      alpha: the term that the signs are added to.
      beta: the decay of the average.
      sign_decay_fn: a function of the global step that returns the signs' weight; 1 by default.
      use_locking: whether to block other writes.
      name: the operations' name.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _scale(self, agreement: tf.Tensor, var: Any) -> tf.Tensor:
        return factor(self._alpha, var) + agreement
