"""Hooks that end an evaluation in a session, and write its summaries."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = ["StopAfterNEvalsHook", "SummaryAtEndHook", "get_or_create_eval_step"]

_v1 = tf.compat.v1
_SHOWN = 10  # approximate maximal number of progress lines


def get_or_create_eval_step() -> tf.Variable:
    """Returns the default graph's local variable ``eval_step``, which counts evaluated batches.

    Raises:
      ValueError: the graph's collection EVAL_STEP has several members.
    """
    graph = _v1.get_default_graph()
    eval_steps = graph.get_collection(_v1.GraphKeys.EVAL_STEP)
    if len(eval_steps) > 1:
        raise ValueError(
            f"Multiple tensors added to tf.GraphKeys.EVAL_STEP: {[v.name for v in eval_steps]}. "
            "One counts the batches."
        )
    if eval_steps:
        return eval_steps[0]
    with graph.as_default(), graph.name_scope(None):
        return _v1.get_variable(
            "eval_step",
            shape=[],
            dtype=tf.int64,
            initializer=_v1.zeros_initializer(),
            trainable=False,
            collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.EVAL_STEP],
        )


class StopAfterNEvalsHook(tf.compat.v1.train.SessionRunHook):
    """Ends an evaluation after a number of batches.

    Args:
      num_evals: the number of batches; None to evaluate until the input ends.
      log_progress: whether to log the progress.
    """

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        self._num_evals, self._log_progress = num_evals, log_progress
        self._log_every = 1 if num_evals is None or num_evals < 20 else num_evals // _SHOWN
        self._completed: Any = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._completed = updated_eval_step

    def before_run(self, run_context):
        """Requests the count."""
        del run_context
        return _v1.train.SessionRunArgs({"evals_completed": self._completed})

    def after_run(self, run_context, run_values):
        """Ends the evaluation when the count is reached."""
        completed = run_values.results["evals_completed"]
        is_last = self._num_evals is not None and completed >= self._num_evals
        if self._log_progress and (is_last or completed % self._log_every == 0):
            of = "" if self._num_evals is None else f"/{self._num_evals}"
            logging.info("Evaluation [%d%s]", completed, of)
        if is_last:
            run_context.request_stop()


class SummaryAtEndHook(tf.compat.v1.train.SessionRunHook):
    """Writes the summaries once, when a session ends.

    Args:
      log_dir: the folder of the event file.
      summary_writer: a FileWriter, instead of ``log_dir``.
      summary_op: the summaries to write; by default all summaries of the graph.
      feed_dict: feeds of the summaries' run.

    Raises:
      ValueError: neither ``log_dir`` nor ``summary_writer`` is given.
    """

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ):
        if log_dir is None and summary_writer is None:
            raise ValueError(
                "One of log_dir or summary_writer should be used: SummaryAtEndHook got neither, "
                "and has no file to write to."
            )
        self._log_dir, self._writer, self._feed_dict = log_dir, summary_writer, feed_dict
        self._summary_op, self._merges = summary_op, summary_op is None
        self._global_step: Any = None

    def begin(self):
        """Merges the graph's summaries."""
        if self._merges:
            self._summary_op = _v1.summary.merge_all()
        self._global_step = _v1.train.get_or_create_global_step()

    def after_create_session(self, session, coord):
        """Opens the event file."""
        del session, coord
        if self._writer is None and self._log_dir:
            self._writer = _v1.summary.FileWriterCache.get(self._log_dir)

    def end(self, session):
        """Runs and writes the summaries."""
        if self._summary_op is not None:
            step = _v1.train.global_step(session, self._global_step)
            self._writer.add_summary(session.run(self._summary_op, self._feed_dict), step)
        self._writer.flush()
