"""Fully connected layers."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.initializers import xavier_initializer
from estimator_bridge_contrib.layers.layer_variables import RENAMED, layer_scope
from estimator_bridge_contrib.layers.utils import last_dimension
from estimator_bridge_contrib.layers.weighted_layer import WeightedLayer

__all__ = ["elu", "fully_connected", "linear", "product", "relu", "relu6"]

_XAVIER = xavier_initializer()
_ZEROS = tf.compat.v1.zeros_initializer()


@add_arg_scope
def fully_connected(
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
    """Multiplies the last dimension by weights, and adds biases: ``activation_fn(x W + b)``.

    The variables are ``weights``, [inputs, num_outputs], and ``biases``, [num_outputs].

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
            f"num_outputs type should be one of [int], got {type(num_outputs)}: {num_outputs!r}."
        )
    with layer_scope(scope, "fully_connected", inputs, reuse, RENAMED) as sc:
        inputs = tf.convert_to_tensor(inputs)
        shape = [last_dimension(inputs.shape, min_rank=2), int(num_outputs)]
        return layer.finish(product(inputs, layer.weights("kernel", shape, inputs)), sc)


def product(inputs: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Multiplies the last dimension of a tensor by a matrix."""
    if inputs.shape.rank == 2:
        return tf.matmul(inputs, weights)
    outputs = tf.tensordot(inputs, weights, [[inputs.shape.rank - 1], [0]])
    outputs.set_shape([*inputs.shape.as_list()[:-1], weights.shape.as_list()[-1]])
    return outputs


elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
linear = functools.partial(fully_connected, activation_fn=None)
