"""Moving averages for batch normalization."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.layers.utils import constant_value

__all__ = ["assign_moving_average", "moving_variable"]

v1 = tf.compat.v1


def moving_variable(
    name: str, shape: Any, dtype: Any, initializer: Any, collections: tuple[Any, str]
) -> Any:
    """Gets or makes the unpartitioned variable of a moving average.

    Each replica keeps its own value. A checkpoint contains their mean if a strategy trains, and
    the first replica's value on a TPU.

    Args:
      name: its name.
      shape: its shape.
      dtype: its type.
      initializer: what makes its first value.
      collections: as in ``parameters.weight``.
    """
    from estimator_bridge.contrib.layers.layer_variables import weight

    with v1.variable_scope(v1.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        return weight(
            name,
            shape,
            dtype,
            initializer,
            trainable=False,
            collections=collections,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN,
        )


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
    rate = tf.cast(1.0 - decay, variable.dtype.base_dtype)
    value = tf.cast(value, variable.dtype.base_dtype)
    if zero_debias:
        return _assign_debiased(variable, value, rate, is_training)
    with v1.name_scope("AssignMovingAvg"):
        step = (tf.convert_to_tensor(variable) - value) * rate
        return v1.assign_sub(variable, _if(is_training, step, tf.zeros_like(step)))


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
        new_biased = v1.assign_sub(biased, _if(is_training, change, tf.zeros_like(change)))
        one = tf.ones([], value.dtype)
        new_steps = v1.assign_add(steps, _if(is_training, one, tf.zeros_like(one)))
        debiased = tf.convert_to_tensor(new_biased) / (1.0 - tf.pow(1.0 - rate, new_steps))
        kept = tf.convert_to_tensor(variable)
        return v1.assign(variable, _if(is_training, debiased, kept))


_REPLICA_LOCAL = {
    "synchronization": tf.VariableSynchronization.ON_READ,
    "aggregation": tf.VariableAggregation.MEAN,
}


def _if(condition: Any, yes: Any, no: Any) -> Any:
    known = constant_value(condition)
    return tf.where(condition, yes, no) if known is None else yes if known else no
