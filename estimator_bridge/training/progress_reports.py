"""Reports the progress of training to code that displays it."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable

from estimator_bridge.training.own_hooks import ObservingHook

__all__ = ["MachineUse", "ProgressHook", "StepReport"]


@dataclasses.dataclass(frozen=True)
class MachineUse:
    """How well a training uses its machine since the previous report.

    Attributes:
      input_wait: the share of the time that steps waited for their input, from 0 to 1; None if it
        was not measured.
      flops_per_sec: floating-point operations per second of all replicas' matrix products and
        convolutions; None if they are not counted.
      matrix_share: the share of the peak rate of the chips' matrix units; None if it is unknown.
    """

    input_wait: float | None = None
    flops_per_sec: float | None = None
    matrix_share: float | None = None


@dataclasses.dataclass(frozen=True)
class StepReport:
    """The progress of training.

    Attributes:
      step: the global step.
      total_steps: the step at which training ends; None if the input's end decides.
      loss: the loss of the last step, averaged over the replicas; None before the first.
      steps_per_sec: the rate since the previous report; None if nothing was measured.
      examples_per_sec: likewise; None if the batch size is unknown.
      seconds_left: the remaining time at this rate; None if the end or the rate is unknown.
      use: how well the machine is used, if a `Monitor` measures it.
    """

    step: int
    total_steps: int | None = None
    loss: float | None = None
    steps_per_sec: float | None = None
    examples_per_sec: float | None = None
    seconds_left: float | None = None
    use: MachineUse = MachineUse()


class ProgressHook(ObservingHook):
    """Reports progress after chunks of steps, without being called around each step.

    Args:
      write: called with each StepReport.
      every_secs: seconds between calls; the first and the last step are always reported.
      clock: returns the time in seconds.
    """

    def __init__(
        self,
        write: Callable[[StepReport], None],
        every_secs: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._write = write
        self._every_secs = every_secs
        self._clock = clock
        self._last: tuple[int, float] | None = None

    def steps_until_due(self, step: int) -> float:
        """Returns infinity: no call is needed."""
        del step
        return math.inf

    def restart(self) -> None:
        """Forgets the last report: another training begins."""
        self._last = None

    def observe(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> None:
        """Notes the state after a chunk of steps."""
        is_last = total is not None and step >= total
        if self._last is None or is_last or self._clock() >= self._last[1] + self._every_secs:
            self._write(self._report(step, total, loss, examples))

    def _report(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> StepReport:
        now = self._clock()
        rate = None
        if self._last and step > self._last[0] and now > self._last[1]:
            rate = (step - self._last[0]) / (now - self._last[1])
        self._last = (step, now)
        return StepReport(
            step,
            total,
            loss,
            rate,
            examples_per_sec=rate * examples if rate and examples else None,
            seconds_left=(total - step) / rate if rate and total is not None else None,
        )
