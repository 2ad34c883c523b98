"""RMSProp (Tieleman, Hinton 2012) whose mean of squares begins at epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.opt.ref_or_resource import RefOrResourceUpdates, factor

__all__ = ["RMSPropOptimizer"]

_v1 = tf.compat.v1


class RMSPropOptimizer(RefOrResourceUpdates, tf.compat.v1.train.Optimizer):
    """RMSProp, with ``epsilon`` as the first mean of squares and not in the denominator.

    The rows of a table that a batch does not read keep their slots.

    Args:
      learning_rate: the learning rate: a number, a scalar tensor, or a function that returns one.
      decay: the factor of the means of gradients and of squares, in the same forms.
      momentum: the factor of the last change, in the same forms.
      epsilon: the first mean of squares, in the same forms.
      use_locking: has no effect.
      centered: whether to divide by the standard deviation of gradients, not by their root mean
        square.
      name: the operations' and slots' name.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ):
        super().__init__(use_locking, name)
        self._rate, self._decay, self._momentum = learning_rate, decay, momentum
        self._epsilon, self._centered = epsilon, centered

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            start = _number(self._epsilon, var) * tf.ones_like(var)
            self._get_or_make_slot_with_initializer(
                var, start, var.shape, var.dtype.base_dtype, "rms", self._name
            )
            if self._centered:
                self._zeros_slot(var, "mg", self._name)
            self._zeros_slot(var, "momentum", self._name)

    def _update(self, grad: tf.Tensor, var: Any) -> Any:
        slots = {name: self.get_slot(var, name) for name in self._names()}
        values = self._changed(grad, var, slots)
        updates = [_v1.assign(slots[name], value) for name, value in values.items()]
        return tf.group(*updates, _v1.assign_sub(var, values["momentum"]))

    def _update_rows(self, grad: tf.Tensor, var: Any, indices: tf.Tensor) -> Any:
        slots = {name: self.get_slot(var, name) for name in self._names()}
        rows = {name: tf.gather(slot, indices) for name, slot in slots.items()}
        values = self._changed(grad, var, rows)
        updates = [
            _v1.scatter_update(slots[name], indices, value) for name, value in values.items()
        ]
        return tf.group(*updates, _v1.scatter_sub(var, indices, values["momentum"]))

    def _names(self) -> list[str]:
        return ["rms", "mg", "momentum"] if self._centered else ["rms", "momentum"]

    def _changed(self, grad: tf.Tensor, var: Any, slots: dict[str, Any]) -> dict[str, tf.Tensor]:
        """Returns the slots after a step; the last, "momentum", is what a variable loses."""
        old = {name: tf.convert_to_tensor(slot) for name, slot in slots.items()}
        rate, decay, momentum = (
            _number(each, var) for each in (self._rate, self._decay, self._momentum)
        )
        values = {"rms": old["rms"] + (tf.square(grad) - old["rms"]) * (1 - decay)}
        variance = values["rms"]
        if self._centered:
            values["mg"] = old["mg"] + (grad - old["mg"]) * (1 - decay)
            variance -= tf.square(values["mg"])
        values["momentum"] = momentum * old["momentum"] + rate * grad * tf.math.rsqrt(variance)
        return values


def _number(value: Any, variable: Any) -> tf.Tensor:
    return factor(value() if callable(value) else value, variable)
