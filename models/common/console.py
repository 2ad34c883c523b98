"""Console output of a run: messages, training progress, a closing table.

On a terminal the progress is one live line. In a log file it is one line per tenth of the run, and
at least one every half minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Callable, TextIO

from rich.console import Console as RichConsole
from rich.table import Table

from estimator_bridge.training import StepReport
from estimator_bridge.training.monitoring.display import display_here

__all__ = ["Console"]

# Larger numbers, such as a diverged loss, are written with an exponent.
_LARGE = 1e9


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
        self._display = display_here(self._stream, clock)

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
        self._display.say(text)

    def report(self, report: StepReport) -> None:
        """Shows the training progress; pass this method to a `Monitor` as its `write`."""
        self._display.report(report)

    def end_progress(self) -> None:
        """Closes the progress display of one training, which keeps its last state."""
        self._display.end()

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
            table.add_row(name, _text_of(value))
        self._rich.print(table)


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    number = float(value)  # type: ignore[arg-type]  # a number of Python's or of NumPy's
    is_whole = number.is_integer() and 1 < abs(number) < _LARGE
    return f"{number:,.0f}" if is_whole else _decimal(number)


def _decimal(number: float) -> str:
    return f"{number:.4f}" if abs(number) < _LARGE else f"{number:.4g}"
