"""The bijector that undoes a batch normalization."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector

__all__ = ["BatchNormalization"]

_v1 = tf.compat.v1
_Layer = _v1.layers.BatchNormalization


class BatchNormalization(Bijector):
    """``inverse`` normalizes a batch; ``forward`` undoes it with the moving averages.

    Args:
      batchnorm_layer: a layer ``tf.layers.BatchNormalization``; by default one whose gamma stays
        above 0.
      training: whether ``inverse`` normalizes with the batch's own mean and variance.
      validate_args: accepted, and without effect.
      name: the operations' name.

    Raises:
      ValueError: the layer is another one, renormalizes, or has virtual batches; or x or y has a
        shape that is not known.
    """

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ):
        self.batchnorm = batchnorm_layer or _Layer(
            gamma_constraint=lambda gamma: tf.nn.relu(gamma) + 1e-6
        )
        _check(self.batchnorm)
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(
            forward_min_event_ndims=1 if isinstance(axis, int) else len(axis),
            validate_args=validate_args,
            name=name,
        )

    def _build(self, value: tf.Tensor) -> list[int]:
        """Makes the layer's variables if it has none, and returns the value's shape."""
        if not value.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(value.shape)
        return value.shape.as_list()

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        shape, layer = self._build(x), self.batchnorm
        others = [i for i in range(len(shape)) if i not in layer.axis]
        wide = [1] * len(shape)
        wide[layer.axis[0]] = shape[layer.axis[0]]

        def along_axis(value: Any) -> Any:
            is_last = others == list(range(len(shape) - 1))
            return value if is_last or value.shape.rank == len(shape) else tf.reshape(value, wide)

        deviation = tf.sqrt(along_axis(layer.moving_variance) + layer.epsilon)
        if layer.scale:
            deviation /= along_axis(layer.gamma)
        mean = along_axis(layer.moving_mean)
        if layer.center:
            mean -= along_axis(layer.beta) * deviation
        return x * deviation + mean

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        self._build(x)
        return -self._log_det(self.batchnorm.moving_variance)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        shape = self._build(y)
        if not self._training:
            return self._log_det(self.batchnorm.moving_variance)
        others = [i for i in range(len(shape)) if i not in self.batchnorm.axis]
        return self._log_det(_v1.nn.moments(y, axes=others, keepdims=True)[1])

    def _log_det(self, variance: Any) -> tf.Tensor:
        logarithms = tf.reduce_sum(tf.math.log(variance + self.batchnorm.epsilon))
        return tf.reduce_sum(tf.math.log(self.batchnorm.gamma)) - 0.5 * logarithms


def _check(layer: Any) -> None:
    if not isinstance(layer, _Layer):
        raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
    if layer.renorm:
        raise ValueError("BatchNorm Bijector does not support renormalization.")
    if layer.virtual_batch_size:
        raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
