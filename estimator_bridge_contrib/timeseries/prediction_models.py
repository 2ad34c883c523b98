"""Networks that predict a window from the one before: plug-ins of `ARModel`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.fused import LSTMBlockFusedCell
from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = ["FlatPredictionModel", "LSTMPredictionModel"]

_Dense = tf.keras.layers.Dense


class FlatPredictionModel(tf.keras.Model):
    """Predicts a window by dense layers of all features.

    Args:
      num_features: the number of features to predict.
      input_window_size: the number of times before the window.
      output_window_size: the number of times of the window.
      hidden_layer_sizes: the sizes of hidden layers; none by default.
    """

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Sequence[int] | None = None,
    ):
        del input_window_size  # the layers see it when they are built
        super().__init__()
        self._input_flatten = tf.keras.layers.Flatten()
        self._output_flatten = tf.keras.layers.Flatten()
        self._hidden_layers = None
        if hidden_layer_sizes:
            self._hidden_layers = tf.keras.Sequential(
                [_Dense(size, activation=tf.nn.relu) for size in hidden_layer_sizes]
            )
        size = num_features * output_window_size
        self._mean_transform = _Dense(size, name="predicted_mean")
        self._covariance_transform = _Dense(size, name="log_sigma_square")
        self._prediction_shape = [-1, output_window_size, num_features]

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:
        """Predicts a window.

        Args:
          input_window_features: [batch, input window, size].
          output_window_features: what is known of the window's times, [batch, output window, size];
            the size may be 0.

        Returns:
          "mean" and "covariance", which has only the variances; [batch, output window, features].
        """
        if static_size(input_window_features, 1) == 0:
            inputs = self._output_flatten(output_window_features)
        elif static_size(output_window_features, 2) == 0:
            inputs = self._input_flatten(input_window_features)
        else:
            parts = [
                self._input_flatten(input_window_features),
                self._output_flatten(output_window_features),
            ]
            inputs = tf.concat(parts, axis=1)
        if self._hidden_layers:
            inputs = self._hidden_layers(inputs)
        mean = tf.reshape(self._mean_transform(inputs), self._prediction_shape)
        variance = tf.exp(self._covariance_transform(inputs))
        return {"mean": mean, "covariance": tf.reshape(variance, self._prediction_shape)}


class LSTMPredictionModel(tf.keras.Model):
    """Predicts a window by an LSTM that has read the window before.

    Args:
      num_features: the number of features to predict.
      input_window_size: the number of times before the window.
      output_window_size: the number of times of the window.
      num_units: the size of the LSTMs' state.
    """

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        num_units: int = 128,
    ):
        del input_window_size, output_window_size  # an LSTM runs over any number of times
        super().__init__()
        self._encoder = LSTMBlockFusedCell(num_units=num_units, name="encoder")
        self._decoder = LSTMBlockFusedCell(num_units=num_units, name="decoder")
        self._mean_transform = _Dense(num_features, name="mean_transform")
        self._covariance_transform = _Dense(num_features, name="covariance_transform")

    def call(self, input_window_features: Any, output_window_features: Any) -> dict[str, Any]:
        """Predicts a window; see `FlatPredictionModel.call`."""
        before = tf.transpose(input_window_features, [1, 0, 2])  # times first
        ahead = tf.transpose(output_window_features, [1, 0, 2])
        _, state = self._encoder(before, dtype=self.dtype)
        decoded, _ = self._decoder(ahead, dtype=self.dtype, initial_state=state)
        decoded = tf.transpose(decoded, [1, 0, 2])
        mean = self._mean_transform(decoded)
        return {"mean": mean, "covariance": tf.exp(self._covariance_transform(decoded))}
