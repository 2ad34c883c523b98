"""Monitors that write files: summaries, the speed, checkpoints."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import tf_logging
from estimator_bridge_contrib.learn.monitor_bases import BaseMonitor, EveryN, output_of

__all__ = ["CheckpointSaver", "StepCounter", "SummarySaver"]

_v1 = tf.compat.v1


class _Writing(EveryN):
    """A monitor that writes summaries, with the writer given or that of a folder.

    Args:
      every_n_steps: see `EveryN`.
      output_dir: the folder to write to; by default the estimator's.
      summary_writer: the writer, instead of a folder.
    """

    def __init__(self, every_n_steps: int, output_dir: str | None, summary_writer: Any):
        super().__init__(every_n_steps=every_n_steps)
        self._writer = summary_writer
        if summary_writer is None and output_dir:
            self._writer = _v1.summary.FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        """Takes the estimator's folder, if none was given."""
        super().set_estimator(estimator)
        if self._writer is None:
            self._writer = _v1.summary.FileWriterCache.get(estimator.model_dir)


class SummarySaver(_Writing):
    """Writes a summary.

    Args:
      summary_op: the serialized summary; None for the scaffold's.
      save_steps: the number of steps from one to the next.
      output_dir: the folder to write to; by default the estimator's.
      summary_writer: the writer, instead of a folder.
      scaffold: a Scaffold.
    """

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ):
        super().__init__(save_steps, output_dir, summary_writer)
        self._summary_op = summary_op
        self._scaffold = scaffold

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Requests the summary."""
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Writes it."""
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._writer is not None:
            self._writer.add_summary(output_of(outputs, self._summary_op), step)
        return False

    def end(self, session: Any = None) -> None:
        """Flushes the writer."""
        super().end(session=session)
        if self._writer is not None:
            self._writer.flush()


class StepCounter(_Writing):
    """Writes the steps per second, as ``global_step/sec``.

    Args:
      every_n_steps: see `EveryN`.
      output_dir: the folder to write to; by default the estimator's.
      summary_writer: the writer, instead of a folder.
    """

    def __init__(
        self, every_n_steps: int = 100, output_dir: str | None = None, summary_writer: Any = None
    ):
        super().__init__(every_n_steps, output_dir, summary_writer)
        self._last: tuple[int, float] | None = None

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        """Writes the speed since the last call."""
        super().every_n_step_end(step, outputs)
        now = time.monotonic()
        if self._last is not None and self._writer is not None:
            speed = (step - self._last[0]) / max(now - self._last[1], 1e-9)
            summary = _v1.Summary()
            summary.value.add(tag="global_step/sec", simple_value=speed)
            self._writer.add_summary(summary, step)
        self._last = step, now
        return False


class CheckpointSaver(BaseMonitor):
    """Saves checkpoints after the first step, in intervals, and at the end.

    Args:
      checkpoint_dir: the folder.
      save_secs: the seconds from one checkpoint to the next.
      save_steps: the steps from one to the next; exactly one of the two is given.
      saver: the saver; by default the scaffold's.
      checkpoint_basename: the start of the files' names.
      scaffold: a Scaffold.

    Raises:
      ValueError: not exactly one of save_secs and save_steps is given.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ):
        super().__init__()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        tf_logging.info("Create CheckpointSaver.")
        self._folder = checkpoint_dir
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._saver, self._scaffold = saver, scaffold
        self._save_secs, self._save_steps = save_secs, save_steps
        self._begun_step: int | None = None
        self._saved: tuple[int | None, float] | None = None  # the last checkpoint's step and time

    def begin(self, max_steps: int | None = None) -> None:
        """Forgets earlier checkpoints."""
        super().begin(max_steps)
        self._begun_step = self._saved = None

    def step_begin(self, step: int) -> list[Any]:
        """Notes the step."""
        super().step_begin(step)
        self._begun_step = step
        return []

    def post_step(self, step: int, session: Any) -> None:
        """Saves, if it is time."""
        super().post_step(step, session)
        if self._saved is None or self._is_due(step, *self._saved):
            self._save(step, session)

    def _is_due(self, step: int, saved_step: int | None, saved_time: float) -> bool:
        if self._save_steps is not None:
            return step >= (saved_step or 0) + self._save_steps
        return time.monotonic() >= saved_time + (self._save_secs or 0)

    def end(self, session: Any = None) -> None:
        """Saves the last step."""
        super().end(session)
        self._save(self._begun_step, session)

    def _save(self, step: int | None, session: Any) -> None:
        if step is None or (self._saved is not None and step == self._saved[0]):
            return
        tf_logging.info("Saving checkpoints for %d into %s.", step, self._path)
        self._saved = step, time.monotonic()
        saver = self._saver or self._scaffold.saver
        saver.save(session, self._path, global_step=step)
        log = tf.compat.v1.SessionLog(
            status=tf.compat.v1.SessionLog.CHECKPOINT, checkpoint_path=self._path
        )
        _v1.summary.FileWriterCache.get(self._folder).add_session_log(log, step)
