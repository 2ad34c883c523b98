"""Distributions of positive numbers: half-normal, inverse gamma and chi squared."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_functions
from estimator_bridge_contrib.distributions.scalars import (
    ScalarDistribution,
    after,
    arguments_of,
    mean_or_nan,
    parameters_of,
)

__all__ = [
    "Chi2",
    "Chi2WithAbsDf",
    "HalfNormal",
    "InverseGamma",
    "InverseGammaWithSoftplusConcentrationRate",
]

_v1 = tf.compat.v1


class HalfNormal(ScalarDistribution):
    """The absolute value of a normal distribution around 0.

    Args:
      scale: the standard deviation of the normal distribution.
      validate_args: whether to check, when it runs, that the scale is positive.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.
    """

    _shaped = _sized = ("scale",)

    def __init__(
        self,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[scale]) as scope:
            (self._scale,) = parameters_of(validate_args, scale=scale)
        super().__init__(arguments, scope, [self._scale], has_gradients=True)

    @property
    def scale(self) -> tf.Tensor:
        """The standard deviation of the normal distribution."""
        return self._scale

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        normal = _v1.random_normal(self._sampled_shape(n), dtype=self.dtype, seed=seed)
        return tf.abs(normal * self._scale)

    def _prob(self, x: tf.Tensor) -> tf.Tensor:
        height = math.sqrt(2.0) / self._scale / math.sqrt(math.pi)
        density = height * tf.exp(-0.5 * (x / self._scale) ** 2)
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.math.erf(tf.nn.relu(x) / self._scale / math.sqrt(2.0))

    def _quantile(self, value: tf.Tensor) -> tf.Tensor:
        return math.sqrt(2.0) * self._scale * distribution_functions.erfinv(value)

    def _entropy(self) -> tf.Tensor:
        return 0.5 * tf.math.log(math.pi * self._scale**2.0 / 2.0) + 0.5

    def _mean(self) -> tf.Tensor:
        return self._scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _mode(self) -> tf.Tensor:
        return tf.zeros(self.batch_shape_tensor())

    def _variance(self) -> tf.Tensor:
        return self._scale**2.0 * (1.0 - 2.0 / math.pi)


class InverseGamma(ScalarDistribution):
    """The distribution of the inverse of a number with a gamma distribution.

    Args:
      concentration: the gamma distribution's concentration.
      rate: its rate.
      validate_args: whether to check, when it runs, that the parameters and the numbers whose
        probability is asked for are positive.
      allow_nan_stats: whether the mean of a concentration up to 1 and the variance of one up to 2
        are NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: the parameters have several types, or one that is not floating.
    """

    _shaped = _sized = ("concentration", "rate")

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[concentration, rate]) as scope:
            self._concentration, self._rate = parameters_of(
                validate_args, concentration=concentration, rate=rate
            )
        super().__init__(arguments, scope, [self._concentration, self._rate])

    @property
    def concentration(self) -> tf.Tensor:
        """The gamma distribution's concentration."""
        return self._concentration

    @property
    def rate(self) -> tf.Tensor:
        """The gamma distribution's rate."""
        return self._rate

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        return 1.0 / _v1.random_gamma(
            [n], alpha=self._concentration, beta=self._rate, dtype=self.dtype, seed=seed
        )

    def _valid(self, x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_same_float_dtype([x], self.dtype)
        return after([_v1.assert_positive(x)] if self.validate_args else [], x)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        x, a = self._valid(x), self._concentration
        constant = tf.math.lgamma(a) - a * tf.math.log(self._rate)
        return -(1.0 + a) * tf.math.log(x) - self._rate / x - constant

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.math.igammac(self._concentration, self._rate / self._valid(x))

    def _entropy(self) -> tf.Tensor:
        a = self._concentration
        logarithms = tf.math.log(self._rate) + tf.math.lgamma(a)
        return a + logarithms - (1.0 + a) * tf.math.digamma(a)

    def _mean(self) -> tf.Tensor:
        a = self._concentration
        return mean_or_nan(self, self._rate / (a - 1.0), "concentration", 1.0, "mean")

    def _variance(self) -> tf.Tensor:
        a = self._concentration
        variance = tf.square(self._rate) / tf.math.squared_difference(a, 1.0) / (a - 2.0)
        return mean_or_nan(self, variance, "concentration", 2.0, "variance")

    def _mode(self) -> tf.Tensor:
        return self._rate / (1.0 + self._concentration)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """The same, with the softplus of the parameters.

    Args:
      concentration: a number of any sign.
      rate: a number of any sign.
      validate_args: as of ``InverseGamma``.
      allow_nan_stats: as of ``InverseGamma``.
      name: the operations' name.
    """

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[concentration, rate]) as scope:
            super().__init__(
                tf.nn.softplus(concentration, name="softplus_concentration"),
                tf.nn.softplus(rate, name="softplus_rate"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=scope,
            )
        self._parameters = arguments


class Chi2(tf.compat.v1.distributions.Gamma):
    """The sum of the squares of ``df`` standard normal numbers.

    Args:
      df: the degrees of freedom.
      validate_args: whether to check, when it runs, that df is positive.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.
    """

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[df]) as scope:
            (self._df,) = parameters_of(validate_args, df=df)
            super().__init__(
                concentration=0.5 * self._df,
                rate=tf.constant(0.5, dtype=self._df.dtype),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=scope,
            )
        self._parameters = arguments

    @property
    def df(self) -> tf.Tensor:
        """The degrees of freedom."""
        return self._df

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, tf.Tensor]:
        return {"df": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}


class Chi2WithAbsDf(Chi2):
    """The same, with the whole part of the absolute value of ``df``.

    Args:
      df: a number of any sign.
      validate_args: as of ``Chi2``.
      allow_nan_stats: as of ``Chi2``.
      name: the operations' name.
    """

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[df]) as scope:
            super().__init__(
                tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df"),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=scope,
            )
        self._parameters = arguments
