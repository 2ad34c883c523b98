"""A session's first state: restored from a checkpoint, or initialised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from estimator_bridge.checkpoint import check_checkpoint, describe_variables, reading
from estimator_bridge.graph import LiftedSession

__all__ = ["initialize_session", "open_session", "prepare_saver"]

_SAVERS = tf.compat.v1.GraphKeys.SAVERS


def prepare_saver(scaffold: tf.compat.v1.train.Scaffold, keep_max: int | None, keep_hours: float):
    """Gives the default graph a saver, unless the model brought its own."""
    if scaffold.saver is None and not tf.compat.v1.get_collection(_SAVERS):
        saver = tf.compat.v1.train.Saver(
            sharded=True,
            max_to_keep=keep_max,
            keep_checkpoint_every_n_hours=keep_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        tf.compat.v1.add_to_collection(_SAVERS, saver)


def open_session(
    session: LiftedSession,
    scaffold: tf.compat.v1.train.Scaffold,
    hooks: Sequence[Any],
    checkpoint_path: str | None,
) -> None:
    """Starts a session as MonitoredSession did: hooks begin, the graph is finished, values come.

    Args:
      session: of the traced graph, which is the default graph.
      scaffold: the model's.
      hooks: in their order.
      checkpoint_path: see ``initialize_session``.
    """
    for hook in hooks:
        hook.begin()
    if not session.graph.finalized:  # a program that is used again has been finished before
        scaffold.finalize()
    initialize_session(session, scaffold, checkpoint_path)
    for hook in hooks:
        hook.after_create_session(session, session.queues.coordinator)


def initialize_session(
    session: LiftedSession,
    scaffold: tf.compat.v1.train.Scaffold,
    checkpoint_path: str | None,
) -> None:
    """Brings all variables and tables to their first state.

    Args:
      session: of the traced graph, which is the default graph.
      scaffold: finalized.
      checkpoint_path: restored from; None runs the model's own initialisation.

    Raises:
      CheckpointError: the checkpoint is damaged, or belongs to another model.
      RuntimeError: variables are left without a value.
    """
    if checkpoint_path:
        check_checkpoint(checkpoint_path, _saved_variables(scaffold.saver))
        logging.info("Restoring parameters from %s", checkpoint_path)
        with reading(checkpoint_path):
            scaffold.saver.restore(session, checkpoint_path)
    else:
        session.run(scaffold.init_op, feed_dict=scaffold.init_feed_dict)
        if scaffold.init_fn:
            scaffold.init_fn(session)
    session.run(scaffold.local_init_op, feed_dict=scaffold.local_init_feed_dict)
    missing = session.run(scaffold.ready_op)
    if missing.size:
        raise RuntimeError(
            "Init operations did not make model ready. Variables without a value: "
            f"{[name.decode() for name in missing.flatten()]}. Init op: "
            f"{getattr(scaffold.init_op, 'name', scaffold.init_op)}, init fn: {scaffold.init_fn}, "
            f"checkpoint: {checkpoint_path}."
        )


def _saved_variables(saver) -> dict:
    """(shape, dtype) by name of what a saver restores, as far as it tells."""
    listed = saver._var_list or []
    named = listed.items() if isinstance(listed, dict) else ((None, item) for item in listed)
    described = {}
    for name, item in named:
        if isinstance(item, tf.Variable):
            ((own_name, described_as),) = describe_variables([item]).items()
            described[name or own_name] = described_as
    return described
