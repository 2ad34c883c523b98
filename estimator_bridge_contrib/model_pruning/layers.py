"""Layers whose weights have masks, in the style of tf.contrib.layers."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.dense import product
from estimator_bridge_contrib.layers.initializers import xavier_initializer
from estimator_bridge_contrib.layers.layer_variables import RENAMED, layer_scope, weight
from estimator_bridge_contrib.layers.utils import (
    channel_dimension,
    channels_first,
    last_dimension,
    n_positive_integers,
)
from estimator_bridge_contrib.layers.weighted_layer import WeightedLayer
from estimator_bridge_contrib.model_pruning.masks import masked

__all__ = ["masked_conv2d", "masked_convolution", "masked_fully_connected"]

_XAVIER = xavier_initializer()
_ZEROS = tf.compat.v1.zeros_initializer()
_ONES = tf.compat.v1.ones_initializer()
_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


@add_arg_scope
def masked_convolution(
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
) -> tf.Tensor:
    """Convolves images with masked weights.

    The variables are ``mask`` and ``weights``, [*kernel_size, channels, num_outputs],
    ``threshold``, a scalar, and ``biases``, [num_outputs].

    Args:
      inputs: a tensor [batch, height, width, channels], or with channels second; the number of
        channels is known.
      num_outputs: the number of filters.
      kernel_size: the filters' size; an int, or one per dimension.
      stride: the step between positions; an int, or one per dimension.
      padding: 'SAME' or 'VALID'.
      data_format: 'NHWC', the default, or 'NCHW'.
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

    Returns:
      A tensor [batch, *new positions, num_outputs], in the same format.

    Raises:
      ValueError: a wrong rank or format, or a stride together with a rate.
    """
    layer = WeightedLayer.of(locals())
    first = channels_first(data_format, _FORMATS)
    with layer_scope(scope, "Conv", inputs, reuse, RENAMED) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank != 4:
            raise ValueError(
                f"Sparse Convolution not supported for input with rank {inputs.shape.rank}: "
                f"{inputs.shape}. It must be 4."
            )
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError(f"Unsupported data format {data_format}. Use 'NHWC' or 'NCHW'.")
        channels = channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
        shape = [*n_positive_integers(2, kernel_size), channels, num_outputs]
        mask = _mask(shape, inputs)
        outputs = tf.nn.convolution(
            inputs,
            masked(_weights(layer, shape, inputs), mask, _threshold(inputs)),
            strides=n_positive_integers(2, stride),
            padding=padding.upper(),
            data_format="NCHW" if first else "NHWC",
            dilations=n_positive_integers(2, rate),
        )
        return layer.finish(outputs, sc, first)


masked_conv2d = masked_convolution


@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
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
    """Multiplies the last dimension by masked weights, and adds biases.

    The variables are ``weights`` and ``mask``, [inputs, num_outputs], ``threshold``, a scalar, and
    ``biases``, [num_outputs].

    Args:
      inputs: a tensor of at least two dimensions, the last of which is known.
      num_outputs: the size of the outputs' last dimension.
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
      scope: the variable scope; ``fully_connected`` with a number by default.

    Returns:
      A tensor of the inputs' shape, except for the last dimension.

    Raises:
      ValueError: the inputs' last dimension is unknown, or num_outputs is not an int.
    """
    layer = WeightedLayer.of(locals())
    if not isinstance(num_outputs, numbers.Integral):
        raise ValueError(
            f"num_outputs should be int or long, got {type(num_outputs)}: {num_outputs!r}."
        )
    with layer_scope(scope, "fully_connected", inputs, reuse, RENAMED) as sc:
        inputs = tf.convert_to_tensor(inputs)
        shape = [last_dimension(inputs.shape, min_rank=2), int(num_outputs)]
        weights = _weights(layer, shape, inputs)
        mask = _mask(shape, inputs)
        outputs = product(inputs, masked(weights, mask, _threshold(inputs)))
        return layer.finish(outputs, sc)


def _weights(layer: WeightedLayer, shape: list[int], inputs: tf.Tensor) -> Any:
    """Gets or makes the weights; parts stay apart, as their masks are pruned part by part.

    `WeightedLayer.weights` joins them.
    """
    return weight(
        "kernel",
        shape,
        inputs.dtype.base_dtype,
        layer.weights_initializer,
        layer.weights_regularizer,
        layer.trainable,
        (layer.variables_collections, "weights"),
    )


def _mask(shape: list[int], inputs: tf.Tensor) -> Any:
    return weight("mask", shape, inputs.dtype.base_dtype, _ONES, trainable=False)


def _threshold(inputs: tf.Tensor) -> Any:
    return weight("threshold", [], inputs.dtype.base_dtype, _ZEROS, trainable=False)
