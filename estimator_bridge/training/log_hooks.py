"""Logs training: the original's lines of loss and rates, and the rates in event files.

The original fetched the loss and the global step in a session run. Here the loop always returns
the loss, so these hooks fetch nothing: `run_values.results` is a `Reached`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.runtime.local_clusters import in_notebook
from estimator_bridge.training.own_hooks import CountingHook, ReachedHook

__all__ = ["LossLogHook", "RateLogHook", "Reached", "least_log_secs"]

_v1 = tf.compat.v1

_READABLE_SECS = 5.0  # between two lines in a notebook, where each of them stays in the page
_LONG_SECS = 60.0  # the time left of a long training is logged
_WARNINGS = 5  # in a training


def least_log_secs() -> float:
    """Returns the seconds between two lines of this process's log."""
    return _READABLE_SECS if in_notebook() else 0.0


class Reached(NamedTuple):
    """The state at the end of a call of the loop.

    Attributes:
      step: the global step after the last step.
      step_before: the global step before the last step.
      loss: the loss of the last step, averaged over the replicas.
      limit: the global step to train to, if any.
    """

    step: int
    step_before: int
    loss: float | None
    limit: int | None


class LossLogHook(CountingHook, ReachedHook):
    """Logs "loss = ..., step = ..." as a LoggingTensorHook does that fetches both.

    If more than a minute of training is left, another line says how much.

    Args:
      every_steps: calls of the train op between two lines.
      dtype: the type of the loss in the line.
      counts_last: whether the logged step counts the last call of the train op.
      examples: the global batch size; None if unknown.
      clock: returns the time in seconds.
      least_secs: lines that would come sooner after another are left out.
    """

    def __init__(
        self,
        every_steps: int,
        dtype: tf.DType,
        counts_last: bool = False,
        examples: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        least_secs: float = 0.0,
    ):
        self._every_steps = every_steps
        self._kind = dtype.as_numpy_dtype
        self._counts_last = counts_last
        self._examples = examples
        self._clock, self._least_secs = clock, least_secs
        self._last: tuple[int, float] | None = None  # step and time of the last line
        self._steps_since = 0  # calls since

    def steps_until_due(self, step: int) -> float:
        """Returns the steps to the next line: the first step, then every N."""
        del step
        return 1 if self._last is None else max(self._every_steps - self._steps_since, 1)

    def skip(self, steps: int) -> None:
        """Counts steps that ran without a call of this hook."""
        self._steps_since += steps

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Logs, if it is time."""
        del run_context
        self._steps_since += 1
        if self._last is not None and self._steps_since < self._every_steps:
            return
        progress: Reached = run_values.results
        now = self._clock()
        if self._last is not None and now - self._last[1] < self._least_secs:
            self._steps_since = 0
            return
        step = progress.step if self._counts_last else progress.step_before
        line = f"loss = {self._kind(progress.loss)!s}, step = {step}"
        if self._last is None:
            logging.info("%s", line)
        else:
            logging.info("%s (%.3f sec)", line, now - self._last[1])
            self._tell_what_is_left(progress, now)
        self._last, self._steps_since = (progress.step, now), 0

    def _tell_what_is_left(self, progress: Reached, now: float) -> None:
        assert self._last is not None
        steps, seconds = progress.step - self._last[0], now - self._last[1]
        if progress.limit is None or steps <= 0 or seconds <= 0:
            return
        seconds_left = (progress.limit - progress.step) * seconds / steps
        if seconds_left < _LONG_SECS:
            return
        rate = f", at {steps * self._examples / seconds:.4g} examples/s" if self._examples else ""
        logging.info("About %d min left%s.", math.ceil(seconds_left / 60), rate)


class _Pace:
    """Whether a line is due: not if it would come too soon after another."""

    def __init__(self, least_secs: float):
        self._least_secs, self._last = least_secs, -math.inf
        self.is_due = True

    def note(self, now: float) -> None:
        """Says when the next line would be written."""
        self.is_due = now - self._last >= self._least_secs
        if self.is_due:
            self._last = now


class RateLogHook(ReachedHook):
    """Logs and writes rates as StepCounterHook does, and warns if the step does not change.

    Args:
      every_steps: global steps between two lines.
      directory: the folder of the event files.
      tags: the tags of lines and summaries: steps per second, and examples per second or None.
      examples: the global batch size; None if unknown.
      clock: returns the time in seconds.
      least_secs: lines that would come sooner after others are left out; summaries are not.
    """

    def __init__(
        self,
        every_steps: int,
        directory: str,
        tags: tuple[str, str | None],
        examples: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        least_secs: float = 0.0,
    ):
        self._every_steps = every_steps
        self._directory = directory
        self._tags = tags
        self._examples = examples
        self._clock, self._pace = clock, _Pace(least_secs)
        self._last: tuple[int, float] | None = None  # step and time of the last line
        self._stride = 1  # the increment of the step by a call of the train op
        self._step_before: int | None = None  # the step before the last call
        self._warnings = 0

    def steps_until_due(self, step: int) -> float:
        """Returns the steps to the next line; 1 for the first few if the step does not change."""
        if self._last is None or (self._stride == 0 and self._warnings < _WARNINGS):
            return 1
        steps_left = self._last[0] + self._every_steps - step
        return max(math.ceil(steps_left / (self._stride or 1)), 1)

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Logs, if it is time."""
        del run_context
        progress: Reached = run_values.results
        self._stride = progress.step - progress.step_before
        if self._stride == 0:
            self._warn(progress.step_before)
        self._step_before = progress.step_before
        now = self._clock()
        if self._last is None:
            self._last = progress.step, now
            return
        step, seconds = progress.step - self._last[0], now - self._last[1]
        if step < self._every_steps:
            return
        self._last = progress.step, now
        rate = step / seconds if seconds > 0 else math.inf
        self._pace.note(now)
        self._tell(self._tags[0], rate, progress.step)
        if self._tags[1] and self._examples:
            self._tell(self._tags[1], rate * self._examples, progress.step)

    def _warn(self, step: int) -> None:
        if step != self._step_before:
            return  # one step alone shows nothing
        self._warnings += 1
        if self._warnings > _WARNINGS:
            return
        logging.warning(
            "It seems that global step (tf.train.get_global_step) has not been increased. Current "
            "value (could be stable): %s vs previous value: %s. You could increase the global step "
            "by passing tf.train.get_global_step() to Optimizer.apply_gradients or "
            "Optimizer.minimize. Until then steps and max_steps, which count by it, do not end "
            "the training.",
            step,
            self._step_before,
        )

    def _tell(self, tag: str, value: float, step: int) -> None:
        summary = _v1.Summary(value=[_v1.Summary.Value(tag=tag, simple_value=value)])
        _v1.summary.FileWriterCache.get(self._directory).add_summary(summary, step)
        if self._pace.is_due:
            logging.info("%s: %g", tag, value)
