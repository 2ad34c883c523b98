"""The variables' values in an export: a checkpoint's, or the initial ones."""

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
    explained_read_errors,
)
from estimator_bridge.errors import CheckpointError

__all__ = ["saver_of", "set_values"]

v1 = tf.compat.v1
# Raised unchanged: a mismatch with the model, and files that cannot be read.
_RAISED_AS_THEY_ARE = (
    tf.errors.InvalidArgumentError,
    DamagedCheckpointError,
    MissingCheckpointError,
    UnreadableCheckpointError,
)


def saver_of(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Saver:
    """Returns the saver that is exported, with which a loader restores the variables.

    Args:
      scaffold: the model's scaffold. Its saver, if any, may rename variables, as for exponential
        moving averages. An object-based ``tf.train.Checkpoint`` cannot be exported in this kind of
        SavedModel, so a saver by name replaces it.
    """
    if _is_default(scaffold):
        return v1.train.Saver(sharded=True, allow_empty=True)
    if isinstance(scaffold.saver, v1.train.Saver):
        scaffold.saver.build()  # a no-op unless the saver was made with defer_build
    return scaffold.saver


def set_values(
    session: tf.compat.v1.Session,
    scaffold: tf.compat.v1.train.Scaffold,
    saver: tf.compat.v1.train.Saver,
    checkpoint_path: str | None,
    mode: str,
) -> None:
    """Sets the values of the default graph's variables.

    Args:
      session: a session of the default graph.
      scaffold: the model's scaffold.
      saver: the result of `saver_of`.
      checkpoint_path: the checkpoint to restore; None runs the model's initialization.
      mode: one of ModeKeys, for the error.

    Raises:
      CheckpointError: the checkpoint is damaged, or lacks variables of the model.
      CheckpointMismatchError: a variable has another shape or type in the checkpoint.
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
        _initialize(session, scaffold)  # variables that the Checkpoint lacks are exported too
        with explained_read_errors(checkpoint_path):
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
    with explained_read_errors(checkpoint_path):
        try:
            saver.restore(session, checkpoint_path)
        except tf.errors.NotFoundError as error:  # from a saver of the model, not checked above
            missing = re.search(r"Key (\S+) not found in checkpoint", str(error))
            if missing is None:
                raise
            raise MissingVariableError(
                f"{missing[0]} {checkpoint_path}, which the saver of the model's scaffold requires."
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
