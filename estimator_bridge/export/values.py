"""The values that an exported graph's variables get: a checkpoint's, or the initial ones."""

from __future__ import annotations

import re

import tensorflow as tf

from estimator_bridge.checkpoint import (
    DamagedCheckpointError,
    MissingCheckpointError,
    MissingVariableError,
    UnreadableCheckpointError,
    check_checkpoint,
    describe_variables,
    reading,
)
from estimator_bridge.errors import CheckpointError

__all__ = ["saver_of", "set_values"]

v1 = tf.compat.v1
# Errors that are raised unchanged: of another model, and of files that cannot be read.
_RAISED_AS_THEY_ARE = (
    tf.errors.InvalidArgumentError,
    DamagedCheckpointError,
    MissingCheckpointError,
    UnreadableCheckpointError,
)


def saver_of(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Saver:
    """The saver that goes into the graph, and by which whoever loads it restores the variables.

    Args:
      scaffold: the model's; its saver, if it has one, may rename variables, as that of
        exponential moving averages does. An object-based ``tf.train.Checkpoint`` has no place in
        a SavedModel of this kind, so by name stands in for it.
    """
    if _is_default(scaffold):
        return v1.train.Saver(sharded=True, allow_empty=True)
    if isinstance(scaffold.saver, v1.train.Saver):
        scaffold.saver.build()  # nothing happens unless it was made with defer_build
    return scaffold.saver


def set_values(
    session: tf.compat.v1.Session,
    scaffold: tf.compat.v1.train.Scaffold,
    saver: tf.compat.v1.train.Saver,
    checkpoint_path: str | None,
    mode: str,
) -> None:
    """Gives the variables of the default graph their values.

    Args:
      session: over the default graph.
      scaffold: the model's.
      saver: as `saver_of` gave it.
      checkpoint_path: what to restore; None runs the model's own initialisation.
      mode: one of ModeKeys, for the error.

    Raises:
      CheckpointError: the checkpoint is damaged, or lacks variables of the model.
      CheckpointMismatchError: it has a variable of another shape or type.
    """
    if checkpoint_path is None:
        _initialize(session, scaffold)
        return
    try:
        _restore(session, scaffold, saver, checkpoint_path)
    except CheckpointError as error:
        if isinstance(error, _RAISED_AS_THEY_ARE):
            raise
        kind = MissingVariableError if isinstance(error, MissingVariableError) else CheckpointError
        raise kind(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint. "
            f"Encountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`: {error}"
        ) from error


def _restore(session, scaffold, saver, checkpoint_path: str) -> None:
    if isinstance(scaffold.saver, tf.train.Checkpoint):
        _initialize(session, scaffold)  # what the Checkpoint does not hold is written too
        with reading(checkpoint_path):
            scaffold.saver.restore(checkpoint_path).run_restore_ops(session)
        return
    if _is_default(scaffold):
        saveables = v1.get_collection(v1.GraphKeys.SAVEABLE_OBJECTS)
        check_checkpoint(
            checkpoint_path,
            describe_variables(
                v for v in (*v1.global_variables(), *saveables) if isinstance(v, tf.Variable)
            ),
        )
        if not v1.global_variables() and not saveables:
            return  # a saver of nothing refuses to restore
    with reading(checkpoint_path):
        try:
            saver.restore(session, checkpoint_path)
        except tf.errors.NotFoundError as error:  # of a saver of the model's own, not checked above
            missing = re.search(r"Key (\S+) not found in checkpoint", str(error))
            if missing is None:
                raise
            raise MissingVariableError(
                f"{missing[0]} {checkpoint_path}, which the saver of the model's scaffold wants."
            ) from error


def _initialize(session, scaffold) -> None:
    init_op = scaffold.init_op
    if init_op is None:
        init_op = v1.global_variables_initializer()
    session.run(init_op, feed_dict=scaffold.init_feed_dict)
    if scaffold.init_fn:
        scaffold.init_fn(session)


def _is_default(scaffold) -> bool:
    return scaffold.saver is None or isinstance(scaffold.saver, tf.train.Checkpoint)
