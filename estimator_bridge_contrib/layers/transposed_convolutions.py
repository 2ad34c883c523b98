"""Transposed convolutions, which enlarge images."""

from __future__ import annotations

import functools
import inspect
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
    "conv2d_transpose",
    "conv3d_transpose",
    "convolution2d_transpose",
    "convolution3d_transpose",
]

_XAVIER = xavier_initializer()
_ZEROS = tf.compat.v1.zeros_initializer()


def _transposed(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
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
    *,
    dims: int,
) -> tf.Tensor:
    """Applies the transpose (the gradient) of a convolution, and adds ``biases``.

    The variables are ``weights``, [*kernel_size, num_outputs, channels], and ``biases``,
    [num_outputs]. With padding 'SAME' a size becomes ``size * stride``; with 'VALID'
    ``size * stride + max(kernel_size - stride, 0)``.

    Args:
      inputs: a tensor [batch, *positions, channels], or with channels second.
      num_outputs: the number of filters.
      kernel_size: the filters' size; an int, or one per dimension.
      stride: the factor by which the outputs are larger; an int, or one per dimension.
      padding: 'SAME' or 'VALID'.
      data_format: 'NHWC' (for three dimensions 'NDHWC'), the default, or with channels second.
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
      scope: the variable scope; ``Conv2d_transpose`` with a number by default.
      dims: the number of dimensions of positions, 2 or 3.

    Returns:
      A tensor [batch, *larger positions, num_outputs], in the same format.
    """
    layer = WeightedLayer.of(locals())
    last, first_format = _FORMATS[dims]
    with layer_scope(scope, f"Conv{dims}d_transpose", inputs, reuse, RENAMED) as sc:
        first = channels_first(last if data_format is None else data_format, (first_format, last))
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank != dims + 2:
            raise ValueError(
                f"conv{dims}d_transpose expects input with rank {dims + 2}, got {inputs.shape}."
            )
        channels = channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
        size = n_positive_integers(dims, kernel_size)
        stride = n_positive_integers(dims, stride)
        weights = layer.weights("kernel", [*size, num_outputs, channels], inputs)

        def output_shape(shape: Any) -> list[Any]:
            old = shape[2:] if first else shape[1:-1]
            new = [_length(*each, padding.upper()) for each in zip(old, size, stride)]
            return [shape[0], num_outputs, *new] if first else [shape[0], *new, num_outputs]

        transpose = (tf.nn.conv2d_transpose, tf.nn.conv3d_transpose)[dims - 2]
        outputs = transpose(
            inputs,
            weights,
            output_shape=tf.stack(output_shape(tf.unstack(tf.shape(inputs)))),
            strides=list(stride),
            padding=padding.upper(),
            data_format=first_format if first else last,
            name=f"conv{dims}d_transpose",
        )
        outputs.set_shape(output_shape(inputs.shape.as_list()))
        return layer.finish(outputs, sc, first)


_FORMATS = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _length(old: Any, size: int, stride: int, padding: str) -> Any:
    if old is None:
        return None
    return old * stride + (max(size - stride, 0) if padding == "VALID" else 0)


def _with_dims(name: str, dims: int) -> Callable[..., tf.Tensor]:
    @functools.wraps(_transposed)
    def convolve(*args: Any, **kwargs: Any) -> tf.Tensor:
        return _transposed(*args, **kwargs, dims=dims)

    parameters = dict(inspect.signature(_transposed).parameters)
    del parameters["dims"]
    parameters["data_format"] = parameters["data_format"].replace(default=_FORMATS[dims][0])
    convolve.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        list(parameters.values())
    )
    convolve.__name__ = convolve.__qualname__ = name
    return add_arg_scope(convolve)


convolution2d_transpose = conv2d_transpose = _with_dims("convolution2d_transpose", 2)
convolution3d_transpose = conv3d_transpose = _with_dims("convolution3d_transpose", 3)
