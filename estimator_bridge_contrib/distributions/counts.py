"""Distributions of whole numbers: Poisson, binomial, negative binomial and geometric."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters
from estimator_bridge_contrib.distributions.scalars import (
    ScalarDistribution,
    after,
    arguments_of,
    nonnegative_integers,
)

__all__ = ["Binomial", "Geometric", "NegativeBinomial", "Poisson"]

_v1 = tf.compat.v1


class Poisson(ScalarDistribution):
    """The number of events that come independently at a rate.

    Args:
      rate: the expected number.
      log_rate: its logarithm, instead of ``rate``.
      validate_args: whether to check, when it runs, that the rate is positive, and that the numbers
        whose probability is asked for are whole and not negative.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``rate`` and ``log_rate`` are given.
      TypeError: the one that is given is not floating.
    """

    _shaped = ("rate",)

    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[rate]) as scope:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                rate = _floating(rate, "rate")
                rate = after([_v1.assert_positive(rate)] if validate_args else [], rate)
                self._rate = tf.identity(rate, name="rate")
                self._log_rate = tf.math.log(rate, name="log_rate")
            else:
                self._log_rate = _floating(log_rate, "log_rate")
                self._rate = tf.exp(self._log_rate, name="rate")
        super().__init__(arguments, scope, [self._rate])

    @property
    def rate(self) -> tf.Tensor:
        """The expected number."""
        return self._rate

    @property
    def log_rate(self) -> tf.Tensor:
        """The logarithm of the expected number."""
        return self._log_rate

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        return _v1.random_poisson(self._rate, [n], dtype=self.dtype, seed=seed)

    def _valid(self, x: tf.Tensor) -> tf.Tensor:
        return nonnegative_integers(x) if self.validate_args else x

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        x = self._valid(x)
        return x * self._log_rate - tf.math.lgamma(1.0 + x) - self._rate

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.math.igammac(1.0 + self._valid(x), self._rate)

    def _log_cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.math.log(self.cdf(x))

    def _mean(self) -> tf.Tensor:
        return tf.identity(self._rate)

    def _variance(self) -> tf.Tensor:
        return tf.identity(self._rate)

    def _mode(self) -> tf.Tensor:
        return tf.floor(self._rate)


class _OfTrials(ScalarDistribution):
    """A distribution of outcomes of trials that succeed with one probability."""

    @property
    def logits(self) -> tf.Tensor:
        """The log-odds of a success."""
        return self._logits

    @property
    def probs(self) -> tf.Tensor:
        """The probability of a success."""
        return self._probs

    def _keep_probabilities(self, arguments: dict[str, Any], scope: str) -> None:
        self._logits, self._probs = distribution_parameters.get_logits_and_probs(
            logits=arguments["logits"],
            probs=arguments["probs"],
            validate_args=arguments["validate_args"],
            name=scope,
        )


class _OfCountedTrials(_OfTrials):
    """The same, of a number of trials or of failures."""

    _shaped = ("total_count", "probs")

    @property
    def total_count(self) -> tf.Tensor:
        """The number of trials, or of failures."""
        return self._total_count


class Binomial(_OfCountedTrials):
    """The number of successes among ``total_count`` trials. It cannot be sampled.

    Args:
      total_count: the number of trials, as a floating number.
      logits: the log-odds of a success.
      probs: the probability of a success, instead of ``logits``.
      validate_args: whether to check the parameters, and the numbers whose probability is asked
        for, when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[total_count, logits, probs]) as scope:
            count = tf.convert_to_tensor(total_count, name="total_count")
            checks = []
            if validate_args:
                checks = [
                    _v1.assert_non_negative(count, message="total_count must be non-negative."),
                    distribution_parameters.assert_integer_form(
                        count, message="total_count cannot contain fractional components."
                    ),
                ]
            self._total_count = after(checks, count)
            self._keep_probabilities(arguments, scope)
        super().__init__(arguments, scope, [self._probs, self._total_count, self._logits])

    def _valid(self, counts: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return counts
        counts = nonnegative_integers(counts)
        check = _v1.assert_less_equal(
            counts, self._total_count, message="counts are not less than or equal to n."
        )
        return after([check], counts)

    def _log_prob(self, counts: tf.Tensor) -> tf.Tensor:
        counts, n = self._valid(counts), self._total_count
        failures = n - counts
        of_order = counts * tf.math.log(self._probs) + failures * tf.math.log1p(-self._probs)
        orders = (
            tf.math.lgamma(1.0 + failures) + tf.math.lgamma(1.0 + counts) - tf.math.lgamma(1.0 + n)
        )
        return of_order - orders

    def _cdf(self, counts: tf.Tensor) -> tf.Tensor:
        counts, n, probs = self._valid(counts), self._total_count, self._probs
        shapes = [counts.shape, probs.shape]
        if not all(each.is_fully_defined() for each in shapes) or shapes[0] != shapes[1]:
            probs += tf.zeros_like(counts)
            counts += tf.zeros_like(self._probs)
        ones = tf.ones_like(n - counts)
        # betainc takes no 0 as its first argument, where the answer is 1.
        is_last = tf.equal(counts, n)
        failures = tf.where(is_last, ones, n - counts)
        return tf.where(is_last, ones, tf.math.betainc(failures, counts + 1.0, 1.0 - probs))

    def _mean(self) -> tf.Tensor:
        return self._total_count * self._probs

    def _variance(self) -> tf.Tensor:
        return self._mean() * (1.0 - self._probs)

    def _mode(self) -> tf.Tensor:
        return tf.floor((1.0 + self._total_count) * self._probs)


class NegativeBinomial(_OfCountedTrials):
    """The number of successes before ``total_count`` failures.

    Args:
      total_count: the number of failures, a positive floating number.
      logits: the log-odds of a success.
      probs: the probability of a success, instead of ``logits``.
      validate_args: whether to check the parameters, and the numbers whose probability is asked
        for, when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[total_count, logits, probs]) as scope:
            self._keep_probabilities(arguments, scope)
            checks = [_v1.assert_positive(total_count)] if validate_args else []
            with tf.control_dependencies(checks):
                self._total_count = tf.identity(total_count)
        super().__init__(arguments, scope, [self._probs, self._total_count, self._logits])

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        # A Poisson distribution whose rate has a gamma distribution is a negative binomial one.
        rate = _v1.random_gamma(
            [n],
            alpha=self._total_count,
            beta=tf.exp(-self._logits),
            dtype=self.dtype,
            seed=seed,
        )
        second = distribution_parameters.gen_new_seed(seed, "negative_binom")
        return _v1.random_poisson(rate, [], dtype=self.dtype, seed=second)

    def _valid(self, x: tf.Tensor) -> tf.Tensor:
        return nonnegative_integers(x) if self.validate_args else x

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        x, n = self._valid(x), self._total_count
        of_order = n * tf.math.log_sigmoid(-self._logits) + x * tf.math.log_sigmoid(self._logits)
        orders = -tf.math.lgamma(n + x) + tf.math.lgamma(1.0 + x) + tf.math.lgamma(n)
        return of_order - orders

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        x = self._valid(x)
        return tf.math.betainc(self._total_count, 1.0 + x, tf.sigmoid(-self._logits))

    def _mean(self) -> tf.Tensor:
        return self._total_count * tf.exp(self._logits)

    def _variance(self) -> tf.Tensor:
        return self._mean() / tf.sigmoid(-self._logits)

    def _mode(self) -> tf.Tensor:
        n = self._total_count
        others = tf.where(n > 1.0, n - 1.0, tf.zeros_like(n))
        return tf.floor(others * tf.exp(self._logits))


class Geometric(_OfTrials):
    """The number of failures before the first success.

    Args:
      logits: the log-odds of a success.
      probs: the probability of a success, instead of ``logits``.
      validate_args: whether to check the parameters, and the numbers whose probability is asked
        for, when it runs. Without it, those numbers are rounded down.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    _shaped = ("probs",)

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[logits, probs]) as scope:
            self._keep_probabilities(arguments, scope)
            checks = [_v1.assert_positive(self._probs)] if validate_args else []
            with tf.control_dependencies(checks):
                self._probs = tf.identity(self._probs, name="probs")
        super().__init__(arguments, scope, [self._probs, self._logits])

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        uniform = _v1.random_uniform(
            self._sampled_shape(n),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,  # the logarithm of 0 is not finite
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        return tf.floor(tf.math.log(uniform) / tf.math.log1p(-self._probs))

    def _valid(self, x: tf.Tensor) -> tf.Tensor:
        x = nonnegative_integers(x) if self.validate_args else tf.floor(x)
        return x * tf.ones_like(self._probs)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        x = self._valid(x)
        probs = self._probs * tf.ones_like(x)
        # Of no failures, the logarithm is not asked for: it may be infinite.
        failing = tf.where(tf.equal(x, 0.0), tf.zeros_like(probs), probs)
        return x * tf.math.log1p(-failing) + tf.math.log(probs)

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        x = self._valid(x)
        within = -tf.math.expm1((1.0 + x) * tf.math.log1p(-self._probs))
        return tf.where(x < 0.0, tf.zeros_like(x), within)

    def _entropy(self) -> tf.Tensor:
        probs, checks = self._probs, []
        if self.validate_args:
            checks = [
                _v1.assert_less(
                    probs,
                    tf.constant(1.0, probs.dtype),
                    message="Entropy is undefined when logits = inf or probs = 1.",
                )
            ]
        return tf.nn.softplus(self._logits) / after(checks, probs) - self._logits

    def _mean(self) -> tf.Tensor:
        return tf.exp(-self._logits)

    def _variance(self) -> tf.Tensor:
        return self._mean() / self._probs

    def _mode(self) -> tf.Tensor:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)


def _floating(value: Any, name: str) -> tf.Tensor:
    converted = tf.convert_to_tensor(value, name=name)
    if not converted.dtype.is_floating:
        raise TypeError(f"{name}.dtype ({converted.dtype.name}) is a not a float-type.")
    return converted
