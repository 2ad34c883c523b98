"""A session's first state: restored from a checkpoint, or initialized."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import (
    DamagedCheckpointError,
    MissingCheckpointError,
    check_checkpoint,
    checkpoints_in,
    explained_read_errors,
    restored_variables,
)
from estimator_bridge.graph import LiftedSession, graph_classes
from estimator_bridge.own_files import identity_of
from estimator_bridge.tensorflow_private.timers import steady_time
from estimator_bridge.training.readiness import finalize_scaffold, not_ready

__all__ = [
    "first_restorable",
    "initialize_session",
    "open_session",
    "prepare_saver",
    "recover_last_checkpoints",
    "with_default_local_init",
]

_v1 = tf.compat.v1


def prepare_saver(
    scaffold: tf.compat.v1.train.Scaffold, keep_max: int | None, keep_hours: float
) -> None:
    """Adds a saver to the default graph, unless the model has one."""
    if scaffold.saver is None and not _v1.get_collection(_v1.GraphKeys.SAVERS):
        saver = _v1.train.Saver(
            sharded=True,
            max_to_keep=None if keep_max is None else int(keep_max),  # protobuf takes no bool
            keep_checkpoint_every_n_hours=keep_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        _v1.add_to_collection(_v1.GraphKeys.SAVERS, saver)


def with_default_local_init(scaffold: tf.compat.v1.train.Scaffold) -> tf.compat.v1.train.Scaffold:
    """Returns an evaluation's scaffold, which also initializes the metrics' local variables."""
    if scaffold.local_init_op is None:
        return scaffold
    default = _v1.train.Scaffold.default_local_init_op()
    return _v1.train.Scaffold(
        local_init_op=tf.group(scaffold.local_init_op, default), copy_from_scaffold=scaffold
    )


def open_session(
    session: LiftedSession,
    scaffold: tf.compat.v1.train.Scaffold,
    hooks: Sequence[Any],
    checkpoint_path: str | None,
    continues_training: bool = False,
    fallback_checkpoint: Callable[[str], str | None] | None = None,
) -> str | None:
    """Starts a session as MonitoredSession did: begins hooks, finalizes the graph, sets values.

    Args:
      session: the session of the traced graph, which is the default graph.
      scaffold: the scaffold of the model.
      hooks: in their order.
      checkpoint_path: see ``initialize_session``.
      continues_training: see ``initialize_session``.
      fallback_checkpoint: see ``initialize_session``.

    Returns:
      The restored checkpoint; None if there was none.
    """
    is_finished = session.graph.finalized  # by an earlier use of the program
    with contextlib.nullcontext() if is_finished else graph_classes(session.graph):
        for hook in hooks:
            hook.begin()
        if not is_finished:
            finalize_scaffold(scaffold)
    path = initialize_session(
        session, scaffold, checkpoint_path, continues_training, fallback_checkpoint
    )
    for hook in hooks:
        hook.after_create_session(session, session.queues.coordinator)
    return path


def initialize_session(
    session: LiftedSession,
    scaffold: tf.compat.v1.train.Scaffold,
    checkpoint_path: str | None,
    continues_training: bool = False,
    fallback_checkpoint: Callable[[str], str | None] | None = None,
) -> str | None:
    """Sets the first state of all variables and tables, as SessionManager did.

    Args:
      session: the session of the traced graph, which is the default graph.
      scaffold: finalized.
      checkpoint_path: the checkpoint to restore; None runs the model's initialization.
      continues_training: whether the saver writes to the checkpoint's folder, and so has to know
        the older checkpoints there that it will delete.
      fallback_checkpoint: given a damaged or deleted checkpoint, returns the one to restore
        instead; None if there is no other.

    Returns:
      The restored checkpoint; None if there was none.

    Raises:
      CheckpointError: the checkpoint is damaged, or belongs to another model.
      RuntimeError: variables are left without a value.
    """
    if checkpoint_path:
        checkpoint_path = first_restorable(
            checkpoint_path,
            lambda path: _restore(session, scaffold.saver, path),
            fallback_checkpoint,
        )
        if continues_training:
            recover_last_checkpoints(scaffold.saver, checkpoint_path)
    else:
        if scaffold.init_op is not None:
            session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
        if scaffold.init_fn:
            scaffold.init_fn(session)
    problem = not_ready(session, scaffold.ready_for_local_init_op)
    if problem:
        raise _not_ready_error(" for local_init. ", scaffold, checkpoint_path, problem)
    if scaffold.local_init_op is not None:
        logging.info("Running local_init_op.")
        session.run(scaffold.local_init_op, feed_dict=scaffold.local_init_feed_dict)
        logging.info("Done running local_init_op.")
    problem = not_ready(session, scaffold.ready_op)
    if problem:
        raise _not_ready_error(". ", scaffold, checkpoint_path, problem)
    return checkpoint_path


def first_restorable(
    path: str,
    attempt: Callable[[str], None],
    fallback_checkpoint: Callable[[str], str | None] | None,
) -> str:
    """Returns the first checkpoint with which ``attempt`` succeeds.

    Args:
      path: the first one to try.
      attempt: restores or checks a checkpoint.
      fallback_checkpoint: see ``initialize_session``.
    """
    while True:
        try:
            attempt(path)
            return path
        except (MissingCheckpointError, DamagedCheckpointError) as error:
            other = fallback_checkpoint(path) if fallback_checkpoint else None
            if other is None:
                raise
            logging.warning("%s; taking %s", error.problem, other)
            path = other


def _restore(session: LiftedSession, saver: Any, path: str) -> None:
    check_checkpoint(path, restored_variables(session.graph, saver.saver_def))
    initializers = _v1.get_collection("saved_model_initializers")
    if initializers:  # of a SavedModel that the model loads; the checkpoint's values count
        session.run(initializers)
    with explained_read_errors(path):
        saver.restore(session, path)


def recover_last_checkpoints(saver: Any, path: str) -> None:
    """Tells a saver the older checkpoints, which it will delete, wherever they are.

    So they must be files in this folder. `checkpoint` may also name others: in a copy of another
    model_dir, or through links.

    Args:
      saver: the saver of a training that continues.
      path: the checkpoint that it continues from.
    """
    folder, now = os.path.dirname(path), steady_time()
    older = []
    for checkpoint in checkpoints_in(folder):
        prefix = os.path.join(folder, os.path.basename(checkpoint))
        for file in (prefix + ".index", prefix):  # a checkpoint of the old format is one file
            if identity_of(file):
                # A file of the future would be kept, as one from after so many hours.
                older.append((prefix, min(tf.io.gfile.stat(file).mtime_nsec / 1e9, now)))
                break
    saver.set_last_checkpoints_with_time(older)


def _not_ready_error(
    what: str, scaffold: tf.compat.v1.train.Scaffold, checkpoint_path: str | None, problem: str
) -> RuntimeError:
    if checkpoint_path:
        advice = (
            f"The checkpoint {checkpoint_path} was restored, and no init_op is run then. Let the "
            "Scaffold's saver save all variables (leave var_list out); or initialize the others in "
            "its local_init_op, and give it a ready_for_local_init_op that does not ask for them."
        )
    else:
        advice = "Give the Scaffold an init_op, init_fn or local_init_op that sets them."
    return RuntimeError(
        f"Init operations did not make model ready{what} Init op: {_name(scaffold.init_op)}, "
        f"init fn: {scaffold.init_fn}, local_init_op: {_name(scaffold.local_init_op)}, error: "
        f"{problem}. {advice}"
    )


def _name(element: Any) -> str:
    if element is None:
        return "None"
    return getattr(element, "name", None) or f"<no name for {type(element)}>"
