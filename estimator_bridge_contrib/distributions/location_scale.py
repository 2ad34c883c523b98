"""Distributions that a number moves and another stretches: the logistic one and Cauchy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.distributions.scalars import (
    ScalarDistribution,
    arguments_of,
    parameters_of,
)

__all__ = ["Cauchy", "Logistic"]

_v1 = tf.compat.v1


class _LocationScale(ScalarDistribution):
    """A distribution that ``loc`` moves and ``scale`` stretches."""

    _shaped = _sized = ("loc", "scale")

    @property
    def loc(self) -> tf.Tensor:
        """The number that samples are moved by."""
        return self._loc

    @property
    def scale(self) -> tf.Tensor:
        """The number that samples are multiplied by."""
        return self._scale

    def _keep(self, arguments: dict[str, Any]) -> None:
        loc, scale = arguments["loc"], arguments["scale"]
        with _v1.name_scope(arguments["name"], values=[loc, scale]) as scope:
            self._loc, self._scale = parameters_of(arguments["validate_args"], loc=loc, scale=scale)
        super().__init__(
            arguments_of(arguments), scope, [self._scale, self._loc], has_gradients=True
        )

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        return self._log_unnormalized_prob(x) - self._log_normalization()


class Logistic(_LocationScale):
    """The logistic distribution, whose cumulative distribution is a sigmoid.

    Args:
      loc: the mean.
      scale: the width, a positive number.
      validate_args: whether to check, when it runs, that the scale is positive.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: ``loc`` and ``scale`` have several types, or one that is not floating.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ):
        self._keep(locals())

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        uniform = _v1.random_uniform(
            self._sampled_shape(n),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,  # the logarithm of 0 is not finite
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        return (tf.math.log(uniform) - tf.math.log1p(-uniform)) * self._scale + self._loc

    def _log_unnormalized_prob(self, x: tf.Tensor) -> tf.Tensor:
        z = self._standardized(x)
        return -z - 2.0 * tf.nn.softplus(-z)

    def _log_normalization(self) -> tf.Tensor:
        return tf.math.log(self._scale)

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(self._standardized(x))

    def _log_cdf(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.nn.softplus(-self._standardized(x))

    def _survival_function(self, x: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(-self._standardized(x))

    def _log_survival_function(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.nn.softplus(self._standardized(x))

    def _entropy(self) -> tf.Tensor:
        return 2.0 + tf.math.log(self._scale * tf.ones_like(self._loc))

    def _mean(self) -> tf.Tensor:
        return self._loc * tf.ones_like(self._scale)

    def _mode(self) -> tf.Tensor:
        return self._mean()

    def _stddev(self) -> tf.Tensor:
        return self._scale * tf.ones_like(self._loc) * math.pi / math.sqrt(3.0)


class Cauchy(_LocationScale):
    """The Cauchy distribution, which has no mean and no variance.

    Args:
      loc: the median.
      scale: half of the width at half of the peak, a positive number.
      validate_args: whether to check, when it runs, that the scale is positive.
      allow_nan_stats: whether the mean and the standard deviation are NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: ``loc`` and ``scale`` have several types, or one that is not floating.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ):
        self._keep(locals())

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        uniform = _v1.random_uniform(self._sampled_shape(n), dtype=self.dtype, seed=seed)
        return self._quantile(uniform)

    def _log_unnormalized_prob(self, x: tf.Tensor) -> tf.Tensor:
        return -tf.math.log1p(tf.square(self._standardized(x)))

    def _log_normalization(self) -> tf.Tensor:
        return math.log(math.pi) + tf.math.log(self._scale)

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.atan(self._standardized(x)) / math.pi + 0.5

    def _log_cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.math.log1p(2.0 / math.pi * tf.atan(self._standardized(x))) - math.log(2.0)

    def _quantile(self, value: tf.Tensor) -> tf.Tensor:
        return self._loc + self._scale * tf.tan(math.pi * (value - 0.5))

    def _entropy(self) -> tf.Tensor:
        of_scale = math.log(4.0 * math.pi) + tf.math.log(self._scale)
        return of_scale * tf.ones_like(self._loc)

    def _mode(self) -> tf.Tensor:
        return self._loc * tf.ones_like(self._scale)

    def _mean(self) -> tf.Tensor:
        return self._undefined("mean")

    def _stddev(self) -> tf.Tensor:
        return self._undefined("stddev")

    def _undefined(self, statistic: str) -> tf.Tensor:
        if not self.allow_nan_stats:
            raise ValueError(f"`{statistic}` is undefined for Cauchy distribution.")
        return tf.fill(self.batch_shape_tensor(), tf.constant(float("nan"), self.dtype))
