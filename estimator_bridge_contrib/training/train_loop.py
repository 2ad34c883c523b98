"""Makes a train operation whose value is the loss, and runs it in a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.training.gradients import add_gradients_summaries

__all__ = ["create_train_op", "train"]

_v1 = tf.compat.v1
_USE_GLOBAL_STEP = 0  # the original's default, which programs pass explicitly


def create_train_op(
    total_loss: tf.Tensor,
    optimizer: Any,
    global_step: Any = _USE_GLOBAL_STEP,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Iterable[Any] | None = None,
    transform_grads_fn: Callable[[list], list] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = _v1.train.Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> tf.Tensor:
    """Makes a tensor whose evaluation runs a training step and returns the loss.

    Args:
      total_loss: a scalar.
      optimizer: a v1 optimizer.
      global_step: the variable to increment, or None; by default the graph's global step.
      update_ops: operations to run before the loss, such as batch norm's averages; by default the
        collection UPDATE_OPS.
      variables_to_train: the variables; by default all trainable ones.
      transform_grads_fn: a function of (gradient, variable) pairs that returns those to apply.
      summarize_gradients: whether to add summaries of the gradients.
      gate_gradients: as for ``compute_gradients``.
      aggregation_method: as for ``compute_gradients``.
      colocate_gradients_with_ops: as for ``compute_gradients``.
      check_numerics: whether a loss that is not finite is an error.

    Returns:
      The loss, which depends on the update; it is added to the collection TRAIN_OP.

    Raises:
      ValueError: there is no variable to train, or a given one is not trainable.
    """
    if isinstance(global_step, int):
        global_step = _v1.train.get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    pairs = optimizer.compute_gradients(
        total_loss,
        _check_trainable(variables_to_train),
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with tf.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    update = optimizer.apply_gradients(pairs, global_step=global_step)
    with tf.name_scope("train_op"):
        if check_numerics:
            total_loss = tf.debugging.check_numerics(total_loss, "LossTensor is inf or nan")
        with tf.control_dependencies([update]):
            train_op = tf.identity(total_loss, "control_dependency")
    _v1.add_to_collection(_v1.GraphKeys.TRAIN_OP, train_op)
    return train_op


def _after_updates(total_loss: tf.Tensor, update_ops: Iterable[Any] | None) -> tf.Tensor:
    graph_updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS)
    updates = graph_updates if update_ops is None else list(update_ops)
    forgotten = [op.name for op in graph_updates if not any(op is update for update in updates)]
    if forgotten:
        logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS: %s will not be run.",
            forgotten,
        )
    if not updates:
        return total_loss
    with tf.control_dependencies(updates):
        barrier = tf.no_op(name="update_barrier")
    with tf.control_dependencies([barrier]):
        return tf.identity(total_loss, "control_dependency")


def _check_trainable(variables: Iterable[Any] | None) -> list[Any]:
    trainable = _v1.trainable_variables()
    chosen = trainable if variables is None else list(variables)
    fixed = [v.op.name for v in chosen if not v.trainable and not any(v is t for t in trainable)]
    if fixed:
        raise ValueError(f"variables_to_train are not trainable: {fixed}.")
    if not chosen:
        raise ValueError(
            "There are no variables to train: the graph has no trainable variables, or "
            "variables_to_train is empty."
        )
    return chosen


def train(
    train_op: tf.Tensor,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Iterable[Any] | None = None,
    chief_only_hooks: Iterable[Any] | None = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs a train operation in a MonitoredTrainingSession until a hook or the input ends it.

    Args:
      train_op: the result of ``create_train_op``.
      logdir: the folder of checkpoints and events.
      master: the session's master.
      is_chief: whether this process saves.
      scaffold: the initialization, restoration and saving of variables.
      hooks: SessionRunHooks; StopAtStepHook ends the training.
      chief_only_hooks: hooks for the chief only.
      save_checkpoint_secs: seconds between checkpoints, or None.
      save_summaries_steps: steps between summaries, or None.
      config: the session's ConfigProto.
      max_wait_secs: how long a worker waits for the chief.
      run_metadata: receives the metadata of each step's run.

    Returns:
      The last step's loss.

    Raises:
      ValueError: ``logdir`` is None, and something is to be saved.
    """
    if logdir is None and is_chief:
        for name, setting in (
            ("save_summaries_steps", save_summaries_steps),
            ("save_checkpoint_secs", save_checkpoint_secs),
        ):
            if setting:
                raise ValueError(
                    f"logdir cannot be None when {name} is not None, but {setting}. Name a folder, "
                    f"or pass {name}=None."
                )
    with _v1.train.MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        save_checkpoint_secs=save_checkpoint_secs,
        save_summaries_steps=save_summaries_steps,
        config=config,
        max_wait_secs=max_wait_secs,
    ) as session:
        loss = None
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
