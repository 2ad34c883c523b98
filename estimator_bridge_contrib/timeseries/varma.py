"""VARMA: vector autoregression with a moving average."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.covariances import variable_covariance_matrix
from estimator_bridge_contrib.timeseries.state_space import StateSpaceModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    DEFAULTS,
    StateSpaceModelConfiguration,
)
from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = ["VARMA"]

_v1 = tf.compat.v1


class VARMA(StateSpaceModel):
    """A state of b blocks, each a vector of the series's features.

    At each step, the first block becomes the sum of the last blocks, each multiplied by one of
    ``ar_coefs``; the other blocks move on by one. Noise enters in the last block, and multiplied by
    ``ma_coefs`` in those before it. The first block is observed; if the moving average is not
    shorter than the autoregression, with the last block added to it.

    Args:
      autoregressive_order: the number of steps that the autoregression looks back.
      moving_average_order: the number of steps after which noise has no effect any more.
      configuration: the options.
    """

    def __init__(
        self,
        autoregressive_order: int,
        moving_average_order: int,
        configuration: StateSpaceModelConfiguration = DEFAULTS,
    ):
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        features = self.num_features
        with _v1.variable_scope(self._variable_scope):
            self.ar_coefs = _v1.get_variable(
                name="ar_coefs",
                shape=[features, features, self.ar_order],
                dtype=self.dtype,
                initializer=_v1.zeros_initializer(),
            )
            identity = tf.eye(features, dtype=self.dtype)[None, :, :]
            self.ma_coefs = _v1.get_variable(
                name="ma_coefs",
                initializer=tf.tile(identity, [self.ma_order, 1, 1]),
                dtype=self.dtype,
            )
        super()._define_parameters(
            observation_transition_tradeoff_log=observation_transition_tradeoff_log
        )

    def get_state_transition(self) -> tf.Tensor:
        """Returns the transition matrix; see the base class."""
        features, blocks = self.num_features, self.state_num_blocks
        coefficients = tf.pad(self.ar_coefs, [[0, 0], [0, 0], [0, blocks - self.ar_order]])
        first = tf.reshape(coefficients, [features, self.state_dimension])
        shift = tf.eye((blocks - 1) * features, dtype=self.dtype)
        return tf.concat([first, tf.pad(shift, [[0, 0], [0, features]])], axis=0)

    def get_noise_transform(self) -> tf.Tensor:
        """Returns the matrix that adds noise; see the base class."""
        features, before = self.num_features, self.state_num_blocks - 1
        coefficients = tf.pad(self.ma_coefs, [[before - self.ma_order, 0], [0, 0], [0, 0]])
        upper = tf.reshape(coefficients, [before * features, features], name="noise_transform")
        return tf.concat([upper, tf.eye(features, dtype=self.dtype)], axis=0)

    def get_observation_model(self, times: Any) -> tf.Tensor:
        """Returns how a state is observed; see the base class."""
        del times
        features, blocks = self.num_features, self.state_num_blocks
        name, first = "observation_model", tf.eye(features, dtype=self.dtype)
        if self.ar_order > self.ma_order or blocks < 2:
            return tf.pad(first, [[0, 0], [0, features * (blocks - 1)]], name=name)
        padded = tf.pad(first, [[0, 0], [0, features * (blocks - 2)]])
        return tf.concat([padded, tf.eye(features, dtype=self.dtype)], axis=1, name=name)

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> tf.Tensor:
        """Returns the covariance of the states' noise; see the base class.

        It begins with the variance of the first values: here noise explains deviations, as that of
        observations does in other models.
        """
        scale: Any = 0.0
        if self._input_statistics is not None:
            variance = tf.reduce_mean(self._start_variance())
            scale = tf.math.log(tf.maximum(variance, minimum_initial_variance))
        return variable_covariance_matrix(
            static_size(self._tensor(self.get_noise_transform()), 1),
            "state_transition_noise",
            dtype=self.dtype,
            initial_overall_scale_log=scale,
        )
