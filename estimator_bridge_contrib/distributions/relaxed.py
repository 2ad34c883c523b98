"""Smooth relatives of the Bernoulli and the one-hot categorical distribution."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters
from estimator_bridge_contrib.distributions.bijectors.elementwise import Exp, Sigmoid
from estimator_bridge_contrib.distributions.location_scale import Logistic
from estimator_bridge_contrib.distributions.one_hot import ExpRelaxedOneHotCategorical
from estimator_bridge_contrib.distributions.scalars import arguments_of
from estimator_bridge_contrib.distributions.transformed import TransformedDistribution

__all__ = ["RelaxedBernoulli", "RelaxedOneHotCategorical"]

_v1 = tf.compat.v1


class RelaxedOneHotCategorical(TransformedDistribution):
    """A distribution of probabilities that are near to a vector with one 1.

    It is also known as Concrete and as Gumbel-Softmax. Samples have gradients by the logits.

    Args:
      temperature: a positive number. The lower it is, the nearer are the vectors.
      logits: the logarithms of the probabilities, up to a constant, of shape [*batch, classes].
      probs: the probabilities, instead of ``logits``.
      dtype: the type of the vectors; that of the logits by default.
      validate_args: as of ``ExpRelaxedOneHotCategorical``.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ):
        logarithms = ExpRelaxedOneHotCategorical(
            temperature,
            logits=logits,
            probs=probs,
            dtype=dtype,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
        )
        super().__init__(logarithms, Exp(), name=name)


class RelaxedBernoulli(TransformedDistribution):
    """A distribution of numbers from 0 to 1 that are near to one of the two.

    Samples have gradients by the logits.

    Args:
      temperature: a positive number. The lower it is, the nearer are the numbers.
      logits: the log-odds of a 1.
      probs: the probability of a 1, instead of ``logits``.
      validate_args: whether to check the parameters when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[logits, probs, temperature]) as scope:
            checks = [_v1.assert_positive(temperature)] if validate_args else []
            with tf.control_dependencies(checks):
                self._temperature = tf.identity(temperature, name="temperature")
            self._logits, self._probs = distribution_parameters.get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args
            )
            logistic = Logistic(
                self._logits / self._temperature,
                1.0 / self._temperature,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=f"{scope}/Logistic",
            )
            super().__init__(
                distribution=logistic,
                bijector=Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=scope,
            )
        self._parameters = arguments

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, tf.Tensor]:
        return {"logits": tf.convert_to_tensor(sample_shape, dtype=tf.int32)}

    @property
    def temperature(self) -> tf.Tensor:
        """The temperature."""
        return self._temperature

    @property
    def logits(self) -> tf.Tensor:
        """The log-odds of a 1."""
        return self._logits

    @property
    def probs(self) -> tf.Tensor:
        """The probability of a 1."""
        return self._probs
