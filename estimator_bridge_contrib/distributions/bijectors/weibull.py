"""The cumulative distribution of Weibull's distribution, as a bijector.

TensorFlow 1.15 has it in the file of this name only.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector
from estimator_bridge_contrib.distributions.bijectors.cumulative import is_probability, positive
from estimator_bridge_contrib.distributions.scalars import after

__all__ = ["Weibull"]

_v1 = tf.compat.v1


class Weibull(Bijector):
    """``1 - exp(-((x / scale) ** concentration))``, of numbers that are not negative.

    Args:
      scale: a positive number.
      concentration: a positive number.
      validate_args: whether to check, when it runs, that both are positive, that x is not negative
        and that y is a probability.
      name: the operations' name.
    """

    def __init__(
        self,
        scale: Any = 1.0,
        concentration: Any = 1.0,
        validate_args: bool = False,
        name: str = "weibull",
    ):
        with _v1.name_scope(name), _v1.name_scope("init", values=[scale, concentration]):
            scale = tf.convert_to_tensor(scale, name="scale")
            concentration = tf.convert_to_tensor(concentration, name="concentration")
            tf.debugging.assert_same_float_dtype([scale, concentration])
            self._scale = positive(scale, "scale", validate_args)
            self._concentration = positive(concentration, "concentration", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def scale(self) -> tf.Tensor:
        """The scale."""
        return self._scale

    @property
    def concentration(self) -> tf.Tensor:
        """The concentration."""
        return self._concentration

    def _valid_x(self, x: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return x
        message = "Forward transformation input must be at least 0."
        return after([_v1.assert_non_negative(x, message=message)], x)

    def _valid_y(self, y: tf.Tensor) -> tf.Tensor:
        return after(is_probability(y), y) if self.validate_args else y

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.math.expm1(-((self._valid_x(x) / self._scale) ** self._concentration))

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        hazard = -tf.math.log1p(-self._valid_y(y))
        return self._scale * hazard ** (1 / self._concentration)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        hazard = -tf.math.log1p(-self._valid_y(y))
        power = 1 / self._concentration - 1
        constant = tf.math.log(self._scale / self._concentration)
        return hazard + power * tf.math.log(hazard) + constant

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        x, k = self._valid_x(x), self._concentration
        hazard = (x / self._scale) ** k
        constant = tf.math.log(k) - k * tf.math.log(self._scale)
        return -hazard + (k - 1) * tf.math.log(x) + constant
