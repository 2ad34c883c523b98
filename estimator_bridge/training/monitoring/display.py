"""Shows the progress of a training where the program runs: a terminal, a notebook or a log."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from estimator_bridge.base.live_line import LiveLine, is_live
from estimator_bridge.runtime.local_clusters import in_notebook
from estimator_bridge.training.monitoring.line import sentence
from estimator_bridge.training.progress_reports import StepReport

__all__ = ["Display", "LogDisplay", "NotebookDisplay", "TerminalDisplay", "display_here"]

_LINES = 10
_BAR = 20  # characters
_LONGEST_SILENCE_SECS = 30.0


class Display(Protocol):
    """Shows reports and remarks.

    Attributes:
      is_live: whether it replaces what it shows, so that a stage may be shown each time.
    """

    is_live: bool

    def stage(self, text: str) -> None:
        """Shows what the program does before its first step."""

    def report(self, report: StepReport) -> None:
        """Shows the progress."""

    def say(self, text: str) -> None:
        """Writes a line that stays."""

    def end(self) -> None:
        """Ends the display of one training: its last report stays, a stage goes."""


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
    return TerminalDisplay(stream) if is_live(stream) else LogDisplay(stream, clock)


class LogDisplay:
    """Lines for a file or a pipe: one per tenth of the run, and one every half minute.

    Args:
      stream: the output.
      clock: returns the time in seconds.
    """

    is_live = False

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        self._stream, self._clock = stream, clock
        self._last: tuple[float, int] | None = None

    def stage(self, text: str) -> None:
        """Writes a line."""
        self.say(f"{text} ...")

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
    """One live line with a bar.

    Args:
      stream: the terminal.
    """

    is_live = True

    def __init__(self, stream: TextIO):
        self._line = LiveLine(stream)
        self._last: StepReport | None = None
        self._has_colors = "NO_COLOR" not in os.environ
        encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
        self._marks = ("━", "╺", "─") if encoding.startswith("utf") else ("#", "-", "-")

    def stage(self, text: str) -> None:
        """Shows what comes before the first step, on the same line."""
        self._line.draw(f"{text} ..."[: self._line.width])

    def report(self, report: StepReport) -> None:
        """Updates the line."""
        self._last = report
        self._line.draw(self._text(report))

    def say(self, text: str) -> None:
        """Writes a line above the live one."""
        self._line.write(text)

    def end(self) -> None:
        """Leaves the line in its last state."""
        if self._last is not None:
            self._line.write(self._text(self._last))
        self._line.close()
        self._last = None

    def _text(self, report: StepReport) -> str:
        if not report.total_steps:
            return sentence(report, self._line.width)
        bar = self._bar(min(report.step / report.total_steps, 1.0))
        return f"{bar} {sentence(report, self._line.width - _BAR - 1)}"

    def _bar(self, share: float) -> str:
        full, tip, rest = self._marks
        count = int(share * _BAR)
        bar, right = full * count, (tip + rest * _BAR)[: _BAR - count]
        return f"\x1b[32m{bar}\x1b[0m\x1b[2m{right}\x1b[0m" if self._has_colors else bar + right


class NotebookDisplay:
    """One line below the cell, replaced in place: plain text, no widget, one line when saved.

    Args:
      show: IPython's display function.
    """

    is_live = True

    def __init__(self, show: Callable[..., Any]):
        self._show = show
        self._handle: Any = None
        self._is_stage = False

    def stage(self, text: str) -> None:
        """Replaces the line."""
        self._replace(f"{text} ...")
        self._is_stage = True

    def report(self, report: StepReport) -> None:
        """Replaces the line."""
        self._is_stage = False
        self._replace(sentence(report))

    def _replace(self, text: str) -> None:
        bundle = {"text/plain": text}
        if self._handle is None:
            self._handle = self._show(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def say(self, text: str) -> None:
        """Writes a line below."""
        self._show({"text/plain": text}, raw=True)

    def end(self) -> None:
        """Leaves a report's line, and removes a stage's; the next training starts another."""
        if self._is_stage:
            self._replace("")
        self._handle, self._is_stage = None, False
