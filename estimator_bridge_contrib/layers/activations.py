"""Layers without weights, or with biases only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.layer_variables import (
    add_bias,
    apply_after,
    layer_scope,
    weight,
)
from estimator_bridge_contrib.layers.utils import (
    channel_dimension,
    channels_first,
    collect_named_outputs,
    last_dimension,
    smart_cond,
)

__all__ = [
    "bias_add",
    "dropout",
    "maxout",
    "poincare_normalize",
    "scale_gradient",
    "softmax",
    "spatial_softmax",
    "unit_norm",
]

v1 = tf.compat.v1
_ZEROS = v1.zeros_initializer()


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable[[Any], Any] | None = None,
    initializer: Any = _ZEROS,
    regularizer: Callable[[Any], Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> tf.Tensor:
    """Adds ``biases`` to each channel.

    Args:
      inputs: a tensor [batch, ..., channels], or images [batch, channels, height, width].
      activation_fn: a function of the outputs, or None.
      initializer: initializer of the biases.
      regularizer: a function of the biases, whose result is added to REGULARIZATION_LOSSES.
      reuse: whether to reuse the variable of the given scope.
      variables_collections: collections for it, or a dict with those for 'biases'.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add the biases to TRAINABLE_VARIABLES.
      data_format: 'NHWC' (channels last) or 'NCHW' (channels second).
      scope: the variable scope; ``BiasAdd`` with a number by default.

    Raises:
      ValueError: an unknown rank or number of channels, or NCHW with other than 4 dimensions.
    """
    first = channels_first(data_format, ("NCHW", "NHWC"))
    with layer_scope(scope, "BiasAdd", inputs, reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
        if first and inputs.shape.rank != 4:
            raise ValueError(f"Data format NCHW only supports 4D Tensor, got {inputs.shape}.")
        outputs = add_bias(
            inputs,
            initializer,
            regularizer,
            trainable,
            variables_collections,
            first,
            name="biases",
        )
        return apply_after(outputs, sc, activation_fn, outputs_collections)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> tf.Tensor:
    """Sets values to zero at random, and divides the others by ``keep_prob``.

    Args:
      inputs: a tensor.
      keep_prob: the probability of keeping a value; a float or a tensor.
      noise_shape: the shape of the random mask, which is broadcast.
      is_training: whether to apply dropout; a bool or a tensor.
      outputs_collections: collections to add the outputs to.
      scope: the variable scope.
      seed: the op's seed.

    Returns:
      A tensor of the inputs' shape.
    """
    with v1.variable_scope(scope, "Dropout", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        outputs = smart_cond(
            is_training,
            lambda: tf.nn.dropout(inputs, 1 - keep_prob, noise_shape, seed, name="dropout"),
            lambda: tf.identity(inputs),
        )
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> tf.Tensor:
    """Softmax over the last dimension of logits of any rank.

    Args:
      logits: a tensor [batch, ..., classes].
      scope: the variable scope.
    """
    with v1.variable_scope(scope, "softmax", [logits]):
        classes = last_dimension(logits.shape, min_rank=2)
        flat = tf.nn.softmax(tf.reshape(logits, [-1, classes]))
        outputs = tf.reshape(flat, tf.shape(logits))
        outputs.set_shape(logits.shape)
        return outputs


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: float | None = None,
    name: Any = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> tf.Tensor:
    """Returns the expected position of each channel's values (https://arxiv.org/abs/1504.00702).

    Args:
      features: images [batch, height, width, channels], or with channels second.
      temperature: the first value of the variable ``temperature``; 1 by default.
      name: the variable scope; ``spatial_softmax`` by default.
      variables_collections: collections for the variable, or a dict with those for 'temperature'.
      trainable: whether to add it to TRAINABLE_VARIABLES.
      data_format: 'NHWC' or 'NCHW'.

    Returns:
      [batch, 2 * channels]: two coordinates from -1 to 1 for each channel, the first along the
      height.
    """
    first = channels_first(data_format, ("NCHW", "NHWC"))
    with layer_scope(name, "spatial_softmax", features):
        features = tf.convert_to_tensor(features)
        channels = channel_dimension(
            features.shape, "channels_first" if first else "channels_last", min_rank=4
        )
        if not first:
            features = tf.transpose(features, [0, 3, 1, 2])
        height, width = tf.unstack(tf.shape(features)[2:])
        start = (
            v1.ones_initializer() if temperature is None else tf.constant_initializer(temperature)
        )
        heat = weight(
            "temperature",
            [],
            tf.float32,
            start,
            trainable=trainable,
            collections=(variables_collections if trainable else None, "temperature"),
        )
        with v1.name_scope("spatial_softmax_op"):
            attention = tf.nn.softmax(tf.reshape(features, [-1, height * width]) / heat)
            along = tf.meshgrid(
                tf.linspace(-1.0, 1.0, height), tf.linspace(-1.0, 1.0, width), indexing="ij"
            )
            expected = [
                tf.reduce_sum(tf.reshape(each, [height * width]) * attention, [1], keepdims=True)
                for each in along
            ]
            outputs = tf.reshape(tf.concat(expected, 1), [-1, channels * 2])
            outputs.set_shape([None, channels * 2])
            return outputs


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> tf.Tensor:
    """Divides by the length along one dimension: ``x / sqrt(epsilon + sum(x ** 2))``.

    Args:
      inputs: a tensor of known rank.
      dim: the dimension.
      epsilon: added to the squared length.
      scope: the variable scope.

    Raises:
      ValueError: the inputs lack this dimension, or have an unknown rank.
    """
    with v1.variable_scope(scope, "UnitNorm", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        if not inputs.shape.rank:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < inputs.shape.rank:
            raise ValueError(
                "dim must be positive but smaller than the input rank: "
                f"got {dim}, and inputs of rank {inputs.shape.rank}."
            )
        return inputs / tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, keepdims=True))


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> tf.Tensor:
    """Returns the maximum of each group of features (https://arxiv.org/abs/1302.4389).

    Args:
      inputs: a tensor.
      num_units: the number of groups, which divides the number of features.
      axis: the features' dimension.
      scope: the variable scope.

    Raises:
      ValueError: the groups do not divide the features.
    """
    with v1.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        shape = inputs.shape.as_list()
        features = shape[axis]
        if features is None or features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        dynamic = tf.shape(inputs)
        shape[axis] = num_units
        sizes = [dynamic[i] if size is None else size for i, size in enumerate(shape)]
        outputs = tf.reduce_max(tf.reshape(inputs, [*sizes, features // num_units]), -1)
        outputs.set_shape(shape)
        return outputs


def poincare_normalize(
    x: Any, axis: int = 1, epsilon: float = 1e-5, name: str | None = None
) -> tf.Tensor:
    """Scales vectors longer than ``1 - epsilon`` down to that length, into the unit ball.

    Args:
      x: a tensor.
      axis: the vectors' dimension.
      epsilon: the distance from the ball's surface.
      name: the operation's name.
    """
    with v1.name_scope(name, "poincare_normalize", [x]) as scope:
        x = tf.convert_to_tensor(x, name="x")
        inverse = tf.math.rsqrt(tf.reduce_sum(tf.square(x), axis, keepdims=True))
        return tf.multiply(x, tf.minimum((1.0 - epsilon) * inverse, 1.0), name=scope)


@tf.custom_gradient
def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """The identity, whose gradient is multiplied by a number.

    Args:
      inputs: a tensor.
      gradient_multiplier: the number.
    """
    return tf.identity(inputs), lambda grad: (grad * gradient_multiplier, None)
