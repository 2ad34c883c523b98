"""Evaluates the tensors of a graph with the values of a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.framework.global_step import assert_or_get_global_step
from estimator_bridge_contrib.learn.graph_actions.graph_parts import (
    collected,
    get_summary_writer,
    restore,
)

__all__ = ["evaluate"]

_v1 = tf.compat.v1
_KEYS = _v1.GraphKeys
# A queue's threads get this long to end.
_GRACE_S = 120


def evaluate(
    graph: tf.Graph,
    output_dir: str,
    checkpoint_path: str | None,
    eval_dict: Mapping[str, Any],
    update_op: Any = None,
    global_step_tensor: Any = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: Callable[[], Any] | None = None,
    max_steps: int | None = None,
) -> tuple[dict[str, Any], Any]:
    """Runs an evaluation until its input ends.

    Args:
      graph: the graph.
      output_dir: the folder for the results as events.
      checkpoint_path: the folder of the checkpoint, or the checkpoint; None for initial values.
      eval_dict: the results by name.
      update_op: what to run at each step. Without one, the results are run at each step; with one,
        at the end and when they are logged.
      global_step_tensor: the global step; by default the graph's.
      supervisor_master: the session's target.
      log_every_steps: the number of steps between two log lines.
      feed_fn: returns each step's feed. StopIteration ends the evaluation.
      max_steps: the number of steps; by default as many as the input has.

    Returns:
      The results of the last run, and the global step.

    Raises:
      ValueError: no folder is given, or the graph has no global step.
    """
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    with graph.as_default():
        step_tensor = assert_or_get_global_step(graph, global_step_tensor)
        saver = collected(_KEYS.SAVERS, _saver)
        manager = _v1.train.SessionManager(
            local_init_op=collected(_KEYS.LOCAL_INIT_OP, _local_initializer),
            ready_op=collected(_KEYS.READY_OP, _v1.report_uninitialized_variables),
            ready_for_local_init_op=collected(_KEYS.READY_FOR_LOCAL_INIT_OP),
        )
        session, is_restored = manager.recover_session(
            master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path
        )
        coordinator = tf.train.Coordinator()
        threads = _v1.train.start_queue_runners(session, coordinator)
    with session:
        if not is_restored:
            logging.warning("Failed to initialize from %s.", checkpoint_path)
            session.run(_v1.global_variables_initializer())
            if checkpoint_path:
                restore(session, graph, checkpoint_path, saver)
        step = session.run(step_tensor)
        last = "inf" if max_steps is None else max_steps
        logging.info("Eval steps [0,%s) for training step %d.", last, step)
        run = _Evaluation(session, eval_dict, update_op, log_every_steps, feed_fn)
        try:
            try:
                run.all_steps(max_steps)
            finally:
                run.read_results()
                session.close()  # before the queues, whose threads then fail
                _stop(coordinator, threads)
        except (tf.errors.OutOfRangeError, StopIteration) as error:
            level = logging.INFO if max_steps is None else logging.WARN
            logging.log(level, "The input is exhausted: %s.", error)
    _write(output_dir, run.results, step)
    return run.results, step


class _Evaluation:
    """The steps of an evaluation.

    Attributes:
      results: the latest results by name.
    """

    def __init__(
        self,
        session: Any,
        tensors: Mapping[str, Any],
        update_op: Any,
        log_every_steps: int,
        feed_fn: Callable[[], Any] | None,
    ):
        self._session, self._tensors, self._update_op = session, tensors, update_op
        self._log_every_steps, self._feed_fn = log_every_steps, feed_fn
        self._step, self._read_at, self._feed = 0, -1, None
        self.results: dict[str, Any] = {}

    def all_steps(self, max_steps: int | None) -> None:
        """Runs the steps; the input's end is an error."""
        while max_steps is None or self._step < max_steps:
            self._step += 1
            start = time.monotonic()
            self._feed = self._feed_fn() if self._feed_fn else None
            if self._update_op is None:
                self._read()
            else:
                self._session.run(self._update_op, feed_dict=self._feed)
            if self._step % self._log_every_steps == 0:
                self.read_results()
                logging.info(
                    "Results after %d steps (%.3f sec/batch): %s.",
                    self._step,
                    time.monotonic() - start,
                    _shown(self.results),
                )

    def read_results(self) -> None:
        """Reads the results, unless they are those of the latest step."""
        if self._read_at != self._step:
            self._read()

    def _read(self) -> None:
        self.results = self._session.run(self._tensors, feed_dict=self._feed)
        self._read_at = self._step


def _saver() -> Any:
    return _v1.train.Saver() if _v1.global_variables() else None


def _local_initializer() -> tf.Operation:
    return tf.group(_v1.local_variables_initializer(), _v1.tables_initializer())


def _stop(coordinator: tf.train.Coordinator, threads: Any) -> None:
    try:
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=_GRACE_S)
    except (RuntimeError, tf.errors.CancelledError) as error:
        logging.warning("Coordinator didn't stop cleanly: %s", error)


def _write(folder: str, results: Mapping[str, Any], step: Any) -> None:
    """Writes the results that are floats as summaries."""
    logging.info("Saving evaluation summary for step %d: %s", step, _shown(results))
    summary = _v1.Summary()
    for name, value in results.items():
        if value is None:
            continue
        entry = summary.value.add(tag=name)
        if isinstance(value, (float, np.float32)):
            entry.simple_value = float(value)
        else:
            logging.warning("Skipping summary for %s, must be a float or np.float32.", name)
    writer = get_summary_writer(folder)
    writer.add_summary(summary, step)
    writer.flush()


def _shown(results: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(results.items()))
