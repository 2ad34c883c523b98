"""A DNN's logits: fully connected layers on an input layer of feature columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.canned.columns import are_v2
from estimator_bridge.canned.model_parts import DeepPart
from estimator_bridge.canned.summaries import summarize_layer
from estimator_bridge.model import ModeKeys

__all__ = ["DNN", "deep_logit_fn", "dnn_logit_fn_builder", "dnn_model"]

_v1 = tf.compat.v1
# The momentum of moving averages, from tf.contrib.layers.batch_norm, which the original used first.
_MOMENTUM = 0.999


class DNN(NamedTuple):
    """A network in a graph.

    Attributes:
      logits: of shape ``[batch, units]``.
      trainable: its trainable variables.
      updates: operations to run with a training step, which update moving averages.
    """

    logits: tf.Tensor
    trainable: list[Any]
    updates: list[Any]


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., tf.Tensor]:
    """Returns a function that computes a DNN's logits, for your own model_fn.

    Args:
      units: the number of logits, such as a head's ``logits_dimension``.
      hidden_units: the width of each hidden layer.
      feature_columns: dense columns, the input layer.
      activation_fn: the activation of the hidden layers.
      dropout: the rate of dropout after hidden layers in training, or None.
      input_layer_partitioner: the partitioner of the input layer's variables.
      batch_norm: whether to apply batch normalization after hidden layers.

    Returns:
      A function of features and mode that creates the variables in the current variable scope, and
      returns logits of shape ``[batch, units]``. Updates of moving averages are in
      ``tf.compat.v1.GraphKeys.UPDATE_OPS``.

    Raises:
      ValueError: units is not an int.
    """
    columns = tuple(feature_columns or [])
    deep = DeepPart(
        tuple(hidden_units), columns, activation_fn, dropout, batch_norm, input_layer_partitioner
    )
    return deep_logit_fn(units, deep)


def deep_logit_fn(
    units: int, deep: DeepPart, default_partitioner: Any = None
) -> Callable[..., tf.Tensor]:
    """Returns the function of `dnn_logit_fn_builder`.

    Args:
      units: the number of logits.
      deep: the layers.
      default_partitioner: the partitioner of the input layer's variables if ``deep`` has none.

    Raises:
      ValueError: units is not an int.
    """
    _check_units(units)
    divide = deep.partitioner or default_partitioner

    def dnn_logit_fn(features: dict[str, Any], mode: str) -> tf.Tensor:
        training = mode == ModeKeys.TRAIN
        net = _input_v1(features, deep.columns, divide, training)
        for number, width in enumerate(deep.hidden_units):
            with _v1.variable_scope(f"hiddenlayer_{number}") as scope:
                net = _dense_v1(net, width, deep.activation_fn, scope)
                norm = _norm_v1(f"batchnorm_{number}") if deep.batch_norm else None
            if deep.dropout is not None and training:
                net = _v1.layers.Dropout(rate=deep.dropout)(net, training=True)
            if norm is not None:
                net = norm(net, training=training)
            summarize_layer(net, scope.name)
        with _v1.variable_scope("logits") as scope:
            logits = _dense_v1(net, units, None, scope)
        summarize_layer(logits, scope.name)
        return logits

    return dnn_logit_fn


def _input_v1(
    features: dict[str, Any], columns: Sequence[Any], partitioner: Any, training: bool
) -> tf.Tensor:
    with _v1.variable_scope("input_from_feature_columns", partitioner=partitioner):
        if not are_v2(columns):
            return _v1.feature_column.input_layer(features, columns)
        layer = _v1.keras.layers.DenseFeatures(columns, name="input_layer")
        return layer(features, training=training)


def _dense_v1(net: tf.Tensor, units: int, activation: Any, scope: Any) -> tf.Tensor:
    layer = _v1.layers.Dense(
        units,
        activation=activation,
        kernel_initializer=_v1.glorot_uniform_initializer(),
        name=scope,
        _scope=scope,
    )
    return layer(net)


def _norm_v1(name: str) -> Any:
    return _v1.layers.BatchNormalization(momentum=_MOMENTUM, name=name, _scope=name)


def dnn_model(features: dict[str, Any], mode: str, units: int, deep: DeepPart) -> DNN:
    """Builds the network of a ``tf.estimator`` estimator from Keras layers.

    Args:
      features: the features by key.
      mode: one of ModeKeys.
      units: the number of logits.
      deep: the layers; their columns are dense columns of ``tf.feature_column``.

    Raises:
      ValueError: units is not an int.
    """
    import tf_keras

    _check_units(units)
    layers = tf_keras.layers
    training = mode == ModeKeys.TRAIN
    used_layers: list[Any] = []

    def call(layer: Any, net: Any, **kwargs: Any) -> tf.Tensor:
        used_layers.append(layer)
        return layer(net, **kwargs)

    with tf.name_scope("dnn"):
        name = "input_from_feature_columns/input_layer"
        columns_layer = layers.DenseFeatures(feature_columns=list(deep.columns), name=name)
        net = call(columns_layer, features, training=training)
        for number, width in enumerate(deep.hidden_units):
            name = f"hiddenlayer_{number}"
            net = call(_dense_v2(layers, width, deep.activation_fn, name), net)
            if deep.dropout is not None and training:
                net = call(layers.Dropout(rate=deep.dropout), net, training=True)
            if deep.batch_norm:
                norm_name = f"{name}/batchnorm_{number}"
                norm = layers.BatchNormalization(momentum=_MOMENTUM, name=norm_name)
                net = call(norm, net, training=training)
            summarize_layer(net, name)
        logits = call(_dense_v2(layers, units, None, "logits"), net)
        summarize_layer(logits, "logits")
    trainable = [weight for layer in used_layers for weight in layer.trainable_weights]
    return DNN(logits, trainable, [update for layer in used_layers for update in layer.updates])


def _dense_v2(layers: Any, units: int, activation: Any, name: str) -> Any:
    return layers.Dense(
        units,
        activation=activation,
        # Not Keras's, which takes its seed from Python and not from the graph.
        kernel_initializer=_v1.glorot_uniform_initializer(),
        name=name,
    )


def _check_units(units: Any) -> None:
    if not isinstance(units, int):
        raise ValueError(
            f"units must be an int, the number of logits. Given type: {type(units)}: {units!r}."
        )
