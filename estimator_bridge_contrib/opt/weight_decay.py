"""Decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight Decay", 2017)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

__all__ = [
    "AdamWOptimizer",
    "DecoupledWeightDecayExtension",
    "MomentumWOptimizer",
    "extend_with_decoupled_weight_decay",
]

_v1 = tf.compat.v1


class DecoupledWeightDecayExtension:
    """Lets a v1 optimizer's subclass shrink weights before each step: w -= weight_decay * w.

    List it before the optimizer among the bases. In tables, only rows with a gradient shrink.

    Args:
      weight_decay: the decay, not multiplied by the learning rate; a number, a scalar tensor or a
        function that returns one.
      *args: arguments of the optimizer.
      **kwargs: arguments of the optimizer.
    """

    def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any):
        self._weight_decay = weight_decay
        self._decayed_names: set[str] | None = None
        self._weight_decay_tensor: Any = None
        super().__init__(*args, **kwargs)

    def minimize(self, loss: Any, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        """Calls the optimizer's method with the variables to decay, by default all.

        Args:
          loss: a scalar.
          *args: as for the optimizer.
          decay_var_list: the variables to decay.
          **kwargs: as for the optimizer.

        Returns:
          The train operation.
        """
        self._decayed_names = _names(decay_var_list)
        return super().minimize(loss, *args, **kwargs)  # type: ignore[misc]

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """Calls the optimizer's method with the variables to decay, by default all.

        Args:
          grads_and_vars: pairs of gradient and variable.
          global_step: the variable to increment.
          name: the operation's name.
          decay_var_list: the variables to decay.

        Returns:
          The train operation.
        """
        if decay_var_list:
            self._decayed_names = _names(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step, name)  # type: ignore[misc]

    def _prepare(self) -> None:
        decay = self._weight_decay
        decay = decay() if callable(decay) else decay
        self._weight_decay_tensor = tf.convert_to_tensor(decay, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decay(self, var: Any, indices: Any = None) -> list[Any]:
        names = self._decayed_names
        if names is not None and var.op.name not in names:
            return []
        share = tf.cast(self._weight_decay_tensor, var.dtype.base_dtype)
        if indices is None:
            return [_v1.assign_sub(var, share * var)]
        return [_v1.scatter_sub(var, indices, share * tf.gather(var, indices))]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay(var)):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay(var)):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        with tf.control_dependencies(self._decay(var, grad.indices)):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        with tf.control_dependencies(self._decay(var, indices)):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def _names(variables: Iterable[Any] | None) -> set[str] | None:
    # Variables are not hashable if TF2's tensor equality is on.
    return {variable.op.name for variable in variables} if variables else None


def extend_with_decoupled_weight_decay(base_optimizer: Any) -> type:
    """Makes an optimizer class with weight decay.

    Args:
      base_optimizer: a class of v1 optimizers.

    Returns:
      A class whose first argument is ``weight_decay``; the others are the base's.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """The base's optimizer, with weight decay."""

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.MomentumOptimizer):
    """tf.train.MomentumOptimizer with weight decay, which is the first argument."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ):
        super().__init__(weight_decay, learning_rate, momentum, use_locking, name, use_nesterov)


class AdamWOptimizer(DecoupledWeightDecayExtension, tf.compat.v1.train.AdamOptimizer):
    """tf.train.AdamOptimizer with weight decay, which is the first argument."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ):
        super().__init__(weight_decay, learning_rate, beta1, beta2, epsilon, use_locking, name)
