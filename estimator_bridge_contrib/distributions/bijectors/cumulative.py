"""Bijectors that are cumulative distributions, and one that skews and weighs tails.

They take each element alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector
from estimator_bridge_contrib.distributions.scalars import after

__all__ = ["Gumbel", "Kumaraswamy", "SinhArcsinh", "is_probability", "positive"]

_v1 = tf.compat.v1


def positive(value: tf.Tensor, name: str, validate_args: bool) -> tf.Tensor:
    """Returns a parameter, with a check that it is above 0 if ``validate_args`` is true."""
    if not validate_args:
        return value
    return after([_v1.assert_positive(value, message=f"Argument {name} was not positive")], value)


def is_probability(y: tf.Tensor) -> list[Any]:
    """Returns checks that y is between 0 and 1."""
    text = "Inverse transformation input must be {}."
    return [
        _v1.assert_non_negative(y, message=text.format("greater than 0")),
        _v1.assert_less_equal(
            y, tf.constant(1.0, y.dtype), message=text.format("less than or equal to 1")
        ),
    ]


class Gumbel(Bijector):
    """``exp(-exp(-(x - loc) / scale))``.

    Args:
      loc: the mode.
      scale: the width, a positive number.
      validate_args: whether to check, when it runs, that the scale is positive and that y is a
        probability.
      name: the operations' name.
    """

    def __init__(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool = False,
        name: str = "gumbel",
    ):
        with _v1.name_scope(name), _v1.name_scope("init", values=[loc, scale]):
            self._loc = tf.convert_to_tensor(loc, name="loc")
            self._scale = tf.convert_to_tensor(scale, name="scale")
            tf.debugging.assert_same_float_dtype([self._loc, self._scale])
            self._scale = positive(self._scale, "scale", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def loc(self) -> tf.Tensor:
        """The mode."""
        return self._loc

    @property
    def scale(self) -> tf.Tensor:
        """The width."""
        return self._scale

    def _valid(self, y: tf.Tensor) -> tf.Tensor:
        return after(is_probability(y), y) if self.validate_args else y

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.exp(-tf.exp(-(x - self._loc) / self._scale))

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return self._loc - self._scale * tf.math.log(-tf.math.log(self._valid(y)))

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        y = self._valid(y)
        return tf.math.log(self._scale / (-tf.math.log(y) * y))

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        z = (x - self._loc) / self._scale
        return -z - tf.exp(-z) - tf.math.log(self._scale)


class Kumaraswamy(Bijector):
    """The inverse of ``1 - (1 - y ** concentration1) ** concentration0``, as in TensorFlow 1.15.

    ``forward`` takes a probability and gives a number from 0 to 1. As in TensorFlow 1.15,
    ``inverse`` does so too: it is not the inverse of ``forward`` unless ``concentration1`` is 1.

    Args:
      concentration1: a positive number.
      concentration0: a positive number.
      validate_args: whether to check, when it runs, that both are positive, and that x and y are
        between 0 and 1.
      name: the operations' name.
    """

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        name: str = "kumaraswamy",
    ):
        with _v1.name_scope(name), _v1.name_scope("init", values=[concentration1, concentration0]):
            one = tf.convert_to_tensor(concentration1, name="concentration1")
            zero = tf.convert_to_tensor(concentration0, name="concentration0")
            if validate_args:
                message = "Concentration parameter must be positive."
                one = after([_v1.assert_positive(one, message=message)], one)
                zero = after([_v1.assert_positive(zero, message=message)], zero)
            self._concentration1, self._concentration0 = one, zero
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def concentration1(self) -> tf.Tensor:
        """The first concentration."""
        return self._concentration1

    @property
    def concentration0(self) -> tf.Tensor:
        """The second concentration."""
        return self._concentration0

    def _valid(self, value: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return value
        one = tf.ones([], self._concentration0.dtype)
        checks = [
            _v1.assert_non_negative(value, message="sample must be non-negative"),
            _v1.assert_less_equal(value, one, message="sample must be no larger than `1`."),
        ]
        return after(checks, value)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        rest = tf.exp(tf.math.log1p(-self._valid(x)) / self._concentration0)
        return tf.exp(tf.math.log1p(-rest) / self._concentration1)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        rest = (1 - self._valid(y) ** self._concentration1) ** self._concentration0
        return tf.exp(tf.math.log1p(-rest))

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        y, one, zero = self._valid(y), self._concentration1, self._concentration0
        return (
            tf.math.log(one)
            + tf.math.log(zero)
            + (one - 1) * tf.math.log(y)
            + (zero - 1) * tf.math.log1p(-(y**one))
        )


class SinhArcsinh(Bijector):
    """``sinh((arcsinh(x) + skewness) * tailweight)``.

    Args:
      skewness: a number; 0 by default.
      tailweight: a positive number; 1 by default.
      validate_args: whether to check, when it runs, that the tail weight is positive.
      name: the operations' name.
    """

    def __init__(
        self,
        skewness: Any = None,
        tailweight: Any = None,
        validate_args: bool = False,
        name: str = "SinhArcsinh",
    ):
        with _v1.name_scope(name), _v1.name_scope("init", values=[skewness, tailweight]):
            self._skewness = tf.convert_to_tensor(
                0.0 if skewness is None else skewness, name="skewness"
            )
            weight = tf.convert_to_tensor(
                1.0 if tailweight is None else tailweight,
                dtype=self._skewness.dtype,
                name="tailweight",
            )
            tf.debugging.assert_same_float_dtype([self._skewness, weight])
            self._tailweight = positive(weight, "tailweight", validate_args)
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)

    @property
    def skewness(self) -> tf.Tensor:
        """The skewness."""
        return self._skewness

    @property
    def tailweight(self) -> tf.Tensor:
        """The tail weight."""
        return self._tailweight

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.sinh((tf.asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return tf.sinh(tf.asinh(y) / self._tailweight - self._skewness)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        angle = tf.asinh(y) / self._tailweight - self._skewness
        return tf.math.log(tf.cosh(angle) / _root(y)) - tf.math.log(self._tailweight)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        angle = (tf.asinh(x) + self._skewness) * self._tailweight
        return tf.math.log(tf.cosh(angle) / _root(x)) + tf.math.log(self._tailweight)


def _root(x: tf.Tensor) -> tf.Tensor:
    """Returns ``sqrt(x ** 2 + 1)``, without overflow where the 1 does not count."""
    small = math.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps)
    return tf.where(tf.abs(x) * small <= 1.0, tf.sqrt(x**2.0 + 1.0), tf.abs(x))
