"""Bounds the number of steps in a call of a compiled loop."""

from __future__ import annotations

__all__ = ["LoopLimits"]


class LoopLimits:
    """Bounds a call, so that clocks, signals and hooks are checked in time.

    Args:
      seconds: the longest time that a call should take.
      steps: a fixed number of steps per call, instead.
      hooks_wait: whether a hook that is due earlier waits for the end of the call; always so
        with a fixed number of steps.
      first: the number of steps of a call as long as their time is not known.

    Attributes:
      fixed: the fixed number of steps per call; None if they are bounded by time.
    """

    def __init__(
        self,
        seconds: float = 1.0,
        steps: int | None = None,
        hooks_wait: bool = False,
        first: int = 1,
    ):
        self._seconds, self.fixed, self._first = seconds, steps, first
        self.hooks_wait = hooks_wait or steps is not None
        self._rate: float | None = None
        self._is_compiled = False

    def steps(self) -> int:
        """Returns the largest number of steps for the next call."""
        if self.fixed is not None:
            return self.fixed
        return self._first if self._rate is None else max(1, int(self._rate * self._seconds))

    def observe(self, steps: int, seconds: float) -> None:
        """Notes the time of a call. The first does not count: it compiled the step."""
        if self._is_compiled and steps:
            rate = steps / max(seconds, 1e-9)
            # Short calls measure mostly the overhead of a call, so a rate may grow tenfold at once.
            self._rate = rate if self._rate is None else min(rate, 10 * self._rate)
        self._is_compiled = True
