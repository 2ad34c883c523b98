"""Positions in random streams that a training's steps and its session's runs share."""

from __future__ import annotations

from collections.abc import Collection, Iterable

__all__ = ["RandomPositions"]


class RandomPositions:
    """Counts how often each random operation ran, in steps and beside them.

    Attributes:
      steps: number of loop steps that have run: random operations continue after them.
      runs: number of session runs with random operations.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.runs = 0
        self._draws: dict[str, int] = {}  # by operation, how often session runs computed it
        self._in_steps: set[str] = set()  # operations that steps compute too

    def take(self, names: Collection[str]) -> int:
        """Returns the position of a session's run, which its operations then have used.

        Args:
          names: the run's random operations. Those that run together share one position, at least
            that of each of them.
        """
        position = max(
            (self._draws.get(name, 0) + self._steps_of(name) for name in names), default=0
        )
        if names:
            self.runs += 1
        for name in names:
            self._draws[name] = position + 1 - self._steps_of(name)
        return position

    def drawn_beside(self, names: Iterable[str]) -> int:
        """Returns how often session runs outside the steps computed a step's random operations.

        Args:
          names: names of the operations. From now on the session's runs draw after the steps.
        """
        self._in_steps.update(names)
        return max((self._draws.get(name, 0) for name in names), default=0)

    def _steps_of(self, name: str) -> int:
        return self.steps if name in self._in_steps else 0
