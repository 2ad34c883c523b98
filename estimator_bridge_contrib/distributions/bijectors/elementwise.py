"""Bijectors of each element alone."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector, distribution_parameters
from estimator_bridge_contrib.distributions.scalars import after

__all__ = [
    "AbsoluteValue",
    "AffineScalar",
    "Exp",
    "PowerTransform",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Square",
]

_v1 = tf.compat.v1


class AffineScalar(Bijector):
    """``scale * x + shift``.

    Args:
      shift: a number or a tensor; 0 by default.
      scale: the same; 1 by default.
      validate_args: whether to check, when it runs, that the scale is not 0.
      name: the operations' name.
    """

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ):
        with _v1.name_scope(name), _v1.name_scope("init", values=[scale, shift]):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else tf.convert_to_tensor(scale, name="scale")
            if validate_args and self._scale is not None:
                zero = tf.zeros([], dtype=self._scale.dtype)
                self._scale = after([_v1.assert_none_equal(self._scale, zero)], self._scale)
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> tf.Tensor | None:
        """The number that is added, or None."""
        return self._shift

    @property
    def scale(self) -> tf.Tensor | None:
        """The factor, or None."""
        return self._scale

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        y = tf.identity(x) if self._scale is None else x * self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        x = tf.identity(y) if self._shift is None else y - self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        if self._scale is None:
            return tf.constant(0.0, dtype=x.dtype)
        return tf.math.log(tf.abs(self._scale))


class PowerTransform(Bijector):
    """``(1 + power * x) ** (1 / power)``, or the exponential where the power is 0.

    Args:
      power: a constant that is not negative.
      validate_args: whether to check, when it runs, that x and y are in the domain.
      name: the operations' name.

    Raises:
      ValueError: the power is negative, or no constant.
    """

    def __init__(
        self, power: Any = 0.0, validate_args: bool = False, name: str = "power_transform"
    ):
        with _v1.name_scope(name), _v1.name_scope("init", values=[power]):
            self._power = tf.get_static_value(tf.convert_to_tensor(power, name="power"))
        if self._power is None or self._power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def power(self) -> Any:
        """The power."""
        return self._power

    def _valid_x(self, x: tf.Tensor) -> tf.Tensor:
        if not self.validate_args or self._power == 0.0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self._power}."
        return after([_v1.assert_non_negative(1.0 + self._power * x, message=message)], x)

    def _valid_y(self, y: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return y
        message = "Inverse transformation input must be greater than 0."
        return after([_v1.assert_positive(y, message=message)], y)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        x = self._valid_x(x)
        if self._power == 0.0:
            return tf.exp(x)
        return tf.exp(tf.math.log1p(x * self._power) / self._power)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        logarithm = tf.math.log(self._valid_y(y))
        if self._power == 0.0:
            return logarithm
        return tf.math.expm1(logarithm * self._power) / self._power

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return (self._power - 1.0) * tf.math.log(self._valid_y(y))

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        x = self._valid_x(x)
        if self._power == 0.0:
            return x
        return (1.0 / self._power - 1.0) * tf.math.log1p(x * self._power)


class Exp(PowerTransform):
    """The exponential.

    Args:
      validate_args: whether to check, when it runs, that y is positive.
      name: the operations' name.
    """

    def __init__(self, validate_args: bool = False, name: str = "exp"):
        super().__init__(validate_args=validate_args, name=name)


class Sigmoid(Bijector):
    """``1 / (1 + exp(-x))``.

    Args:
      validate_args: accepted, and without effect.
      name: the operations' name.
    """

    def __init__(self, validate_args: bool = False, name: str = "sigmoid"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(x)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return tf.math.log(y) - tf.math.log1p(-y)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return -tf.math.log(y) - tf.math.log1p(-y)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.nn.softplus(-x) - tf.nn.softplus(x)


class Softplus(Bijector):
    """``hinge_softness * log(1 + exp(x / hinge_softness))``.

    Args:
      hinge_softness: a number that is not 0; 1 by default.
      validate_args: whether to check, when it runs, that it is not 0.
      name: the operations' name.
    """

    def __init__(
        self, hinge_softness: Any = None, validate_args: bool = False, name: str = "softplus"
    ):
        with _v1.name_scope(name, values=[hinge_softness]):
            softness = hinge_softness
            if softness is not None:
                softness = tf.convert_to_tensor(softness, name="hinge_softness")
            if validate_args:
                zero = tf.constant(0, dtype=softness.dtype)
                message = "hinge_softness must be non-zero"
                softness = after([_v1.assert_none_equal(zero, softness, message=message)], softness)
            self._softness = softness
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def hinge_softness(self) -> tf.Tensor | None:
        """The softness, or None for 1."""
        return self._softness

    def _divided(self, x: tf.Tensor) -> tf.Tensor:
        return x if self._softness is None else x / tf.cast(self._softness, x.dtype)

    def _multiplied(self, x: tf.Tensor) -> tf.Tensor:
        return x if self._softness is None else tf.cast(self._softness, x.dtype) * x

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return self._multiplied(tf.nn.softplus(self._divided(x)))

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return self._multiplied(distribution_parameters.softplus_inverse(self._divided(y)))

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return -tf.math.log(-tf.math.expm1(-self._divided(y)))

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.nn.softplus(-self._divided(x))


class Softsign(Bijector):
    """``x / (1 + abs(x))``.

    Args:
      validate_args: whether to check, when it runs, that y is between -1 and 1.
      name: the operations' name.
    """

    def __init__(self, validate_args: bool = False, name: str = "softsign"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _valid(self, y: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return y
        text = "Inverse transformation input must be {} than {}."
        low, high = tf.constant(-1.0, y.dtype), tf.constant(1.0, y.dtype)
        checks = [
            _v1.assert_greater(y, low, message=text.format("greater", -1)),
            _v1.assert_less(y, high, message=text.format("less", 1)),
        ]
        return after(checks, y)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return x / (1.0 + tf.abs(x))

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        y = self._valid(y)
        return y / (1.0 - tf.abs(y))

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        return -2.0 * tf.math.log1p(tf.abs(x))

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return -2.0 * tf.math.log1p(-tf.abs(self._valid(y)))


class Square(Bijector):
    """``x ** 2``, of numbers that are not negative.

    Args:
      validate_args: whether to check, when it runs, that x and y are not negative.
      name: the operations' name.
    """

    def __init__(self, validate_args: bool = False, name: str = "square"):
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    def _valid(self, value: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return value
        message = "All elements must be non-negative."
        return after([_v1.assert_non_negative(value, message=message)], value)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.square(self._valid(x))

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return tf.sqrt(self._valid(y))

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        return math.log(2.0) + tf.math.log(self._valid(x))


class AbsoluteValue(Bijector):
    """``abs(x)``, with the inverses -y and y.

    Args:
      validate_args: whether to check, when it runs, that y is not negative.
      name: the operations' name.
    """

    def __init__(self, validate_args: bool = False, name: str = "absolute_value"):
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    @property
    def _is_injective(self) -> bool:
        return False

    def _checks(self, y: tf.Tensor) -> list[Any]:
        if not self.validate_args:
            return []
        return [_v1.assert_non_negative(y, message="Argument y was negative")]

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.abs(x)

    def _inverse(self, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        y = after(self._checks(y), y)
        return -y, y

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        zero = after(self._checks(y), tf.constant(0.0, dtype=y.dtype))
        return zero, zero
