"""Finds the largest batch whose step fits the chip's memory by compiling several sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from estimator_bridge.compile_for.units import as_bytes

__all__ = ["LargestBatch", "Search", "SearchEndError", "Trial"]

_MOST_TRIALS = 24
_MOST_PER_REPLICA = 1 << 20


@dataclasses.dataclass(frozen=True)
class Trial:
    """The result of compiling a step for one batch size.

    Attributes:
      fits: whether the step compiled.
      bytes: the HBM it needs, 0 if unknown; a lower bound if it does not fit.
    """

    fits: bool
    bytes: int


@dataclasses.dataclass(frozen=True)
class LargestBatch:
    """The largest batch of a mode.

    Attributes:
      name: the name of the mode's step.
      target: the slice's name.
      size: the largest global batch that fits, divisible by the number of replicas; 0 if none fits.
      too_large: the smallest global batch known not to fit, or None.
      bytes: the HBM that the largest batch needs.
      available: the HBM in bytes that a program may use.
      trials: the number of sizes compiled.
      why_ended: the reason why the search ended before the two sizes were adjacent, or ''.
    """

    name: str
    target: str
    size: int
    too_large: int | None
    bytes: int
    available: int
    trials: int
    why_ended: str = ""

    def __str__(self) -> str:
        head = f"== {self.name} for {self.target}: "
        if self.size:
            head += (
                f"batches of {self.size:,} fit ({as_bytes(self.bytes)} of "
                f"{as_bytes(self.available)})"
            )
        else:
            head += "no batch fits"
        if self.too_large is not None:
            head += f", batches of {self.too_large:,} do not"
        count = f"{self.trials} size{'' if self.trials == 1 else 's'} compiled"
        return f"{head}; {count}{'; ' + self.why_ended if self.why_ended else ''}"


class SearchEndError(Exception):
    """A size cannot be tried, so the search ends; the message has the reason."""


@dataclasses.dataclass
class Search:
    """A search for the largest size that fits.

    Args:
      attempt: compiles a step for a size; may raise ``SearchEndError``.
      step: sizes are multiples of this.
      available: the available memory in bytes.

    Attributes:
      size: the largest size that fits; 0 if none does.
      too_large: the smallest size that does not fit, or None.
      trials: the number of sizes tried.
      why_ended: the reason why the search ended early, or ''.
    """

    attempt: Callable[[int], Trial]
    step: int
    available: int
    size: int = 0
    too_large: int | None = None
    trials: int = 0
    why_ended: str = ""
    _needs: dict[int, int] = dataclasses.field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """The bytes that the largest size needs."""
        return self._needs.get(self.size, 0)

    def run(self, start: int, most_trials: int = _MOST_TRIALS) -> None:
        """Runs the search.

        It doubles or halves the size until one fits and one does not. Memory grows about linearly
        with the batch, so the next sizes are in turn: at linear interpolation between the two,
        close to the last size, and in the middle.

        Args:
          start: the first size.
          most_trials: the maximum number of sizes to try.
        """
        first = max(start - start % self.step, self.step)
        largest = max(_MOST_PER_REPLICA * self.step, first)
        size: int | None = first
        while size is not None:
            if self.trials == most_trials:
                self.why_ended = f"the search ended after {most_trials} sizes"
                return
            try:
                trial = self.attempt(size)
            except SearchEndError as error:
                self.why_ended = str(error)
                return
            self.trials += 1
            self._needs[size] = trial.bytes
            if trial.fits:
                self.size = size
            else:
                self.too_large = size
            if self.size == largest:
                self.why_ended = "larger ones were not tried"
                return
            size = self._next(size, largest)

    def _next(self, last: int, largest: int) -> int | None:
        if self.too_large is None:
            return min(2 * last, largest)
        between = self.too_large - self.size
        if between <= self.step:
            return None
        if not self.size:
            return self._multiple(self.too_large // 2)
        turn = self.trials % 3
        if turn == 0:
            return self._multiple(self._by_line())
        if turn == 1:
            near = max(between // 16, self.step)
            return self._multiple(last + (near if last == self.size else -near))
        return self._multiple(self.size + between // 2)

    def _by_line(self) -> int:
        assert self.too_large is not None
        needs, too_much = self._needs[self.size], self._needs[self.too_large]
        between = self.too_large - self.size
        if not 0 < needs < self.available < too_much:
            return self.size + between // 2
        return self.size + int(between * (self.available - needs) / (too_much - needs))

    def _multiple(self, size: int) -> int:
        """Returns a multiple of the step between the two known sizes."""
        assert self.too_large is not None
        return min(max(size - size % self.step, self.size + self.step), self.too_large - self.step)
