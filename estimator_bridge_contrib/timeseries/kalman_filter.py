"""KalmanFilter: means and covariances of the states of linear models."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.log_densities import mvn_tril_log_prob
from estimator_bridge_contrib.timeseries.matrices import batch_times_matrix

__all__ = ["KalmanFilter"]

_v1 = tf.compat.v1
_ADVICE = (
    "The filter may be numerically unstable, as when variances of the state differ much, or "
    "predictions are nearly certain. Set filtering_maximum_posterior_variance_ratio or "
    "filtering_minimum_posterior_variance in StateSpaceModelConfiguration, or change the "
    "transition matrix."
)


class KalmanFilter:
    """Updates a normal distribution of states, in steps of time and by observations.

    An observation is ``observation_model @ state`` with normal noise; a state follows from the one
    before by a transition matrix, with normal noise.

    Args:
      dtype: the type of floats.
      simplified_posterior_covariance_computation: whether to compute a covariance after an
        observation by the shorter formula, which is less stable.
    """

    def __init__(
        self,
        dtype: Any = tf.float32,
        simplified_posterior_covariance_computation: bool = False,
    ):
        self._is_simplified = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self,
        estimated_state: Any,
        estimated_state_covariance: Any,
        predicted_observation: Any,
        predicted_observation_covariance: Any,
        observation: Any,
        observation_model: Any,
        observation_noise: Any,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Updates states by observations, and judges the predictions of these.

        Args:
          estimated_state: [batch, states].
          estimated_state_covariance: [batch, states, states].
          predicted_observation: [batch, features].
          predicted_observation_covariance: [batch, features, features].
          observation: [batch, features].
          observation_model: [batch, features, states].
          observation_noise: covariances, [batch, features, features] or [features, features].

        Returns:
          The states' means and covariances, and the log likelihoods of the observations, [batch].
          Running it raises tf.errors.InvalidArgumentError if a predicted covariance is not finite
          or has a negative variance.
        """
        turned = tf.linalg.matrix_transpose(predicted_observation_covariance)
        covariance = 0.5 * (predicted_observation_covariance + turned)
        covariance = _v1.verify_tensor_all_finite(
            covariance, f"Predicted observation covariance was not finite. {_ADVICE}"
        )
        least = tf.reduce_min(tf.linalg.diag_part(covariance))
        message = f"The predicted observation covariance has a negative diagonal entry. {_ADVICE}"
        with tf.control_dependencies([_v1.Assert(least >= 0.0, [message, least])]):
            factor = tf.linalg.cholesky(covariance)
        likelihood = mvn_tril_log_prob(loc=predicted_observation, scale_tril=factor, x=observation)
        mean, variance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(predicted_observation, predicted_observation_covariance),
            observation_noise=observation_noise,
        )
        return mean, variance, likelihood

    def predict_state_mean(self, prior_state: Any, transition_matrices: Any) -> tf.Tensor:
        """Moves the means of states in time.

        Args:
          prior_state: [batch, states].
          transition_matrices: for all steps together, [batch, states, states].

        Returns:
          [batch, states].
        """
        return tf.squeeze(tf.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(
        self, prior_state_var: Any, transition_matrices: Any, transition_noise_sums: Any
    ) -> tf.Tensor:
        """Moves the covariances of states in time.

        Args:
          prior_state_var: [batch, states, states].
          transition_matrices: for all steps together, [batch, states, states].
          transition_noise_sums: the noise of all steps together, [batch, states, states].

        Returns:
          [batch, states, states].
        """
        product = tf.matmul(transition_matrices, prior_state_var)
        return tf.matmul(product, transition_matrices, adjoint_b=True) + transition_noise_sums

    def posterior_from_prior_state(
        self,
        prior_state: Any,
        prior_state_var: Any,
        observation: Any,
        observation_model: Any,
        predicted_observations: tuple[Any, Any],
        observation_noise: Any,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Updates states by observations.

        Args:
          prior_state: [batch, states].
          prior_state_var: [batch, states, states].
          observation: [batch, features].
          observation_model: [batch, features, states].
          predicted_observations: means [batch, features] and covariances.
          observation_noise: covariances, [batch, features, features] or [features, features].

        Returns:
          The states' means and covariances.
        """
        expected, covariance = predicted_observations
        residual = observation - expected
        crossed = tf.matmul(observation_model, prior_state_var, adjoint_b=True)
        # The covariance is symmetric up to rounding; filters of several features are stable only
        # if the solver takes its transpose.
        gain = tf.linalg.solve(covariance, crossed, adjoint=True)  # transposed
        correction = tf.matmul(gain, tf.expand_dims(residual, -1), adjoint_a=True)
        mean = prior_state + tf.squeeze(correction, axis=[-1])
        explained = tf.matmul(gain, observation_model, adjoint_a=True)
        identity = tf.eye(tf.shape(explained)[1], dtype=explained.dtype)[None]
        rest = identity - explained
        left = tf.matmul(rest, prior_state_var)
        if self._is_simplified:
            return mean, left
        # Joseph's form: it stays positive definite for a gain with rounding errors.
        prior_part = tf.matmul(rest, left, adjoint_b=True)
        return mean, prior_part + _noise_of_gain(gain, tf.convert_to_tensor(observation_noise))

    def observed_from_state(
        self, state_mean: Any, state_var: Any, observation_model: Any, observation_noise: Any
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Predicts observations.

        Args:
          state_mean: [batch, states].
          state_var: [batch, states, states].
          observation_model: [batch, features, states].
          observation_noise: covariances, [batch, features, features], or what can be added to them.

        Returns:
          Means [batch, features] and covariances [batch, features, features].
        """
        mean = tf.matmul(tf.expand_dims(state_mean, 1), observation_model, adjoint_b=True)
        spread = tf.matmul(observation_model, state_var)
        covariance = tf.matmul(spread, observation_model, adjoint_b=True)
        return tf.squeeze(mean, axis=[1]), covariance + observation_noise


def _noise_of_gain(gain: Any, noise: tf.Tensor) -> tf.Tensor:
    """Returns the covariance that the noise of observations adds to states."""

    def of_matrix() -> tf.Tensor:
        return tf.matmul(batch_times_matrix(gain, noise, adj_x=True), gain)

    def of_batch() -> tf.Tensor:
        return tf.matmul(tf.matmul(gain, noise, adjoint_a=True), gain)

    if noise.shape.ndims is None:
        return _v1.cond(tf.equal(tf.rank(noise), 2), of_matrix, of_batch)
    return of_matrix() if noise.shape.ndims == 2 else of_batch()
