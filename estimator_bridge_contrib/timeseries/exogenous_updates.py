"""Updates of a hidden state by what is known besides the series."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.dense import fully_connected
from estimator_bridge_contrib.timeseries.covariances import (
    transform_to_covariance_matrices,
)
from estimator_bridge_contrib.timeseries.kalman_filter import KalmanFilter
from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = ["added_to_state", "observed_state"]

_scope = tf.compat.v1.variable_scope


def observed_state(
    kalman_filter: KalmanFilter, vectors: Any, mean: Any, variance: Any, size: int
) -> tuple[tf.Tensor, tf.Tensor]:
    """Updates states as if vectors were observations of them, which makes them more certain.

    Dense layers make the observations and their noise.

    Args:
      kalman_filter: updates the states.
      vectors: [batch, n].
      mean: the states' means, [batch, size].
      variance: their covariances, [batch, size, size].
      size: the size of a state.

    Returns:
      The new means and covariances.
    """
    identity = tf.eye(size, batch_shape=tf.shape(vectors)[:-1], dtype=kalman_filter.dtype)
    with _scope("exogenous_noise_decreasing_covariance"):
        noise = transform_to_covariance_matrices(vectors, size)
    with _scope("exogenous_noise_decreasing_observation"):
        observation = fully_connected(vectors, size, activation_fn=None)
    return kalman_filter.posterior_from_prior_state(
        prior_state=mean,
        prior_state_var=variance,
        observation=observation,
        observation_model=identity,
        predicted_observations=(mean, noise + variance),
        observation_noise=noise,
    )


def added_to_state(vectors: Any, mean: Any, variance: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Adds to states what dense layers make of vectors, with noise.

    Args:
      vectors: [batch, n].
      mean: the states' means, [batch, size].
      variance: their covariances, [batch, size, size].

    Returns:
      The new means and covariances.
    """
    with _scope("exogenous_noise_increasing_mean"):
        step = fully_connected(vectors, static_size(mean, 1), activation_fn=None)
    with _scope("exogenous_noise_increasing_covariance"):
        noise = transform_to_covariance_matrices(vectors, static_size(variance, 1))
    return mean + step, variance + noise
