"""The fully connected layer of the first contrib.layers, whose bias is named 'bias'."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.initializers import xavier_initializer
from estimator_bridge_contrib.layers.layer_variables import get_regularized

__all__ = ["legacy_fully_connected", "legacy_linear", "legacy_relu"]

v1 = tf.compat.v1
_XAVIER = xavier_initializer()
_ZEROS = v1.zeros_initializer()


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable[[Any], Any] | None = None,
    weight_init: Any = _XAVIER,
    bias_init: Any = _ZEROS,
    name: str | None = None,
    weight_collections: Iterable[str] | None = (v1.GraphKeys.WEIGHTS,),
    bias_collections: Iterable[str] | None = (v1.GraphKeys.BIASES,),
    output_collections: Iterable[str] | None = (v1.GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Callable[[Any], Any] | None = None,
    bias_regularizer: Callable[[Any], Any] | None = None,
) -> tf.Tensor:
    """Multiplies the last dimension by ``weights``, and adds ``bias``.

    Args:
      x: a tensor of at least two dimensions, the last of which is known.
      num_output_units: the size of the outputs' last dimension.
      activation_fn: a function of the outputs; None for a linear layer.
      weight_init: initializer of the weights.
      bias_init: initializer of the bias; None for none.
      name: the variable scope; ``fully_connected`` with a number by default.
      weight_collections: collections to add the weights to.
      bias_collections: collections to add the bias to.
      output_collections: collections to add the outputs to, besides ACTIVATIONS.
      trainable: whether to add the variables to TRAINABLE_VARIABLES.
      weight_regularizer: a function of the weights, whose result is added to REGULARIZATION_LOSSES.
      bias_regularizer: a function of the bias.

    Returns:
      A tensor of the inputs' shape, except for the last dimension.

    Raises:
      ValueError: the inputs' last dimension is unknown, or they have fewer than two dimensions.
    """
    with v1.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        size = _last_dimension(x.shape)

        def get(short: str, shape: list[int], init: Any, regularizer: Any, collections: Any) -> Any:
            return get_regularized(
                short,
                regularizer,
                shape=shape,
                dtype=x.dtype.base_dtype,
                initializer=init,
                trainable=trainable,
                collections=[*dict.fromkeys([*(collections or ()), v1.GraphKeys.GLOBAL_VARIABLES])],
            )[0]

        weights = get(
            "weights",
            [size, num_output_units],
            weight_init,
            weight_regularizer,
            weight_collections,
        )
        flat = x if x.shape.rank == 2 else tf.reshape(x, [-1, size])
        y = tf.matmul(flat, tf.convert_to_tensor(weights))
        if bias_init is not None:
            bias = get("bias", [num_output_units], bias_init, bias_regularizer, bias_collections)
            y = tf.nn.bias_add(y, bias)
        if x.shape.rank > 2:
            y = tf.reshape(y, tf.concat([tf.shape(x)[:-1], [num_output_units]], 0))
            y.set_shape([*x.shape.as_list()[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        v1.add_to_collections([*(output_collections or ()), v1.GraphKeys.ACTIVATIONS], y)
        return y


def _last_dimension(shape: tf.TensorShape) -> int:
    if shape.rank is None:
        raise ValueError("dims of x must be known but is None")
    if shape.rank < 2:
        raise ValueError(f"rank of x must be at least 2 not: {shape.rank}")
    size = shape.as_list()[-1]
    if size is None:
        raise ValueError(f"last dimension of x must be known but is None: its shape is {shape}")
    return size


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=tf.nn.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
