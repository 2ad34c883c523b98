"""Evaluates checkpoints in a separate session: one, or each that a training writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.training.eval_hooks import (
    StopAfterNEvalsHook,
    get_or_create_eval_step,
)
from estimator_bridge_contrib.training.waiting import checkpoints_iterator

__all__ = ["evaluate_once", "evaluate_repeatedly"]

_v1 = tf.compat.v1


def evaluate_once(
    checkpoint_path: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Iterable[Any] | None = None,
    config: Any = None,
) -> Any:
    """Restores a checkpoint into the default graph's model and runs operations on it.

    Args:
      checkpoint_path: the checkpoint.
      master: the session's master.
      scaffold: the initialization and restoration of variables.
      eval_ops: a tensor or operation, or a list or dict of them, run until a hook
        (``StopAfterNEvalsHook``) or the input's end stops it; None to run nothing.
      feed_dict: feeds of ``eval_ops``.
      final_ops: tensors to evaluate once, at the end.
      final_ops_feed_dict: feeds of ``final_ops``.
      hooks: SessionRunHooks.
      config: the session's ConfigProto.

    Returns:
      The values of ``final_ops``, or None.
    """
    paths = [checkpoint_path]
    sessions = {"master": master, "scaffold": scaffold, "config": config}
    final = _v1.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    _evaluate_each(paths, sessions, eval_ops, feed_dict, final, hooks, 1)
    return final.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Iterable[Any] | None = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Like ``evaluate_once``, for each new checkpoint of a folder.

    Args:
      checkpoint_dir: the folder.
      master: see ``evaluate_once``.
      scaffold: see ``evaluate_once``.
      eval_ops: see ``evaluate_once``.
      feed_dict: see ``evaluate_once``.
      final_ops: see ``evaluate_once``.
      final_ops_feed_dict: see ``evaluate_once``.
      eval_interval_secs: the minimal time between the starts of two evaluations.
      hooks: SessionRunHooks.
      config: the session's ConfigProto.
      max_number_of_evaluations: the maximal number of evaluations; None for no limit.
      timeout: seconds to wait for a new checkpoint; None for no limit.
      timeout_fn: called after the timeout; returns whether no more checkpoints will come.

    Returns:
      The values of ``final_ops`` in the last evaluation, or None.
    """
    paths = checkpoints_iterator(
        checkpoint_dir, eval_interval_secs, timeout=timeout, timeout_fn=timeout_fn
    )
    sessions = {"master": master, "scaffold": scaffold, "config": config}
    final = _v1.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    _evaluate_each(paths, sessions, eval_ops, feed_dict, final, hooks, max_number_of_evaluations)
    return final.final_ops_values


def _evaluate_each(
    paths: Iterable[str],
    sessions: dict[str, Any],
    eval_ops: Any,
    feed_dict: Any,
    final: Any,
    hooks: Iterable[Any] | None,
    most: int | None,
) -> None:
    hooks = [*(hooks or []), final]
    step = get_or_create_eval_step()
    if eval_ops is not None:
        count = _v1.assign_add(step, 1, use_locking=True)
        eval_ops = [eval_ops, count]
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(count)
    for number, path in enumerate(paths, start=1):
        creator = _v1.train.ChiefSessionCreator(checkpoint_filename_with_path=path, **sessions)
        logging.info("Starting evaluation of %s", path)
        with _v1.train.MonitoredSession(creator, hooks) as session:
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, feed_dict)
        logging.info("Finished evaluation of %s", path)
        if number == most:
            return
