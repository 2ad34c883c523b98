"""Moving averages for batch normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.utils import constant_value

__all__ = ["assign_moving_average", "moving_variables"]

v1 = tf.compat.v1


def moving_variables(names: Sequence[str], make: Callable[..., Any]) -> tuple[Any, ...]:
    """Gets or makes the unpartitioned variables of moving averages.

    Each replica keeps its own values. A checkpoint contains their mean if a strategy trains, and
    the first replica's value on a TPU.

    Args:
      names: the variables' names.
      make: a function that gets or makes one, of a name and more arguments of
        ``tf.compat.v1.get_variable``.
    """
    # Entering the scope takes a name: operations of that name get a number, as in TensorFlow 1.
    with v1.variable_scope(v1.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        return tuple(make(name, trainable=False, **_REPLICA_LOCAL) for name in names)


def assign_moving_average(
    variable: Any, value: Any, decay: Any, is_training: Any = True, zero_debias: bool = False
) -> tf.Operation:
    """Moves an average towards a value: ``variable -= (variable - value) * (1 - decay)``.

    Args:
      variable: the average.
      value: the value.
      decay: the weight of the old average.
      is_training: whether to update the average; a bool or a tensor.
      zero_debias: whether to divide by the sum of the values' weights so far, because the average
        starts at zero. The state is kept in two more variables, ``biased`` and ``local_step``, in
        a scope of the average's name.

    Returns:
      The new value of the average; computing it assigns it.
    """
    dtype = variable.dtype.base_dtype
    with v1.name_scope("AssignMovingAvg"):
        rate = tf.cast(tf.convert_to_tensor(1.0 - decay, name="decay"), dtype)
        value = tf.cast(value, dtype)
        if not zero_debias:
            step = (tf.convert_to_tensor(variable) - value) * rate
            return v1.assign_sub(variable, _or_zeros(is_training, step))
    return _assign_debiased(variable, value, rate, is_training)


def _assign_debiased(variable: Any, value: Any, rate: Any, is_training: Any) -> Any:
    name = variable.name.partition(":")[0]
    with v1.variable_scope(name, values=[variable, value]):
        zeros = v1.zeros_initializer()
        biased = v1.get_variable(
            "biased", variable.shape, value.dtype, zeros, trainable=False, **_REPLICA_LOCAL
        )
        steps = v1.get_variable(
            "local_step", [], value.dtype, zeros, trainable=False, **_REPLICA_LOCAL
        )
        change = (tf.convert_to_tensor(biased) - value) * rate
        new_biased = v1.assign_sub(biased, _or_zeros(is_training, change))
        new_steps = v1.assign_add(steps, _or_zeros(is_training, tf.ones([], value.dtype)))
        debiased = tf.convert_to_tensor(new_biased) / (1.0 - tf.pow(1.0 - rate, new_steps))
        current = tf.convert_to_tensor(variable)
        return v1.assign(variable, _if(is_training, debiased, current))


_REPLICA_LOCAL = {
    "synchronization": tf.VariableSynchronization.ON_READ,
    "aggregation": tf.VariableAggregation.MEAN,
}


def _or_zeros(is_training: Any, change: tf.Tensor) -> tf.Tensor:
    if constant_value(is_training) is not None:  # it is true, or there would be no update
        return change
    return tf.where(is_training, change, tf.zeros_like(change))


def _if(condition: Any, yes: Any, no: Any) -> Any:
    value = constant_value(condition)
    return tf.where(condition, yes, no) if value is None else yes if value else no
