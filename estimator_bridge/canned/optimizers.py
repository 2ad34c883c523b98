"""The optimizers of canned estimators: by name, as objects, or from functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.heads import MEAN
from estimator_bridge.model.keras_optimizer import KerasOptimizer

__all__ = [
    "check_not_synchronizing",
    "counting_by_global_step",
    "default_linear_rate",
    "loss_of_replica",
    "optimizer_v1",
    "optimizer_v2",
    "updates_v2",
]

_train = tf.compat.v1.train
_V1 = {
    "Adagrad": _train.AdagradOptimizer,
    "Adam": _train.AdamOptimizer,
    "Ftrl": _train.FtrlOptimizer,
    "RMSProp": _train.RMSPropOptimizer,
    "SGD": _train.GradientDescentOptimizer,
}
# Classes of tf_keras.optimizers.legacy by the estimators' names.
_V2 = {"Adagrad": "Adagrad", "Adam": "Adam", "Ftrl": "Ftrl", "RMSProp": "RMSprop", "SGD": "SGD"}


def default_linear_rate(columns: Sequence[Any], max_rate: float) -> float:
    """The default learning rate of a linear model, which falls with the number of columns."""
    return min(max_rate, 1.0 / math.sqrt(len(columns)))


def optimizer_v1(optimizer: Any, learning_rate: float) -> tf.compat.v1.train.Optimizer:
    """Returns the optimizer for a class of ``tf.compat.v1.estimator``.

    Args:
      optimizer: a name, an optimizer, or a function without arguments that returns one, called in
        the model's graph.
      learning_rate: the rate of an optimizer given by name.

    Raises:
      ValueError: the name is unknown, or it is not a v1 optimizer.
    """
    if isinstance(optimizer, str):
        return _by_name(optimizer, _V1)(learning_rate=learning_rate)
    instance = optimizer() if callable(optimizer) else optimizer
    if not isinstance(instance, _train.Optimizer):
        raise ValueError(
            f"The given object is not an Optimizer instance. Given: {instance!r}. Estimators of "
            "tf.compat.v1.estimator use a tf.compat.v1.train.Optimizer, a function that returns "
            f"one, or one of {sorted(_V1)}; those of tf.estimator use Keras optimizers."
        )
    return instance


def optimizer_v2(optimizer: Any, learning_rate: float | None = None) -> Any:
    """Returns the optimizer for a class of ``tf.estimator``.

    Args:
      optimizer: a name, a tf_keras optimizer, or a function without arguments that returns one,
        called in the model's graph.
      learning_rate: the rate of an optimizer given by name; by default the optimizer's own.

    Raises:
      ValueError: the name is unknown, or it is not a tf_keras optimizer.
    """
    import tf_keras

    if isinstance(optimizer, str):
        kind = getattr(tf_keras.optimizers.legacy, _by_name(optimizer, _V2))
        instance = kind(learning_rate=learning_rate) if learning_rate else kind()
    else:
        instance = optimizer() if callable(optimizer) else optimizer
    if not isinstance(
        instance, (tf_keras.optimizers.legacy.Optimizer, tf_keras.optimizers.Optimizer)
    ):
        raise ValueError(
            "The given object is not a tf.keras.optimizers.Optimizer instance. Given: "
            f"{instance!r}. Estimators of tf.estimator use an optimizer of tf_keras.optimizers, "
            f"legacy or new, a function that returns one, or one of {sorted(_V2)}; those of "
            "tf.compat.v1.estimator use v1 optimizers."
        )
    return instance


def counting_by_global_step(optimizer: Any) -> Any:
    """Makes a legacy optimizer count steps by the global step, and returns it."""
    import tf_keras

    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
        optimizer.iterations = _train.get_or_create_global_step()
    return optimizer


def loss_of_replica(loss: tf.Tensor, reduction: str) -> tf.Tensor:
    """Returns a replica's part of a mean loss: gradients are summed over replicas."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    if replicas > 1 and reduction == MEAN:
        return loss * (1.0 / replicas)
    return loss


def updates_v2(
    optimizer: Any, loss: tf.Tensor, variables: Sequence[Any], counts: bool
) -> list[Any]:
    """Returns the operations that minimize a loss by a tf_keras optimizer.

    Args:
      optimizer: a legacy or new optimizer.
      loss: a scalar.
      variables: the variables to train.
      counts: whether the optimizer's count of steps is the global step; else it has its own.
    """
    import tf_keras

    step = _train.get_or_create_global_step() if counts else None
    if isinstance(optimizer, tf_keras.optimizers.legacy.Optimizer):
        if counts:
            counting_by_global_step(optimizer)
        return optimizer.get_updates(loss, list(variables))
    return [KerasOptimizer(optimizer).minimize(loss, step, list(variables))]


def check_not_synchronizing(optimizer: Any) -> None:
    """Checks an optimizer that is used with another one.

    Raises:
      ValueError: it is a ``SyncReplicasOptimizer``, which counts its own steps.
    """
    if isinstance(optimizer, _train.SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case, so it cannot be in a "
            "DNNLinearCombined model. Use RunConfig(train_distribute=...), or a DNN or Linear "
            "model."
        )


def _by_name(name: str, optimizers: Mapping[str, Any]) -> Any:
    if name not in optimizers:
        raise ValueError(
            f"Unsupported optimizer name: {name}. Supported names are: {tuple(sorted(optimizers))}"
        )
    return optimizers[name]
