"""Trains a graph by a Supervisor and monitors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib.framework.global_step import assert_or_get_global_step
from estimator_bridge_contrib.learn.graph_actions.graph_parts import (
    get_summary_writer,
    make_saver,
    merged_summaries,
)
from estimator_bridge_contrib.learn.monitor_hooks import get_default_monitors
from estimator_bridge_contrib.learn.monitor_outputs import NanLossDuringTrainingError

__all__ = ["train"]

_v1 = tf.compat.v1


def train(
    graph: tf.Graph,
    output_dir: str,
    train_op: Any,
    loss_op: Any,
    global_step_tensor: Any = None,
    init_op: Any = None,
    init_feed_dict: Any = None,
    init_fn: Callable[[Any], None] | None = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: float = 600,
    keep_checkpoint_max: int | None = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: Callable[[], Any] | None = None,
    steps: int | None = None,
    fail_on_nan_loss: bool = True,
    monitors: Sequence[Any] | None = None,
    max_steps: int | None = None,
) -> Any:
    """Trains, from the latest checkpoint on, and writes checkpoints and summaries.

    Args:
      graph: the graph.
      output_dir: the folder of checkpoints and events.
      train_op: the operation of a step, which counts in the global step.
      loss_op: the loss.
      global_step_tensor: the global step; by default the graph's.
      init_op: initializes variables; by default all.
      init_feed_dict: the feed of init_op.
      init_fn: called with the session after init_op.
      log_every_steps: the number of steps between two log lines.
      supervisor_is_chief: whether this process writes.
      supervisor_master: the session's target.
      supervisor_save_model_secs: the seconds between two checkpoints.
      keep_checkpoint_max: the number of checkpoints that stay; None or 0 for all.
      supervisor_save_summaries_steps: the number of steps between two summaries.
      feed_fn: returns each step's feed. StopIteration ends the training.
      steps: the number of steps to train.
      fail_on_nan_loss: whether a loss of NaN is an error.
      monitors: monitors; by default those of `get_default_monitors`.
      max_steps: the global step at which to end.

    Returns:
      The last loss; None if there was no step.

    Raises:
      ValueError: both numbers of steps are given, or the folder, train_op, loss_op or the global
        step is missing.
      NanLossDuringTrainingError: see ``fail_on_nan_loss``.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    for name, op in (("train_op", train_op), ("loss_op", loss_op)):
        if op is None:
            raise ValueError(f"Missing {name}.")
    while True:
        with graph.as_default():
            step_tensor = assert_or_get_global_step(graph, global_step_tensor)
            if step_tensor is None:
                raise ValueError('No "global_step" was provided or found in the graph.')
            end = max_steps
            if end is None and steps:
                end = _saved_step(output_dir, step_tensor) + steps
            writer = get_summary_writer(output_dir) if supervisor_is_chief else None
            used = _monitors(
                monitors, loss_op, supervisor_is_chief, supervisor_save_summaries_steps, writer
            )
            for monitor in used:
                monitor.begin(max_steps=end)
        supervisor = _v1.train.Supervisor(
            graph,
            init_op=init_op or _v1.train.Supervisor.USE_DEFAULT,
            init_feed_dict=init_feed_dict,
            is_chief=supervisor_is_chief,
            logdir=output_dir,
            saver=make_saver(graph, keep_checkpoint_max),
            global_step=step_tensor,
            summary_op=None,
            summary_writer=writer,
            save_model_secs=supervisor_save_model_secs,
            init_fn=init_fn,
        )
        loop = _Loop(supervisor, [train_op, loss_op], step_tensor, used, fail_on_nan_loss)
        try:
            return loop.run(supervisor_master, end, feed_fn, log_every_steps)
        except tf.errors.AbortedError:  # a server has started again
            logging.warning("Training got Aborted error. Keep training.")


def _saved_step(folder: str, step_tensor: Any) -> int:
    try:
        return tf.train.load_variable(folder, step_tensor.name)
    except (tf.errors.NotFoundError, ValueError):
        return 0


