"""Generalized divisive normalization (GDN), of images in density models and compression.

Balle, Laparra, Simoncelli, "Density Modeling of Images using a Generalized Normalization
Transformation" (2016): each channel is divided by the root of beta plus a sum of the squares of all
channels, weighted by gamma.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.conversion import leave_layers_unconverted
from estimator_bridge_contrib.layers.own_gradient import with_own_gradient

__all__ = ["GDN", "gdn"]

leave_layers_unconverted()
_Layer: Any = tf.compat.v1.layers.Layer


class GDN(_Layer):
    """Divides each channel by sqrt(beta + sum over channels of gamma * channel ** 2).

    The variables are roots of beta and gamma, so that gradient descent keeps these positive.

    Args:
      inverse: whether to multiply instead, which is about the inverse.
      beta_min: the least value of beta.
      gamma_init: the initial values of gamma's diagonal; all others are 0.
      reparam_offset: keeps the roots' gradients finite.
      data_format: 'channels_last' or 'channels_first'.
      activity_regularizer: a function of the outputs, whose result is a regularization loss.
      trainable: whether an optimizer may change the variables.
      name: the layer's scope.
      **kwargs: more arguments of a layer.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init = beta_min, gamma_init
        self._offset = reparam_offset

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
          ValueError: the data format is unknown, the inputs do not have three to five dimensions,
            or their number of channels is unknown.
        """
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(f"Unsupported `data_format` for GDN layer: {self.data_format}.")
        shape = tf.TensorShape(input_shape)
        if shape.rank not in (None, 3, 4, 5):
            raise ValueError(
                "GDN expects inputs of three to five dimensions [batch, *positions, channels], "
                f"got the shape {shape}."
            )
        channels = None if shape.rank is None else shape.as_list()[self._axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self._beta = self._positive("beta", [channels], self._beta_min, lambda: tf.ones([channels]))
        self._gamma = self._positive(
            "gamma", [channels] * 2, 0.0, lambda: self._gamma_init * tf.eye(channels)
        )
        self.built = True

    @property
    def _axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    def _positive(self, name: str, shape: list[int], least: float, start: Any) -> tf.Tensor:
        """Returns a value of at least a minimum, computed from a variable without one."""
        pedestal = self._offset**2

        def initial(shape: Any, dtype: Any = None, partition_info: Any = None) -> tf.Tensor:
            del shape, partition_info
            return tf.sqrt(tf.cast(start(), dtype) + pedestal)

        variable = self.add_weight(f"reparam_{name}", shape, initializer=initial)
        root = _at_least(tf.convert_to_tensor(variable), (least + pedestal) ** 0.5)
        return tf.square(root) - pedestal

    def call(self, inputs: Any) -> tf.Tensor:
        """Returns the normalized inputs."""
        inputs = tf.convert_to_tensor(inputs)
        axis = self._axis % inputs.shape.rank
        squares = tf.tensordot(tf.square(inputs), self._gamma, [[axis], [0]]) + self._beta
        if axis == 1:  # tensordot moves the channels to the end
            last = inputs.shape.rank - 1
            squares = tf.transpose(squares, [0, last, *range(1, last)])
        norm = tf.sqrt(squares)
        norm.set_shape(inputs.shape)
        return inputs * norm if self.inverse else inputs / norm


def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> tf.Tensor:
    """Applies a GDN layer; ``GDN`` describes the arguments.

    Args:
      inputs: [batch, *positions, channels], or with channels second.
      inverse: see ``GDN``.
      beta_min: see ``GDN``.
      gamma_init: see ``GDN``.
      reparam_offset: see ``GDN``.
      data_format: see ``GDN``.
      activity_regularizer: see ``GDN``.
      trainable: see ``GDN``.
      name: see ``GDN``.
      reuse: whether to reuse existing variables.

    Returns:
      A tensor of the inputs' shape.
    """
    layer = GDN(
        inverse=inverse,
        beta_min=beta_min,
        gamma_init=gamma_init,
        reparam_offset=reparam_offset,
        data_format=data_format,
        activity_regularizer=activity_regularizer,
        trainable=trainable,
        name=name,
        _scope=name,
        _reuse=reuse,
    )
    return layer(inputs)


def _at_least(values: tf.Tensor, bound: float) -> tf.Tensor:
    """Returns the larger one of a value and a bound; the gradient can move values below it up."""

    def gradient(gradients: list[Any]) -> list[Any]:
        passes = tf.logical_or(values >= bound, gradients[0] < 0)
        return [tf.where(passes, gradients[0], tf.zeros_like(gradients[0]))]

    return with_own_gradient([tf.maximum(values, bound)], [values], gradient)[0]
