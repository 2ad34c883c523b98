"""A training that shows itself: its line, its figures in TensorBoard, its report."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.shown_progress import monitor_setting
from estimator_bridge.model import RunConfig
from estimator_bridge.runtime.local_clusters import in_notebook
from estimator_bridge.training.monitoring.closing_lines import say_at_exit
from estimator_bridge.training.monitoring.meter import Meter
from estimator_bridge.training.monitoring.report_page import write_report
from estimator_bridge.training.monitoring.run_record import (
    Point,
    RunRecord,
    Trail,
    read_record,
    write_record,
)
from estimator_bridge.training.monitoring.shown_line import line_of_process
from estimator_bridge.training.own_hooks import ObservingHook
from estimator_bridge.training.program import Program
from estimator_bridge.training.progress_reports import ProgressHook, StepReport

__all__ = ["Monitor", "monitor_of", "monitored", "shown_stage", "with_monitor", "writes_report"]

_v1 = tf.compat.v1


class Monitor(ObservingHook):
    """Shows a training: progress, waiting for input, FLOP/s, and at the end a report.

    Pass it to train() among the hooks, or set the environment variable ESTIMATOR_BRIDGE_MONITOR
    to 1 (or to 'line' or 'report' alone). Steps run in the same calls of the compiled loop as
    without it. Passed to evaluate() or predict(), it brings the report up to date.

    The figures: examples and steps per second; the share of time that steps waited for input (of
    one process that feeds its replicas itself); FLOP/s of matrix products and convolutions,
    counted from the graph, and the share of the peak of known TPUs and GPUs. They are also written
    as summaries (``monitor/...``) and into ``monitor.json`` in model_dir.

    Args:
      write: called with each StepReport, in place of the line.
      say: called with each remark at the end, a line of text, in place of writing it.
      every_secs: seconds between updates of the line.
      line: whether to show the line.
      report: whether to write ``report.html`` into model_dir.
      clock: returns the time in seconds.
      closing: whether the lines at the end of a training wait for the end of the process, which
        then writes those of each model_dir's last training.
    """

    def __init__(
        self,
        write: Callable[[StepReport], None] | None = None,
        say: Callable[[str], None] | None = None,
        every_secs: float = 1.0,
        line: bool = True,
        report: bool = True,
        clock: Callable[[], float] = time.monotonic,
        closing: bool = False,
    ):
        self._write, self._say_to, self.reports = write, say, report
        self._says_at_exit = closing
        self._line = line_of_process() if line and write is None else None
        self._progress = ProgressHook(self._show, every_secs, clock)
        self.clock = clock
        self._meter: Meter | None = None
        self._trail = Trail(0.0)

    def steps_until_due(self, step: int) -> float:
        """Returns infinity: no call is needed."""
        del step
        return math.inf

    def attach(self, meter: Meter) -> None:
        """Begins the display of a training.

        Args:
          meter: measures its loops.
        """
        self._meter, self._trail = meter, Trail(self.clock())
        self._progress.restart()
        if self._line:
            self._line.stage("Compiling and running the first steps")

    def displaying(self, stage: str) -> contextlib.AbstractContextManager[None]:
        """Shows a stage, until steps run or the context ends."""
        return self._line.displaying(stage) if self._line else contextlib.nullcontext()

    def observe(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> None:
        """Notes the state after a chunk of steps."""
        if self._meter is not None:
            self._progress.observe(step, total, loss, examples)

    def end(self, session: Any) -> None:
        """Writes the report and the last remarks."""
        del session
        if self._meter is not None:
            self.finish(self._meter)

    def finish(self, meter: Meter) -> None:
        """Writes what the training leaves, and says where it is.

        Args:
          meter: the one of ``attach``.
        """
        self._meter = None
        if self._line:
            self._line.end_steps()
        record = _continue_record(meter, self._trail.points)
        lines = list(record.notes)
        write_record(meter.model_dir, record)
        if self.reports:
            lines.append(f"Report: {write_report(meter.model_dir)}")
        lines.append(f"Curves: tensorboard --logdir {meter.model_dir}")
        if self._says_at_exit:
            say_at_exit(meter.model_dir, lines)
        else:
            for text in lines:
                self._say(text)

    def _say(self, text: str) -> None:
        if self._say_to is not None:
            self._say_to(text)
        elif self._line:
            self._line.say(text)
        else:
            logging.info("%s", text)

    def _show(self, report: StepReport) -> None:
        assert self._meter is not None
        report = self._meter.measure(report)
        if self._trail.add(report, self.clock()):
            self._meter.write_summaries(report)
        if self._write is not None:
            self._write(report)
        elif self._line:
            self._line.report(report)


def _continue_record(meter: Meter, points: Sequence[Point]) -> RunRecord:
    before = read_record(meter.model_dir).with_points(points)
    return dataclasses.replace(
        before, configuration=meter.configuration(), notes=tuple(meter.notes())
    )


def monitor_of(hooks: Sequence[Any]) -> Monitor | None:
    """Returns the monitor among hooks, or the one that the environment variable asks for.

    A notebook has one unless the variable is 0.

    Raises:
      ValueError: the variable has another value than those known.
    """
    monitor = next((hook for hook in hooks if isinstance(hook, Monitor)), None)
    setting = monitor_setting() or ("1" if in_notebook() else "0")
    if monitor is not None or setting == "0":
        return monitor
    return Monitor(line=setting != "report", report=setting != "line", closing=not in_notebook())


def with_monitor(hooks: Sequence[Any]) -> list[Any]:
    """Returns the hooks, with the monitor that the environment variable asks for."""
    monitor = monitor_of(hooks)
    return [*hooks] if monitor is None or monitor in hooks else [*hooks, monitor]


@contextlib.contextmanager
def shown_stage(hooks: Sequence[Any], config: RunConfig, text: str) -> Iterator[None]:
    """Shows what a call does until its steps run, or until its end, if there is a monitor."""
    monitor = monitor_of(hooks) if config.is_chief else None
    with contextlib.nullcontext() if monitor is None else monitor.displaying(text):
        yield


@contextlib.contextmanager
def monitored(
    program: Program, model_dir: str, hooks: Sequence[Any]
) -> Iterator[Callable[..., Any]]:
    """Shows the steps of a training, if there is a monitor.

    Args:
      program: traced for training.
      model_dir: the folder of its summaries.
      hooks: the caller's hooks.

    Yields:
      The function that makes the loops: ``Program.make_loop``, or one that measures them.
    """
    monitor = monitor_of(hooks)
    if monitor is None or not program.execution.config.is_chief:
        yield program.make_loop
        return
    meter = Meter(program, model_dir, monitor.clock)
    monitor.attach(meter)
    _in_training.add(model_dir)
    try:
        yield meter.make_loop
    finally:
        _in_training.discard(model_dir)


_in_training: set[str] = set()  # the folders whose reports are written at the end


def writes_report(hooks: Sequence[Any], config: RunConfig) -> bool:
    """Whether a call of evaluate() or predict() with these hooks brings the report up to date.

    A training in which it runs does so at its end: to read all curves takes long in a long run.
    """
    monitor = monitor_of(hooks)
    if monitor is None or not monitor.reports or config.model_dir in _in_training:
        return False
    return bool(config.is_chief)
