"""Console output of a run: messages, training progress, a closing table.

On a terminal the progress is one live line. In a log file it is one line per tenth of the run, and
at least one every half minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Callable, Protocol, TextIO

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

__all__ = ["Console", "Report", "duration"]

_LINES = 10
_LONGEST_SILENCE_SECS = 30.0
# Larger numbers, such as a diverged loss, are written with an exponent.
_LARGE = 1e9


class Report(Protocol):
    """Training progress, as in `estimator_bridge.training.StepReport`."""

    @property
    def step(self) -> int:
        """The global step."""

    @property
    def total_steps(self) -> int | None:
        """The step at which training ends, if known."""

    @property
    def loss(self) -> float | None:
        """The loss of the last step, if known."""

    @property
    def steps_per_sec(self) -> float | None:
        """Steps per second since the last report, if there was one."""

    @property
    def examples_per_sec(self) -> float | None:
        """Examples per second over all replicas, if known."""

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end, if known."""


class Console:
    """Writes a run's messages to a terminal or to a log.

    Use it as a context manager: its exit closes the live line, if any.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        """Makes a console.

        Args:
            stream: the output stream; standard output by default.
            clock: returns the time in seconds.
        """
        self._stream = stream or sys.stdout
        self._rich = RichConsole(file=self._stream, highlight=False)
        self._live = self._stream.isatty() and not self._rich.is_dumb_terminal
        self._clock = clock
        self._progress: Progress | None = None
        self._last_line: tuple[float, int] | None = None

    def __enter__(self) -> Console:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_progress()

    def say(self, text: str) -> None:
        """Writes a line; on a terminal, above the live progress line."""
        self._rich.print(text, markup=False, soft_wrap=True)

    def report(self, report: Report) -> None:
        """Shows the training progress; pass this method to a `ProgressHook` as its `write`."""
        if self._live:
            self._report_live(report)
        elif self._due(report):
            self.say(_sentence(report))
            self._stream.flush()

    def _report_live(self, report: Report) -> None:
        if self._progress is None:
            self._progress = Progress(
                BarColumn(bar_width=20), TextColumn("{task.description}"), console=self._rich
            )
            self._progress.add_task("", total=report.total_steps)
            self._progress.start()
        task = self._progress.task_ids[0]
        self._progress.update(task, completed=report.step, description=_sentence(report))

    def _due(self, report: Report) -> bool:
        now, total = self._clock(), report.total_steps
        tenth = report.step * _LINES // total if total else 0
        if self._last_line is not None:
            last_time, last_tenth = self._last_line
            if tenth <= last_tenth and now - last_time < _LONGEST_SILENCE_SECS:
                return False
        self._last_line = now, tenth
        return True

    def end_progress(self) -> None:
        """Closes the progress display of one training, which keeps its last state."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None
        self._last_line = None

    def table(self, title: str, values: Mapping[str, object]) -> None:
        """Writes a table of names and values, such as metrics.

        Args:
            title: title above the table.
            values: one row each; numbers that are not whole are rounded to four places.
        """
        table = Table(title=title, title_justify="left", show_header=False)
        table.add_column(justify="left")
        table.add_column(justify="right")
        for name, value in values.items():
            table.add_row(name, _shown(value))
        self._rich.print(table)


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value
    number = float(value)  # type: ignore[arg-type]  # a number of Python's or of NumPy's
    whole = number.is_integer() and 1 < abs(number) < _LARGE
    return f"{number:,.0f}" if whole else _decimal(number)


def _decimal(number: float) -> str:
    return f"{number:.4f}" if abs(number) < _LARGE else f"{number:.4g}"


def _sentence(report: Report) -> str:
    of_total = f"/{report.total_steps:,}" if report.total_steps else ""
    parts = [f"step {report.step:,}{of_total}"]
    if report.loss is not None:
        parts.append(f"loss {_decimal(report.loss)}")
    if report.steps_per_sec is not None:
        parts.append(f"{report.steps_per_sec:,.0f} steps/s")
    if report.examples_per_sec is not None:
        parts.append(f"{report.examples_per_sec:,.0f} examples/s")
    if report.seconds_left is not None:
        parts.append(f"{duration(report.seconds_left)} left")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    """Formats seconds as `0:07`, `12:30` or `3:05:00`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
