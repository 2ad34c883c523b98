"""Postprocessors of a filter's steps, which guard a state against outliers."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.covariances import entropy_matched_cauchy_scale
from estimator_bridge_contrib.timeseries.log_densities import cauchy_log_prob

__all__ = [
    "FilteringStepPostprocessor",
    "StateInterpolatingAnomalyDetector",
    "cauchy_alternative_to_gaussian",
]

_v1 = tf.compat.v1


class FilteringStepPostprocessor(abc.ABC):
    """Changes the state and the outputs after each observation."""

    @abc.abstractmethod
    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """Changes a state and outputs.

        Args:
          current_times: [batch].
          current_values: [batch, features].
          predicted_state: the state before the observation, nested tensors.
          filtered_state: the state after it.
          outputs: the model's outputs by name.

        Returns:
          The new state and the new outputs.
        """

    @property
    @abc.abstractmethod
    def output_names(self) -> list[str]:
        """The names of the outputs that it adds."""


def cauchy_alternative_to_gaussian(
    current_times: Any, current_values: Any, outputs: dict[str, Any]
) -> tf.Tensor:
    """Computes log likelihoods of values if they are outliers.

    Outliers have a Cauchy distribution around the prediction, with the entropy of the predicted
    normal distribution.

    Args:
      current_times: not used.
      current_values: [batch, features].
      outputs: with "mean" [batch, features] and "covariance" [batch, features, features].

    Returns:
      [batch].
    """
    del current_times
    scale = entropy_matched_cauchy_scale(outputs["covariance"])
    each = cauchy_log_prob(loc=outputs["mean"], scale=scale, x=current_values)
    return tf.reduce_sum(each, axis=1)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Updates a state the less, the more likely a value is an outlier.

    By Bayes' theorem, the odds of an outlier are those of its prior times the ratio of the two
    likelihoods. ``sigmoid(-responsibility_scaling * log(odds))`` is the weight of the updated
    state, and of the usual likelihood in the loss; the rest is that of the predicted state, and of
    the likelihood of an outlier.

    Args:
      anomaly_log_likelihood: a function of current_times, current_values and outputs, which returns
        log likelihoods [batch] of outliers.
      anomaly_prior_probability: the probability of an outlier.
      responsibility_scaling: how sharply the weight falls.
    """

    output_names: Any = ("anomaly_score",)

    def __init__(
        self,
        anomaly_log_likelihood: Callable[..., Any] = cauchy_alternative_to_gaussian,
        anomaly_prior_probability: float = 0.01,
        responsibility_scaling: float = 1.0,
    ):
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """Sets "loss", adds "anomaly_score", the log odds of an outlier; see the base class."""
        likelihood = self._anomaly_log_likelihood(
            current_times=current_times, current_values=current_values, outputs=outputs
        )
        prior = tf.convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        outlier = likelihood + tf.math.log(prior)
        usual = outputs["log_likelihood"] + tf.math.log(1.0 - prior)
        log_odds = outlier - usual
        weight = tf.sigmoid(-self._responsibility_scaling * log_odds)
        state = _interpolated(filtered_state, predicted_state, weight)
        outputs["loss"] = -(weight * usual + (1.0 - weight) * outlier)
        outputs["anomaly_score"] = log_odds
        return state, outputs


def _interpolated(first: Any, second: Any, weight: tf.Tensor) -> Any:
    """Returns the weighted mean of two states; times, which are integers, must be equal."""

    def between(one: tf.Tensor, other: tf.Tensor) -> tf.Tensor:
        if one.dtype != other.dtype:
            raise AssertionError(f"The states' types differ: {one.dtype} and {other.dtype}.")
        if not one.dtype.is_floating:
            with tf.control_dependencies([_v1.assert_equal(one, other)]):
                return tf.identity(one)
        ones = tf.ones([tf.rank(one) - 1], dtype=tf.int32)
        factor = tf.reshape(weight, tf.concat([tf.shape(weight), ones], 0))
        mean = factor * one + (1.0 - factor) * other
        mean.set_shape(one.shape)
        return mean

    flat = zip(tf.nest.flatten(first), tf.nest.flatten(second))
    return tf.nest.pack_sequence_as(first, [between(one, other) for one, other in flat])
