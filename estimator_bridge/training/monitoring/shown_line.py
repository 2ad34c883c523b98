"""The display of one process: what it does before its first step, and the line of its steps."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

from estimator_bridge.training.monitoring.display import Display, display_here
from estimator_bridge.training.progress_reports import StepReport

__all__ = ["ShownLine", "line_of_process"]


class ShownLine:
    """Shows stages and reports where the process runs; the display is made when it is needed."""

    def __init__(self) -> None:
        self._display: Display | None = None
        self._stages: set[str] = set()

    def stage(self, text: str) -> None:
        """Shows what the process does before its next step; in a log, the first time only."""
        self._display = self._display or display_here()
        if self._display.is_live or text not in self._stages:
            self._display.stage(text)
        self._stages.add(text)

    def report(self, report: StepReport) -> None:
        """Shows the progress."""
        self._display = self._display or display_here()
        self._display.report(report)

    def say(self, text: str) -> None:
        """Writes a line that stays."""
        (self._display or display_here()).say(text)

    def end_steps(self) -> None:
        """Leaves the line of the last step."""
        if self._display is not None:
            self._display.end()

    @contextlib.contextmanager
    def displaying(self, stage: str) -> Iterator[None]:
        """Shows a stage, and ends the display with the context, if that is its outermost."""
        is_outermost = self._display is None
        self.stage(stage)
        try:
            yield
        finally:
            if is_outermost and self._display is not None:
                self._display.end()
                self._display = None


@functools.cache
def line_of_process() -> ShownLine:
    """Returns the one line that all monitors of the process share, as they share its terminal."""
    return ShownLine()
