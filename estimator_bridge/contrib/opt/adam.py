"""Optimizers like Adam (Kingma and Ba 2014), with the same slots: ``m`` and ``v``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.opt.either import EitherVariables, factor

__all__ = [
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "NadamOptimizer",
]

_v1 = tf.compat.v1


class _LazyRows:
    """Of a table, updates the rows that have a gradient alone; plain Adam moves all of them on."""

    def _apply_sparse(self, grad: tf.IndexedSlices, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self: Any, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        rate, beta1, beta2, epsilon = _settings(self, var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        new_v = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        change = rate * new_m / (tf.sqrt(new_v) + epsilon)
        return tf.group(
            _v1.scatter_update(m, indices, new_m),
            _v1.scatter_update(v, indices, new_v),
            _v1.scatter_sub(var, indices, change),
        )


class LazyAdamOptimizer(_LazyRows, tf.compat.v1.train.AdamOptimizer):
    """Adam that leaves rows of a table alone which a batch does not use.

    The arguments are those of tf.train.AdamOptimizer.
    """


class AdamGSOptimizer(tf.compat.v1.train.AdamOptimizer):
    """Adam that counts its steps by the global step, and has no variables beta1_power of its own.

    Args:
      global_step: the step that counts, before its increment.
      learning_rate: see tf.train.AdamOptimizer, as the others.
      beta1: see there.
      beta2: see there.
      epsilon: see there.
      use_locking: see there.
      name: see there.
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._step, self._count = global_step, None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        self._count = tf.cast(tf.identity(self._step) + 1, tf.float32)

    def _get_beta_accumulators(self) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.pow(self._beta1_t, self._count), tf.pow(self._beta2_t, self._count)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        return tf.group(*update_ops, name=name_scope)


class LazyAdamGSOptimizer(_LazyRows, AdamGSOptimizer):
    """LazyAdamOptimizer, counting as AdamGSOptimizer does."""


class NadamOptimizer(EitherVariables, tf.compat.v1.train.AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016). The arguments are tf.train.AdamOptimizer's."""

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        rate, beta1, beta2, epsilon = _settings(self, var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m, new_v = beta1 * m + (1 - beta1) * grad, beta2 * v + (1 - beta2) * tf.square(grad)
        ahead = beta1 * new_m + (1 - beta1) * grad
        change = rate * ahead / (tf.sqrt(new_v) + epsilon)
        return tf.group(_v1.assign(m, new_m), _v1.assign(v, new_v), _v1.assign_sub(var, change))

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        rate, beta1, beta2, epsilon = _settings(self, var)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        row_m = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        row_v = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        change = rate * (beta1 * row_m + (1 - beta1) * grad) / (tf.sqrt(row_v) + epsilon)
        # All rows' averages decay; the weights of those with a gradient change.
        with tf.control_dependencies([row_m, row_v]):
            decayed = [_v1.assign(m, beta1 * m), _v1.assign(v, beta2 * v)]
        with tf.control_dependencies(decayed):
            rows = [_v1.scatter_update(m, indices, row_m), _v1.scatter_update(v, indices, row_v)]
        return tf.group(*rows, _v1.scatter_sub(var, indices, change))


class AdaMaxOptimizer(EitherVariables, tf.compat.v1.train.AdamOptimizer):
    """Adam by the largest gradient so far (section 7 of its paper).

    The arguments are those of tf.train.AdamOptimizer.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda var: var.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for var in var_list:
            self._zeros_slot(var, "m", self._name)
            self._zeros_slot(var, "v", self._name)

    def _power(self) -> Any:
        graph = None if tf.executing_eagerly() else _v1.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _step(self, grad: tf.Tensor, var: Any, m: Any, v: Any) -> tuple[Any, Any, Any]:
        beta1, beta2 = factor(self._beta1_t, var), factor(self._beta2_t, var)
        new_m = beta1 * m + (1 - beta1) * grad
        new_v = tf.maximum(beta2 * v, tf.abs(grad))
        rate = factor(self._lr_t, var) / (1 - factor(self._power(), var))
        return new_m, new_v, rate * new_m / (new_v + factor(self._epsilon_t, var))

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        new_m, new_v, change = self._step(grad, var, m, v)
        return tf.group(_v1.assign(m, new_m), _v1.assign(v, new_v), _v1.assign_sub(var, change))

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        rows = tf.gather(m, indices), tf.gather(v, indices)
        new_m, new_v, change = self._step(grad, var, *rows)
        return tf.group(
            _v1.scatter_update(m, indices, new_m),
            _v1.scatter_update(v, indices, new_v),
            _v1.scatter_sub(var, indices, change),
        )

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            power = self._power()
            moved = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, moved, name=name_scope)


def _settings(optimizer: Any, var: Any) -> tuple[Any, Any, Any, Any]:
    """The learning rate with Adam's correction for the first steps, both betas, and epsilon."""
    beta1_power, beta2_power = (factor(p, var) for p in optimizer._get_beta_accumulators())
    rate = factor(optimizer._lr_t, var) * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
    beta1, beta2 = factor(optimizer._beta1_t, var), factor(optimizer._beta2_t, var)
    return rate, beta1, beta2, factor(optimizer._epsilon_t, var)