def _monitors(
    monitors: Sequence[Any] | None, loss: Any, is_chief: bool, summary_steps: int, writer: Any
) -> list[Any]:
    if monitors:
        return [each for each in monitors if is_chief or each.run_on_all_workers]
    if not is_chief:
        return []
    return list(
        get_default_monitors(
            loss_op=loss,
            summary_op=merged_summaries(),
            save_summary_steps=summary_steps,
            summary_writer=writer,
        )
    )


class _Loop:
    """A training from one start of its session to the end."""

    def __init__(
        self,
        supervisor: Any,
        tensors: Sequence[Any],
        step_tensor: Any,
        monitors: Sequence[Any],
        fails_on_nan: bool,
    ):
        self._supervisor, self._tensors, self._step_tensor = supervisor, tensors, step_tensor
        self._monitors, self._fails_on_nan = monitors, fails_on_nan
        self._session: Any = None
        self._loss: Any = None

    def run(
        self,
        master: str,
        end: int | None,
        feed_fn: Callable[[], Any] | None,
        log_every_steps: int,
    ) -> Any:
        """Runs the steps and writes the last checkpoint; returns the last loss."""
        self._session = self._supervisor.PrepareSession(master=master, start_standard_services=True)
        self._supervisor.StartQueueRunners(self._session)
        with self._session:
            failure: BaseException | None = None
            try:
                self._steps(end, feed_fn, log_every_steps)
            except tf.errors.OutOfRangeError as error:
                logging.warning("The input of the training is exhausted: %s.", error)
            except StopIteration:
                logging.info("The feeds of the training are exhausted.")
            except BaseException as error:
                failure = error
            try:
                self._finish()
            except tf.errors.OutOfRangeError as error:
                logging.warning("The input is exhausted: %s.", error)
            except BaseException as error:
                if failure is None:
                    raise
                logging.error("Got exception during tf.learn final checkpoint %s.", error)
            if failure is not None:
                raise failure
        return self._loss

    def _steps(
        self, end: int | None, feed_fn: Callable[[], Any] | None, log_every_steps: int
    ) -> None:
        step = logged = self._session.run(self._step_tensor)
        logging.info("Training steps [%d,%s)", step, "inf" if end is None else end)
        while not self._supervisor.ShouldStop() and (end is None or step < end):
            start = time.monotonic()
            outputs, stops = self._step(step + 1, feed_fn() if feed_fn else None)
            self._loss = outputs[self._tensors[1].name]
            self._check_loss()
            if stops:
                return
            before, step = step, self._session.run(self._step_tensor)
            if step <= before:
                logging.error(
                    "Global step was not incremented by train op at step %s: new step %d",
                    before,
                    step,
                )
            if step - logged >= log_every_steps or (end is not None and step >= end):
                logged = step
                logging.info(
                    "training step %d, loss = %.5f (%.3f sec/batch).",
                    step,
                    self._loss,
                    time.monotonic() - start,
                )

    def _step(self, step: int, feed: Any) -> tuple[dict[Any, Any], bool]:
        """Runs a step; returns what it fetched by name, and whether a monitor ends the training."""
        fetches: dict[Any, Any] = {}
        requests = [each for monitor in self._monitors for each in monitor.step_begin(step)]
        for each in [*self._tensors, *requests]:
            name = each.name if isinstance(each, tf.Tensor) else each
            fetches.setdefault(name, each)
        values = self._session.run(list(fetches.values()), feed_dict=feed)
        outputs = dict(zip(fetches, values))
        stops = [monitor.step_end(step, outputs) for monitor in self._monitors]
        return outputs, any(stops)

    def _check_loss(self) -> None:
        if not np.isnan(self._loss):
            return
        message = "Model diverged with loss = NaN."
        if self._fails_on_nan:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)

    def _finish(self) -> None:
        supervisor = self._supervisor
        supervisor.Stop(close_summary_writer=False)
        if not supervisor.is_chief:
            return
        step = self._session.run(self._step_tensor)
        path = supervisor.save_path
        logging.info("Saving checkpoint for step %d to checkpoint: %s.", step, path)
        supervisor.saver.save(self._session, path, global_step=step)
        for monitor in self._monitors:
            monitor.end()
