"""Runs steps with XLA and without it for a while, and goes on with the quicker."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tensorflow.compat.v1 import logging

from estimator_bridge.runtime import LoopResult, StepLoop

__all__ = ["TrialLoop", "XlaTrial"]

_PAIRS, _MOST_PAIRS = 3, 10
_SECS = 0.5  # of each kind: shorter calls need more pairs
_ALIKE = 2.0  # calls whose numbers of steps differ by more are not compared


class XlaTrial:
    """Measures calls of compiled and of uncompiled loops in turn, and decides between them.

    The median of three to ten pairs of calls decides. A loop's first call, which compiles, does not
    count.

    Args:
      step: the kind of step, for the log.
      clock: returns the time in seconds.

    Attributes:
      choice: whether XLA compiles the further steps; None while both are measured.
    """

    def __init__(self, step: str, clock: Callable[[], float] = time.perf_counter):
        self.choice: bool | None = None
        self.clock = clock
        self._step, self._next, self._secs = step, True, 0.0
        self._last: tuple[bool, int, float] | None = None
        self._pairs: list[tuple[float, float]] = []  # seconds of a step: compiled, uncompiled

    def next_kind(self) -> bool:
        """Returns whether the next call runs compiled steps."""
        if self.choice is not None:
            return self.choice
        self._next = not self._next
        return not self._next

    def observe(self, is_compiled: bool, steps: int, secs: float) -> None:
        """Notes a call that compiled nothing.

        Args:
          is_compiled: whether its steps were compiled.
          steps: their number.
          secs: their time.
        """
        if self.choice is not None or not steps:
            return
        last, self._last = self._last, (is_compiled, steps, secs / steps)
        if last is None or last[0] == is_compiled:
            return
        if max(last[1], steps) > _ALIKE * min(last[1], steps):
            return
        self._last = None
        of_kind = {last[0]: last[2], is_compiled: secs / steps}
        self._pairs.append((of_kind[True], of_kind[False]))
        self._secs += min(last[1] * last[2], secs)
        is_enough = self._secs >= _SECS and len(self._pairs) >= _PAIRS
        if is_enough or len(self._pairs) == _MOST_PAIRS:
            self._decide()

    def _decide(self) -> None:
        self.choice = statistics.median(one / other for one, other in self._pairs) <= 1
        compiled, plain = (1 / max(statistics.median(side), 1e-9) for side in zip(*self._pairs))
        logging.info(
            "XLA: the %s step runs %.4g times a second compiled and %.4g times without; the rest "
            "runs %s.",
            self._step,
            compiled,
            plain,
            "compiled" if self.choice else "without",
        )


class TrialLoop:
    """A step loop in two kinds, compiled and not, whose calls a trial measures.

    Args:
      compiled: the loop that XLA compiles.
      plain: the same loop without XLA.
      trial: the trial of all loops of a program.
    """

    def __init__(self, compiled: StepLoop, plain: StepLoop, trial: XlaTrial):
        self._loops = {True: compiled, False: plain}
        self._trial, self._warm = trial, set[tuple[bool, bool]]()
        self.request, self.sums = plain.request, plain.sums
        self.has_effects, self.draws_more = plain.has_effects, plain.draws_more
        self.names = plain.names

    def __call__(
        self,
        iterator: Any,
        steps: int,
        rng_step: int = 0,
        limit: int | None = None,
        fed: Sequence[np.ndarray] = (),
        start: int | None = None,
        singly: bool = True,
    ) -> LoopResult:
        """Runs up to ``steps`` steps; see ``StepLoop``."""
        trial = self._trial
        kind = trial.next_kind()
        start_time = trial.clock()
        result = self._loops[kind](iterator, steps, rng_step, limit, fed, start, singly)
        if trial.choice is None:
            if (kind, steps == 1) in self._warm:
                trial.observe(kind, result.steps, trial.clock() - start_time)
            self._warm.add((kind, steps == 1))
        return result
