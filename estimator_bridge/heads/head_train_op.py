"""The training op and summaries of a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.heads.losses import is_sum
from estimator_bridge.model.cross_shard import (
    CrossShardOptimizer,
    number_of_parts,
    number_of_shards,
)
from estimator_bridge.model.keras_optimizer import as_graph_optimizer
from estimator_bridge.tensorflow_private.keras import counts_steps_itself
from estimator_bridge.tensorflow_private.optimizers import shard_reduction

__all__ = ["keras_train_op", "v1_train_op", "write_summaries"]

_MEAN = ("auto", "sum_over_batch_size")


def keras_train_op(
    loss: tf.Tensor,
    loss_reduction: str,
    optimizer: Any,
    trainable_variables: Sequence[tf.Variable] | None,
    train_op_fn: Callable[[tf.Tensor], Any] | None,
    update_ops: Sequence[Any] | None,
) -> Any:
    """Makes the training op of a V2 head, in the scope "training".

    Args:
      loss: a scalar.
      loss_reduction: the reduction of the loss. A mean over a replica's batch is divided by the
        number of replicas, since their gradients are summed.
      optimizer: a tf_keras optimizer, or None.
      trainable_variables: the variables that the optimizer updates.
      train_op_fn: called with the loss instead of an optimizer.
      update_ops: operations to run with the training op.

    Returns:
      The operation.

    Raises:
      ValueError: not exactly one of optimizer and train_op_fn is given, the optimizer has another
        type or no list of variables, or update_ops is not a list.
    """
    if update_ops is not None:
        _check_list("update_ops", update_ops)
    with _root_scope(), tf.name_scope("training"):
        if optimizer is None:
            train_op = _only_fn(train_op_fn)(loss)
        else:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set. Pass one of them.")
            replicas = tf.distribute.get_strategy().num_replicas_in_sync
            if loss_reduction in _MEAN and replicas > 1:
                loss = loss * (1.0 / replicas)
            train_op = _minimize(loss, loss_reduction, optimizer, trainable_variables)
        return tf.group(train_op, *update_ops) if update_ops else train_op


def _minimize(loss: tf.Tensor, reduction: str, optimizer: Any, variables: Any) -> Any:
    import tf_keras

    kinds = (tf_keras.optimizers.legacy.Optimizer, tf_keras.optimizers.Optimizer)
    if not isinstance(optimizer, kinds):
        advice = ""
        if isinstance(optimizer, tf.compat.v1.train.Optimizer):
            advice = (
                " For a tf.compat.v1.train optimizer, pass train_op_fn=lambda loss: "
                "optimizer.minimize(loss, global_step=tf.compat.v1.train.get_global_step()) "
                "instead."
            )
        raise ValueError(
            "The given optimizer is not a tf.keras.optimizers.Optimizer instance of tf_keras. "
            f"Received optimizer of type {type(optimizer)}.{advice}"
        )
    if variables is None:
        raise ValueError(
            "trainable_variables cannot be None if an optimizer is given: they are the variables "
            "that it updates. Pass tf.compat.v1.trainable_variables(), or a Keras model's "
            "trainable_variables."
        )
    _check_list("trainable_variables", variables)
    step = tf.compat.v1.train.get_global_step()
    is_legacy = hasattr(optimizer, "get_updates")
    # Legacy optimizers, including users' own, have this attribute.
    if is_legacy and counts_steps_itself(optimizer):
        logging.warning(
            "%s counts its steps in its own variable, so the global step does not advance, and "
            "steps= and max_steps= have no effect. Before create_estimator_spec, set "
            "optimizer.iterations = tf.compat.v1.train.get_global_step().",
            type(optimizer).__name__,
        )
    if _is_on_cores():
        joining = _joining(optimizer, reduction)
        return joining.minimize(loss, None if is_legacy else step, list(variables))
    if is_legacy:
        return optimizer.get_updates(loss, list(variables))[0]
    gradients = tf.gradients(loss, list(variables))
    return as_graph_optimizer(optimizer).apply_gradients(
        list(zip(gradients, variables)), global_step=step
    )


def v1_train_op(
    loss: tf.Tensor,
    optimizer: Any,
    train_op_fn: Callable[[tf.Tensor], Any] | None,
    loss_reduction: str | None = None,
) -> Any:
    """Makes the training op of a V1 head, including the operations in the collection UPDATE_OPS.

    Args:
      loss: a scalar.
      optimizer: a ``tf.compat.v1.train`` optimizer, a CrossShardOptimizer, a tf_keras optimizer,
        or None.
      train_op_fn: called with the loss instead of an optimizer.
      loss_reduction: the reduction of the loss; None if unknown.

    Returns:
      The operation, which increments the global step if an optimizer was given.

    Raises:
      ValueError: not exactly one of optimizer and train_op_fn is given.
    """
    if optimizer is None:
        train_op = _only_fn(train_op_fn)(loss)
    elif train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set. Pass one of them.")
    else:
        step = tf.compat.v1.train.get_global_step()
        v1_optimizer = _v1_optimizer(optimizer)
        v1_optimizer = _joining(v1_optimizer, loss_reduction) if _is_on_cores() else v1_optimizer
        train_op = v1_optimizer.minimize(loss, global_step=step)
    update_ops = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    return tf.group(train_op, *update_ops) if update_ops else train_op


def write_summaries(values: dict[str, tf.Tensor | None]) -> None:
    """Writes scalars tagged by their names, whatever scope is open; None is left out."""
    with _root_scope():
        for tag, value in values.items():
            if value is not None:
                tf.compat.v1.summary.scalar(tag, value)


def _v1_optimizer(optimizer: Any) -> Any:
    # Anything else with a v1 optimizer's minimize is accepted.
    has_its_minimize = not hasattr(optimizer, "iterations") and hasattr(optimizer, "minimize")
    return optimizer if has_its_minimize else as_graph_optimizer(optimizer)


def _is_on_cores() -> bool:
    """Returns whether gradients are summed here; under a strategy, optimizers do it themselves."""
    return number_of_shards() is not None and not tf.distribute.has_strategy()


def _joining(optimizer: Any, reduction: str | None) -> Any:
    """Wraps the optimizer so that gradients are summed over a TPU's cores."""
    adds_up = is_sum(reduction) and number_of_parts() > 1
    kinds = tf.compat.v1.losses.Reduction
    reduction_kind = kinds.SUM if adds_up else kinds.MEAN
    if not isinstance(optimizer, (CrossShardOptimizer, tf.compat.v1.tpu.CrossShardOptimizer)):
        own_minimize = hasattr(optimizer, "minimize") and not hasattr(optimizer, "iterations")
        if own_minimize and not isinstance(optimizer, tf.compat.v1.train.Optimizer):
            return optimizer  # a user's class, which may sum them itself
        return CrossShardOptimizer(optimizer, reduction=reduction_kind)
    own_reduction = shard_reduction(optimizer)
    if own_reduction != reduction_kind and number_of_parts() > 1:
        logging.warning(
            "The head's loss is a %s over a core's part of the batch, but CrossShardOptimizer has "
            "reduction=%r: gradients are %s those of the global batch on one core. Pass "
            "reduction=%r, or the optimizer alone, which the head wraps.",
            "sum" if adds_up else "mean",
            own_reduction,
            f"1/{number_of_parts()} of" if adds_up else f"{number_of_parts()} times",
            reduction_kind,
        )
    return optimizer


def _only_fn(train_op_fn: Callable[[tf.Tensor], Any] | None) -> Callable[[tf.Tensor], Any]:
    if train_op_fn is None:
        raise ValueError(
            "train_op_fn and optimizer cannot both be None in mode TRAIN. Pass optimizer=, or "
            "train_op_fn=lambda loss: ..., which returns the training op."
        )
    return train_op_fn


def _root_scope() -> Any:
    return tf.compat.v1.name_scope("")


def _check_list(name: str, value: Any) -> None:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{name} should be a list or a tuple. Given type: {type(value)}.")
