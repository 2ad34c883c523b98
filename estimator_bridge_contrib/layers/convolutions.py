"""Convolutions in one to three dimensions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.initializers import xavier_initializer
from estimator_bridge_contrib.layers.layer_variables import RENAMED, layer_scope
from estimator_bridge_contrib.layers.utils import (
    channel_dimension,
    channels_first,
    n_positive_integers,
)
from estimator_bridge_contrib.layers.weighted_layer import WeightedLayer

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution3d",
]

_XAVIER = xavier_initializer()
_ZEROS = tf.compat.v1.zeros_initializer()
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


def _convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    conv_dims: int | None = None,
) -> tf.Tensor:
    """Convolves the inputs with ``weights``, and adds ``biases``.

    The variables are ``weights``, [*kernel_size, channels, num_outputs], and ``biases``,
    [num_outputs].

    Args:
      inputs: a tensor [batch, *positions, channels] with one to three dimensions of positions, or
        with channels second; the number of channels is known.
      num_outputs: the number of filters.
      kernel_size: the filters' size; an int, or one per dimension.
      stride: the step between positions; an int, or one per dimension.
      padding: 'SAME', 'VALID', or, in one dimension, 'CAUSAL': no output reads a later position.
      data_format: such as 'NHWC', the default for images, or 'NCHW'.
      rate: the step within the filter, for an atrous convolution; an int, or one per dimension.
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
      scope: the variable scope; ``Conv`` with a number by default.
      conv_dims: the required number of dimensions of positions; any number by default.

    Returns:
      A tensor [batch, *new positions, num_outputs], in the same format.

    Raises:
      ValueError: a wrong rank or format, or a stride together with a rate.
    """
    layer = WeightedLayer.of(locals())
    first = channels_first(data_format, _FORMATS)
    with layer_scope(scope, "Conv", inputs, reuse, RENAMED) as sc:
        inputs = tf.convert_to_tensor(inputs)
        n = _positions(inputs, conv_dims)
        stride, rate = n_positive_integers(n, stride), n_positive_integers(n, rate)
        if max(stride) > 1 and max(rate) > 1:
            raise ValueError(
                "stride > 1 not supported in conjunction with rate > 1: "
                f"got stride={stride}, rate={rate}."
            )
        channels = channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
        shape = [*n_positive_integers(n, kernel_size), channels, num_outputs]
        weights = layer.weights("kernel", shape, inputs)
        positions = "DHW"[-n:] if n > 1 else "W"
        if padding.upper() == "CAUSAL":
            inputs = _after_zeros(inputs, n_positive_integers(n, kernel_size), rate, first)
            padding = "VALID"
        outputs = tf.nn.convolution(
            inputs,
            weights,
            strides=stride,
            padding=padding.upper(),
            data_format=f"NC{positions}" if first else f"N{positions}C",
            dilations=rate,
            name=f"Conv{n}D",
        )
        return layer.finish(outputs, sc, first)


def _after_zeros(
    inputs: tf.Tensor, size: tuple[int, ...], rate: tuple[int, ...], first: bool
) -> tf.Tensor:
    """Pads sequences at their start, so that a filter ends at the position that it computes."""
    if len(size) != 1:
        raise ValueError(
            f"Causal padding is only supported for conv1d, got kernel_size={list(size)}. Use "
            "padding='SAME' or 'VALID'."
        )
    before = [rate[0] * (size[0] - 1), 0]
    return tf.pad(inputs, [[0, 0], [0, 0], before] if first else [[0, 0], before, [0, 0]])


def _positions(inputs: tf.Tensor, spatial_rank: int | None) -> int:
    rank = inputs.shape.rank
    if spatial_rank is not None and rank != spatial_rank + 2:
        raise ValueError(
            f"Convolution expects input with rank {spatial_rank + 2}, got {rank}: {inputs.shape}."
        )
    if rank not in (3, 4, 5):
        raise ValueError(f"Convolution not supported for input with rank {rank}: {inputs.shape}.")
    return rank - 2


def _with_dims(name: str, dims: int) -> Callable[..., tf.Tensor]:
    @functools.wraps(_convolution)
    def convolve(*args: Any, **kwargs: Any) -> tf.Tensor:
        return _convolution(*args, **{**kwargs, "conv_dims": dims})

    # repeat and stack derive scope names from the layer's name.
    convolve.__name__ = convolve.__qualname__ = name
    return add_arg_scope(convolve)


_convolution.__name__ = _convolution.__qualname__ = "convolution"
convolution = add_arg_scope(_convolution)
convolution1d = conv1d = _with_dims("convolution1d", 1)
convolution2d = conv2d = _with_dims("convolution2d", 2)
convolution3d = conv3d = _with_dims("convolution3d", 3)
