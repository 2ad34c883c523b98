"""A layer's scope and variables, and the operations applied to its outputs.

The layers name their weights 'weights' and 'biases', as TF1's contrib.layers did, because
checkpoints are read by name. There, each layer wrapped one of tf.layers, whose names are 'kernel'
and 'bias', and renamed its variables in the scope's getter. These layers do the same, so the
'kernel' of a normalizer that is called within the scope is renamed 'weights' too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.utils import (
    collect_named_outputs,
    get_variable_collections,
)
from estimator_bridge_contrib.model_variables import model_variable

__all__ = [
    "RENAMED",
    "add_bias",
    "apply_after",
    "get_regularized",
    "layer_scope",
    "model_variable_getter",
    "weight",
]

v1 = tf.compat.v1
RENAMED = {"kernel": "weights", "bias": "biases"}


def model_variable_getter(rename: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """Makes a custom getter that adds variables to MODEL_VARIABLES.

    Args:
      rename: new names of variables, by the last part of the old ones.
    """

    def get(getter: Callable[..., Any], name: str, **kwargs: Any) -> Any:
        scope, slash, short = name.rpartition("/")
        name = scope + slash + (rename or {}).get(short, short)
        passed = {each: kwargs[each] for each in _PASSED if each in kwargs}
        return model_variable(name, custom_getter=getter, **passed)

    return get


_PASSED = (
    "shape", "dtype", "initializer", "regularizer", "trainable", "collections", "caching_device",
    "partitioner", "use_resource", "synchronization", "aggregation",
)  # fmt: skip


@contextlib.contextmanager
def layer_scope(
    scope: Any,
    default_name: str,
    inputs: Any,
    reuse: bool | None = None,
    rename: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """Returns a layer's variable scope, in which all variables are model variables.

    Args:
      scope: its name, or a scope to enter again; None for a new name.
      default_name: the prefix of a new name.
      inputs: the layer's inputs.
      reuse: as in ``tf.compat.v1.variable_scope``.
      rename: as in ``model_variable_getter``.
    """
    getter = model_variable_getter(rename)
    with v1.variable_scope(scope, default_name, [inputs], reuse=reuse, custom_getter=getter) as sc:
        yield sc


def weight(
    name: str,
    shape: Any,
    dtype: Any,
    initializer: Any,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    collections: tuple[Any, str] = (None, ""),
    **kwargs: Any,
) -> Any:
    """Gets or makes a variable in a layer's scope.

    Args:
      name: its name before renaming.
      shape: its shape.
      dtype: its type.
      initializer: initializer of the value; None for the scope's.
      regularizer: called once, when the variable is made; its result is added to
        REGULARIZATION_LOSSES.
      trainable: whether an optimizer may change it.
      collections: the layer's ``variables_collections``, and the variable's name in it.
      **kwargs: more arguments of ``tf.compat.v1.get_variable``.
    """
    variable, parts = get_regularized(
        name,
        regularizer,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        trainable=trainable,
        **kwargs,
    )
    for collection in get_variable_collections(*collections) or []:
        members = {id(each) for each in v1.get_collection(collection)}
        for part in parts:
            if id(part) not in members:
                v1.add_to_collection(collection, part)
    return variable


def get_regularized(
    name: str, regularizer: Callable[[Any], Any] | None, **kwargs: Any
) -> tuple[Any, list[Any]]:
    """Gets or makes a variable; if it is new, adds its regularization loss to the collection.

    TensorFlow's own ``get_variable(regularizer=...)`` adds an object that computes the loss later.

    Args:
      name: the variable's name.
      regularizer: a function of the variable, or None.
      **kwargs: arguments of ``tf.compat.v1.get_variable``.

    Returns:
      The variable, and its parts, of which a partitioner makes several.
    """
    existing = {id(each) for each in v1.global_variables()} if regularizer is not None else set()
    variable = v1.get_variable(name, **kwargs)
    # A partitioner makes several variables, wrapped in one object without a public name.
    parts = [variable] if isinstance(variable, (tf.Variable, tf.Tensor)) else list(variable)
    if regularizer is not None:
        for part in parts:
            if id(part) not in existing:
                _regularize(name, part, regularizer)
    return variable, parts


def _regularize(name: str, variable: Any, regularizer: Callable[[Any], Any]) -> None:
    with v1.name_scope(f"{name}/Regularizer"):
        loss = regularizer(variable)
    if loss is not None:
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, loss)


def add_bias(
    outputs: Any,
    initializer: Any,
    regularizer: Callable[[Any], Any] | None,
    trainable: bool,
    variables_collections: Any,
    channels_first: bool = False,
    name: str = "bias",
) -> Any:
    """Adds a bias to each channel.

    Args:
      outputs: the layer's outputs.
      initializer: initializer of the bias.
      regularizer: as for ``weight``.
      trainable: as for ``weight``.
      variables_collections: the layer's.
      channels_first: whether the channels are the second dimension instead of the last.
      name: the variable's name before renaming; it is part of the regularization loss's name.
    """
    size = outputs.shape.as_list()[1 if channels_first else -1]
    bias = weight(
        name,
        [size],
        outputs.dtype.base_dtype,
        initializer,
        regularizer,
        trainable,
        (variables_collections, "biases"),
    )
    if outputs.shape.rank == 4 or not channels_first:
        return tf.nn.bias_add(outputs, bias, data_format="NCHW" if channels_first else None)
    ones = [1] * (outputs.shape.rank - 2)
    return tf.add(outputs, tf.reshape(bias, [1, size, *ones]), name="BiasAdd")


def apply_after(
    outputs: Any,
    scope: Any,
    activation_fn: Callable[[Any], Any] | None,
    outputs_collections: Any,
) -> Any:
    """Activates and collects a layer's outputs.

    Args:
      outputs: a tensor.
      scope: the layer's variable scope, whose name is the alias in the collections.
      activation_fn: a function of the outputs, or None.
      outputs_collections: as in ``collect_named_outputs``.
    """
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope.name, outputs)
