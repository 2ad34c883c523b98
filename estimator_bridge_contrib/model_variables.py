"""Variables of layers, which are also added to the collection MODEL_VARIABLES."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope

__all__ = ["model_variable", "variable"]

v1 = tf.compat.v1


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: tf.VariableSynchronization = tf.VariableSynchronization.AUTO,
    aggregation: tf.VariableAggregation = tf.VariableAggregation.NONE,
) -> tf.Variable:
    """Gets or makes a variable of the current variable scope: ``tf.contrib.framework.variable``.

    Args:
      name: its name within the scope.
      shape: its shape; None if the initializer is a value.
      dtype: its type; float32 by default.
      initializer: a value or an initializer; the scope's by default.
      regularizer: a function of the variable whose result is added to REGULARIZATION_LOSSES.
      trainable: whether to add it to TRAINABLE_VARIABLES.
      collections: its other collections; GLOBAL_VARIABLES by default.
      caching_device: the device on which reads are cached.
      device: the variable's device; a string or a function of an operation.
      partitioner: divides it into parts; the scope's by default.
      custom_getter: called instead of ``tf.compat.v1.get_variable``, with the same arguments.
      use_resource: as for ``tf.compat.v1.get_variable``.
      synchronization: when replicas' copies are aggregated.
      aggregation: how they are aggregated.

    Returns:
      The variable.
    """
    joined = [v1.GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    getter = v1.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=v1.get_variable_scope().reuse)
    with v1.device(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(joined)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Iterable[str] | None = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: tf.VariableSynchronization = tf.VariableSynchronization.AUTO,
    aggregation: tf.VariableAggregation = tf.VariableAggregation.NONE,
) -> tf.Variable:
    """Gets or makes a variable of a model: ``tf.contrib.framework.model_variable``.

    The arguments are those of ``variable``. It is added to ``collections``, GLOBAL_VARIABLES and
    MODEL_VARIABLES.

    Returns:
      The variable.
    """
    keys = v1.GraphKeys
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=[*(collections or []), keys.GLOBAL_VARIABLES, keys.MODEL_VARIABLES],
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )
