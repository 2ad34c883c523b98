"""LARS: layer-wise learning rates from the norms of weights and gradients.

You, Gitman, Ginsburg, "Large Batch Training of Convolutional Networks" (2017): the rate is
``eeta * |w| / (|g| + weight_decay * |w|)`` times the global one, for ``g + weight_decay * w``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates, factor

__all__ = ["LARSOptimizer"]

_v1 = tf.compat.v1


class LARSOptimizer(RefOrResourceUpdates, tf.compat.v1.train.Optimizer):
    """Layer-wise adaptive rate scaling, with momentum.

    Args:
      learning_rate: the global learning rate, a number or a scalar tensor.
      momentum: the momentum of the updates, which include the rates.
      weight_decay: the factor of the weights that is added to gradients.
      eeta: the factor of the ratio of norms.
      epsilon: added to the ratio's denominator.
      name: the operations' name.
      skip_list: parts of names of variables to train by plain momentum, without decay, such as
        biases and batch norm.
      use_nesterov: whether to use Nesterov's momentum.

    Raises:
      ValueError: momentum or weight_decay is negative.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ):
        for setting, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError(f"{setting} should be positive: {value}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate, self._momentum = learning_rate, momentum
        self._weight_decay, self._eeta, self._epsilon = weight_decay, eeta, epsilon
        self._skip_list, self._use_nesterov = skip_list, use_nesterov

    def compute_lr(self, grad: tf.Tensor, var: Any) -> tuple[Any, tf.Tensor]:
        """Returns the learning rate of one variable, and its gradient with the weight decay."""
        rate = self._rate(var)
        if any(part in var.name for part in self._skip_list or ()):
            return rate, grad
        weight = tf.convert_to_tensor(var)
        weight_norm, grad_norm = tf.norm(weight), tf.norm(grad)
        ratio = (
            self._eeta
            * weight_norm
            / (grad_norm + self._weight_decay * weight_norm + self._epsilon)
        )
        is_known = tf.logical_and(weight_norm > 0, grad_norm > 0)
        rate *= tf.where(is_known, ratio, tf.ones_like(ratio))
        return rate, grad + self._weight_decay * weight

    def _rate(self, var: Any) -> tf.Tensor:
        rate = self._learning_rate
        return factor(rate() if callable(rate) else rate, var)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            self._zeros_slot(var, "momentum", self._name)

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        rate, grad = self.compute_lr(grad, var)
        slot, momentum = self.get_slot(var, "momentum"), factor(self._momentum, var)
        step = grad * rate
        moving = momentum * slot + step
        change = step + momentum * moving if self._use_nesterov else moving
        return tf.group(_v1.assign(slot, moving), _v1.assign_sub(var, change))

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        # Rows of a table have no layer norm: the original trained them by plain momentum.
        rate, momentum = self._rate(var), factor(self._momentum, var)
        slot = self.get_slot(var, "momentum")
        moving = momentum * tf.gather(slot, indices) + grad
        change = rate * (grad + momentum * moving if self._use_nesterov else moving)
        return tf.group(
            _v1.scatter_update(slot, indices, moving), _v1.scatter_sub(var, indices, change)
        )
