"""Depthwise convolutions: separable ones, and those with one filter for all channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.initializers import xavier_initializer
from estimator_bridge_contrib.layers.layer_variables import RENAMED, layer_scope
from estimator_bridge_contrib.layers.utils import (
    channel_dimension,
    channels_first,
    two_element_tuple,
)
from estimator_bridge_contrib.layers.weighted_layer import WeightedLayer

__all__ = [
    "conv2d_in_plane",
    "convolution2d_in_plane",
    "separable_conv2d",
    "separable_convolution2d",
]

_XAVIER = xavier_initializer()
_ZEROS = tf.compat.v1.zeros_initializer()
_RENAMED = {
    **RENAMED,
    "depthwise_kernel": "depthwise_weights",
    "pointwise_kernel": "pointwise_weights",
}


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = _XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Callable[[Any], Any] | None = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Callable[[Any], Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """Convolves each channel separately, then mixes the channels at each position.

    The variables are ``depthwise_weights``, [height, width, channels, depth_multiplier];
    ``pointwise_weights``, [1, 1, channels * depth_multiplier, num_outputs]; and ``biases``.

    Args:
      inputs: images [batch, height, width, channels], or with channels second.
      num_outputs: the number of filters; None to skip the second step.
      kernel_size: the size of the first step's filters; an int or two.
      depth_multiplier: the number of first-step filters for each channel.
      stride: the step between positions; an int or two.
      padding: 'SAME' or 'VALID'.
      data_format: 'NHWC' or 'NCHW'.
      rate: the step within the filter; an int or two.
      activation_fn: a function of the outputs; None for a linear layer.
      normalizer_fn: a function of the outputs, used instead of biases, such as ``batch_norm``.
      normalizer_params: arguments of normalizer_fn.
      weights_initializer: initializer of the weights.
      pointwise_initializer: initializer of the second step's weights, if it differs.
      weights_regularizer: a function of the weights; its result is added to REGULARIZATION_LOSSES.
      biases_initializer: initializer of the biases; None for no biases.
      biases_regularizer: a function of the biases.
      reuse: whether to reuse the variables of the given scope.
      variables_collections: collections for all variables, or a dict by variable: 'weights' and
        'biases'.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add the variables to TRAINABLE_VARIABLES.
      scope: the variable scope; ``SeparableConv2d`` with a number by default.

    Returns:
      Images with num_outputs channels, or channels * depth_multiplier if that is None.
    """
    layer = WeightedLayer.of(locals())
    first = channels_first(data_format, ("NCHW", "NHWC"))
    with layer_scope(scope, "SeparableConv2d", inputs, reuse, _RENAMED) as sc:
        inputs = tf.convert_to_tensor(inputs)
        channels = channel_dimension(
            inputs.shape, "channels_first" if first else "channels_last", min_rank=4
        )
        shape = [*two_element_tuple(kernel_size), channels, depth_multiplier]
        depthwise = layer.weights("depthwise_kernel", shape, inputs)
        steps = {
            "strides": _four(two_element_tuple(stride), first),
            "padding": padding.upper(),
            "data_format": data_format,
            "dilations": two_element_tuple(rate),
        }
        if num_outputs is None:
            outputs = tf.nn.depthwise_conv2d(inputs, depthwise, name="depthwise", **steps)
        else:
            shape = [1, 1, channels * depth_multiplier, num_outputs]
            pointwise = layer.weights("pointwise_kernel", shape, inputs, pointwise_initializer)
            outputs = tf.nn.separable_conv2d(inputs, depthwise, pointwise, **steps)
        return layer.finish(outputs, sc, first)


@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = _XAVIER,
    weights_regularizer: Callable[[Any], Any] | None = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Callable[[Any], Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tf.Tensor:
    """Convolves each channel with the same filter, for example to blur or to take differences.

    The variables are ``weights``, [height, width, 1, 1], and ``biases``, [channels].

    Args:
      inputs: images [batch, height, width, channels].
      kernel_size: the filter's size; an int or two.
      stride: the step between positions; an int or two.
      padding: 'SAME' or 'VALID'.
      activation_fn: a function of the outputs; None for a linear layer.
      normalizer_fn: a function of the outputs, used instead of biases, such as ``batch_norm``.
      normalizer_params: arguments of normalizer_fn.
      weights_initializer: initializer of the weights.
      weights_regularizer: a function of the weights; its result is added to REGULARIZATION_LOSSES.
      biases_initializer: initializer of the biases; None for no biases.
      biases_regularizer: a function of the biases.
      reuse: whether to reuse the variables of the given scope.
      variables_collections: collections for all variables, or a dict by variable: 'weights' and
        'biases'.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add the variables to TRAINABLE_VARIABLES.
      scope: the variable scope; ``ConvInPlane`` with a number by default.

    Returns:
      Images with the same number of channels.
    """
    layer = WeightedLayer.of(locals())
    with layer_scope(scope, "ConvInPlane", inputs, reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        channels = channel_dimension(inputs.shape, "channels_last", min_rank=4)
        weights = layer.weights("weights", [*two_element_tuple(kernel_size), 1, 1], inputs)
        outputs = tf.nn.depthwise_conv2d(
            inputs,
            tf.tile(weights, [1, 1, channels, 1]),
            _four(two_element_tuple(stride), False),
            padding.upper(),
            name="depthwise",
        )
        return layer.finish(outputs, sc, bias_name="biases")


def _four(sizes: tuple[int, int], first: bool) -> list[int]:
    return [1, 1, *sizes] if first else [1, *sizes, 1]


separable_conv2d = separable_convolution2d
conv2d_in_plane = convolution2d_in_plane
