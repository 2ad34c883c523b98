"""Shows the progress of a training where the program runs: a terminal, a notebook or a log."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from estimator_bridge.runtime.local_clusters import in_notebook
from estimator_bridge.training.monitoring.line import sentence
from estimator_bridge.training.progress_reports import StepReport

__all__ = ["Display", "LogDisplay", "NotebookDisplay", "TerminalDisplay", "display_here"]

_LINES = 10
_BAR = 20  # characters
_LONGEST_SILENCE_SECS = 30.0


class Display(Protocol):
    """Shows reports and remarks."""

    def report(self, report: StepReport) -> None:
        """Shows the progress."""

    def say(self, text: str) -> None:
        """Writes a line that stays."""

    def end(self) -> None:
        """Ends the display of one training."""


def display_here(
    stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
) -> Display:
    """Returns the display for this process: a notebook's, a terminal's or a log's.

    Args:
      stream: where lines go; by default standard error, as TensorFlow's log does.
      clock: returns the time in seconds.
    """
    if stream is None and in_notebook():
        return NotebookDisplay(sys.modules["IPython"].display.display)
    stream = stream or sys.stderr
    return TerminalDisplay(stream) if _is_live(stream) else LogDisplay(stream, clock)


def _is_live(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can redraw a line, and rich is installed to do it."""
    is_dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return stream.isatty() and not is_dumb and importlib.util.find_spec("rich") is not None


class LogDisplay:
    """Lines for a file or a pipe: one per tenth of the run, and one every half minute.

    Args:
      stream: the output.
      clock: returns the time in seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        self._stream, self._clock = stream, clock
        self._last: tuple[float, int] | None = None

    def report(self, report: StepReport) -> None:
        """Writes the line, if it is time."""
        now, total = self._clock(), report.total_steps
        tenth = report.step * _LINES // total if total else 0
        if self._last is not None:
            last_time, last_tenth = self._last
            if tenth <= last_tenth and now - last_time < _LONGEST_SILENCE_SECS:
                return
        self._last = now, tenth
        self.say(sentence(report))

    def say(self, text: str) -> None:
        """Writes a line."""
        print(text, file=self._stream, flush=True)

    def end(self) -> None:
        """Forgets the last line, so that the next training starts with one."""
        self._last = None


class TerminalDisplay:
    """One live line with a bar, by rich.

    Args:
      stream: the terminal.
    """

    def __init__(self, stream: TextIO):
        from rich.console import Console  # an extra: `pip install estimator-bridge[monitor]`

        self._console = Console(file=stream, highlight=False)
        self._progress: Any = None

    def report(self, report: StepReport) -> None:
        """Updates the line."""
        line = sentence(report, self._console.width - _BAR - 1)
        if self._progress is None:
            self._progress = self._new_progress()
            self._progress.add_task(line, total=report.total_steps, completed=report.step)
            self._progress.start()
        else:
            task = self._progress.task_ids[0]
            self._progress.update(task, completed=report.step, description=line, refresh=True)

    def _new_progress(self) -> Any:
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        return Progress(
            BarColumn(_BAR, table_column=Column(min_width=_BAR)),
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
            console=self._console,
            auto_refresh=False,  # a thread would draw an unchanged line ten times a second
        )

    def say(self, text: str) -> None:
        """Writes a line above the live one."""
        self._console.print(text, markup=False, soft_wrap=True)

    def end(self) -> None:
        """Leaves the line in its last state."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None


class NotebookDisplay:
    """One line below the cell, replaced in place: plain text, no widget, one line when saved.

    Args:
      show: IPython's display function.
    """

    def __init__(self, show: Callable[..., Any]):
        self._show = show
        self._handle: Any = None

    def report(self, report: StepReport) -> None:
        """Replaces the line."""
        shown = {"text/plain": sentence(report)}
        if self._handle is None:
            self._handle = self._show(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    def say(self, text: str) -> None:
        """Writes a line below."""
        self._show({"text/plain": text}, raw=True)

    def end(self) -> None:
        """Leaves the line; the next training starts another."""
        self._handle = None
