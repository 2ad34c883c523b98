"""Variants of Adam (Kingma and Ba 2014), with the same slots: ``m`` and ``v``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.optimizers import adam_tensors
from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates, factor

__all__ = [
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "NadamOptimizer",
]

_v1 = tf.compat.v1


class _LazyRows:
    """Updates only the rows of a table that have a gradient; plain Adam updates all of them."""

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
    """Adam that does not change rows of a table that a batch does not use.

    The arguments are those of tf.train.AdamOptimizer.
    """


class AdamGSOptimizer(tf.compat.v1.train.AdamOptimizer):
    """Adam that counts its steps by the global step, without its own beta powers.

    Args:
      global_step: the global step, before its increment.
      learning_rate: see tf.train.AdamOptimizer.
      beta1: see tf.train.AdamOptimizer.
      beta2: see tf.train.AdamOptimizer.
      epsilon: see tf.train.AdamOptimizer.
      use_locking: see tf.train.AdamOptimizer.
      name: see tf.train.AdamOptimizer.
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
    """LazyAdamOptimizer that counts steps as AdamGSOptimizer does."""


class NadamOptimizer(RefOrResourceUpdates, tf.compat.v1.train.AdamOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016); arguments as for tf.train.AdamOptimizer."""

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
        # The averages of all rows decay, but only weights with a gradient change.
        with tf.control_dependencies([row_m, row_v]):
            decayed = [_v1.assign(m, beta1 * m), _v1.assign(v, beta2 * v)]
        with tf.control_dependencies(decayed):
            rows = [_v1.scatter_update(m, indices, row_m), _v1.scatter_update(v, indices, row_v)]
        return tf.group(*rows, _v1.scatter_sub(var, indices, change))


class AdaMaxOptimizer(RefOrResourceUpdates, tf.compat.v1.train.AdamOptimizer):
    """Adam based on the infinity norm (AdaMax, section 7 of its paper).

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
            new_power = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, new_power, name=name_scope)


def _settings(optimizer: Any, var: Any) -> tuple[Any, Any, Any, Any]:
    """Returns Adam's learning rate with bias correction, both betas, and epsilon."""
    rate, beta1, beta2, epsilon, beta1_power, beta2_power = (
        factor(tensor, var) for tensor in adam_tensors(optimizer)
    )
    return rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power), beta1, beta2, epsilon
