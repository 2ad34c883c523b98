"""AdderStateSpaceModel: a level with a slope."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.state_space import StateSpaceModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    DEFAULTS,
    StateSpaceModelConfiguration,
)

__all__ = ["AdderStateSpaceModel"]

_v1 = tf.compat.v1


class AdderStateSpaceModel(StateSpaceModel):
    """A state of a level, which is observed, and a slope, which is added to it at each step.

    Args:
      use_level_noise: whether the level has noise, besides that of the slope.
      configuration: the options.
    """

    def __init__(
        self,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = DEFAULTS,
    ):
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self) -> Any:
        """Returns the mean before the series: the level begins with that of the first values."""
        with _v1.variable_scope(self._variable_scope):
            if self._input_statistics is None:
                return super().get_prior_mean()
            first = self._scale_data(self._input_statistics.series_start_moments.mean)
            start = tf.stack([tf.reduce_mean(first), 0.0])
            return start + _v1.get_variable(
                name="prior_state_mean",
                shape=start.shape,
                initializer=_v1.zeros_initializer(),
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """Raises the transition matrix to powers n, which gives [[1, n], [0, 1]]."""
        around = tf.concat([tf.zeros([tf.rank(powers), 2], tf.int32), [(0, 1), (1, 0)]], axis=0)
        corner = tf.pad(powers[..., None, None], around)
        ones = tf.eye(2, batch_shape=tf.shape(powers), dtype=self.dtype)
        return ones + tf.cast(corner, self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        """Computes the noise of several steps in closed form; see the base class."""
        steps = tf.cast(num_steps, self.dtype)
        transform = self._tensor(self.get_noise_transform())
        noise = tf.matmul(transform, self.state_transition_noise_covariance)
        noise = tf.matmul(noise, transform, adjoint_b=True)
        level, right, left, slope = tf.unstack(tf.reshape(noise, [-1, 4]), axis=1)
        last = steps - 1
        total = last * (last + 1) / 2  # of 0 to last
        squares = total * (2 * last + 1) / 3
        parts = [
            steps * level + total * (right + left) + squares * slope,
            steps * right + total * slope,
            steps * left + total * slope,
            steps * slope,
        ]
        return tf.reshape(tf.stack(parts, axis=1), tf.concat([tf.shape(steps), [2, 2]], axis=0))

    def get_state_transition(self) -> Any:
        """Returns the transition matrix; see the base class."""
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        """Returns the matrix that adds noise; see the base class."""
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Any) -> tf.Tensor:
        """Returns how a state is observed; see the base class."""
        del times
        return tf.constant([1.0, 0.0], dtype=self.dtype)
