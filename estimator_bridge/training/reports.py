"""How training goes: log lines, rates in event files, and progress for whoever shows it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from absl import logging

__all__ = ["LogHook", "ProgressHook", "StepReport"]

_v1 = tf.compat.v1
_SessionRunHook: Any = _v1.train.SessionRunHook


@dataclasses.dataclass(frozen=True)
class StepReport:
    """Where training stands.

    Attributes:
      step: the global step.
      total_steps: the step at which training ends; None where the input's end decides.
      loss: the last step's, averaged over the replicas; None before the first.
      steps_per_sec: over the time since the report before; None where nothing was measured.
      examples_per_sec: likewise; None where the batch size is unknown.
      seconds_left: at this rate; None where the end or the rate is unknown.
    """

    step: int
    total_steps: int | None = None
    loss: float | None = None
    steps_per_sec: float | None = None
    examples_per_sec: float | None = None
    seconds_left: float | None = None


class _Observer(_SessionRunHook):
    """A hook that is told of chunks of steps instead of being called around each step."""

    def __init__(self, clock: Callable[[], float]):
        self._clock = clock
        self._last: tuple[int, float] | None = None

    def steps_until_due(self, step: int) -> float:
        """It never needs a step of its own."""
        del step
        return math.inf

    def _report(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> StepReport:
        now = self._clock()
        rate = None
        if self._last and step > self._last[0] and now > self._last[1]:
            rate = (step - self._last[0]) / (now - self._last[1])
        self._last = (step, now)
        return StepReport(
            step,
            total,
            loss,
            rate,
            examples_per_sec=rate * examples if rate and examples else None,
            seconds_left=(total - step) / rate if rate and total is not None else None,
        )


class ProgressHook(_Observer):
    """Passes on where training stands.

    Args:
      write: called with each StepReport.
      every_secs: seconds between calls; the first and the last step are always told.
      clock: the time in seconds.
    """

    def __init__(
        self,
        write: Callable[[StepReport], None],
        every_secs: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        super().__init__(clock)
        self._write = write
        self._every_secs = every_secs

    def observe(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> None:
        """Told of the state after a chunk of steps."""
        is_last = total is not None and step >= total
        if self._last is None or is_last or self._clock() >= self._last[1] + self._every_secs:
            self._write(self._report(step, total, loss, examples))


class LogHook(_Observer):
    """Logs loss and rates, and writes the rates as summaries.

    Args:
      every_steps: steps between lines.
      directory: of the event files; None writes none.
      rate_tags: tags of the summaries: steps a second, and examples a second or None.
      clock: the time in seconds.
    """

    def __init__(
        self,
        every_steps: int,
        directory: str | None,
        rate_tags: tuple[str, str | None],
        clock: Callable[[], float] = time.monotonic,
    ):
        super().__init__(clock)
        self._every_steps = every_steps
        self._directory = directory
        self._tags = rate_tags

    def steps_until_due(self, step: int) -> float:
        """The first step, and then every so many."""
        return 1 if self._last is None else max(self._last[0] + self._every_steps - step, 1)

    def observe(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> None:
        """Told of the state after a chunk of steps."""
        if self._last is not None and step < self._last[0] + self._every_steps:
            return
        report = self._report(step, total, loss, examples)
        logging.info("%s", _line(report))
        if report.steps_per_sec and self._directory:
            self._write(self._tags[0], report.steps_per_sec, step)
            if self._tags[1] and report.examples_per_sec:
                self._write(self._tags[1], report.examples_per_sec, step)

    def _write(self, tag: str, value: float, step: int) -> None:
        summary = _v1.Summary(value=[_v1.Summary.Value(tag=tag, simple_value=value)])
        _v1.summary.FileWriterCache.get(self._directory).add_summary(summary, step)


def _line(report: StepReport) -> str:
    parts = [f"step = {report.step}"]
    if report.loss is not None:
        parts.insert(0, f"loss = {report.loss:.7g}")
    if report.steps_per_sec:
        parts.append(f"{report.steps_per_sec:.4g} steps/s")
    if report.examples_per_sec:
        parts.append(f"{report.examples_per_sec:.4g} examples/s")
    if report.seconds_left is not None:
        parts.append(f"{report.seconds_left:.0f} s left")
    return ", ".join(parts)
