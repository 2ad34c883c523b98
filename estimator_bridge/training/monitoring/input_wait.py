"""Measures how long steps wait for their input, without a single operation more in a step.

Now and then, a few steps run on batches that are already in memory. Their pace is that of a step
that never waits. The share of waiting is what the other steps need beyond it.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.graph.elements_ahead import ElementsAhead
from estimator_bridge.runtime import LoopResult, StepLoop
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.monitoring.drawn_batches import DrawnBatches

__all__ = ["InputWait", "MeasuredLoop"]

_SAMPLE_SECS = 0.1  # of steps on batches in memory; the start of a call takes about 1 ms
_MOST_STEPS = 1000
_MOST_BYTES = 256 << 20
_COST = 1 / 300  # the largest share of the time that samples may take, beyond the first ones
_FIRST_SECS = 0.5  # that the first samples may take: short trainings need several, too
_LEAST_COST = 0.1  # of a sample's time: a difference of two measured paces may be too low
_SAMPLES = 5  # the last ones count: a machine's pace changes


class InputWait:
    """The paces of steps: on the training's input, and on batches in memory.

    Args:
      batch_bytes: the size of a step's batches.
      elements: the elements of the input in a step.
      clock: returns the time in seconds.
    """

    def __init__(
        self,
        batch_bytes: int,
        elements: int = 1,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self._most = int(min(max(_MOST_BYTES // max(batch_bytes, 1), 1), _MOST_STEPS))
        self.elements, self.clock = elements, clock
        self._steps, self._secs = 0, 0.0
        self._ready: deque[float] = deque(maxlen=_SAMPLES)  # seconds a step, of each sample
        self._ready_guess: float | None = None
        self._start_time, self._cost_secs, self._pace = clock(), 0.0, 0.0

    def observe(self, steps: int, secs: float) -> None:
        """Notes the time of steps on the training's input."""
        self._steps += steps
        self._secs += secs
        self._pace = self._secs / self._steps if self._steps else 0.0

    def observe_ready(self, steps: int, secs: float, cost: float, of_steps: int) -> None:
        """Notes a sample.

        Args:
          steps: the number of its steps.
          secs: their time, on batches in memory.
          cost: the time that drawing the batches took.
          of_steps: the number of steps of the call that it ended.
        """
        if not steps:
            return
        if self._ready_guess is not None:  # the first draw also builds functions, once
            self._cost_secs += max(cost + secs - steps * self._pace, _LEAST_COST * secs)
        self._ready_guess = secs / steps
        if secs < _SAMPLE_SECS / 2 and steps < min(self._most, of_steps // 2):
            return  # too short beside the start of a call: a longer one comes next
        self._ready.append(self._ready_guess)

    def steps_to_sample(self, steps: int) -> int:
        """Returns how many of a call's last steps to run on batches in memory; often 0.

        At least half of the steps run on the input: their pace is what a sample is compared with.
        """
        if (
            not self._pace
            or self._cost_secs > _FIRST_SECS + (self.clock() - self._start_time) * _COST
        ):
            return 0
        each = self._ready_guess or self._pace
        return min(max(math.ceil(_SAMPLE_SECS / max(each, 1e-9)), 1), self._most, steps // 2)

    def share(self) -> float | None:
        """Returns the share of waiting since the last call of this; None if nothing is known."""
        if not self._ready or not self._steps or self._secs <= 0:
            return None
        pace = self._secs / self._steps
        self._steps, self._secs = 0, 0.0
        return min(max(1 - statistics.median(self._ready) / pace, 0.0), 1.0)

    @property
    def ready_steps_per_sec(self) -> float | None:
        """The pace of steps that do not wait."""
        return 1 / statistics.median(self._ready) if self._ready else None


class MeasuredLoop:
    """A step loop whose calls are measured.

    Args:
      loop: the loop.
      wait: takes the measurements.
      batches: draws batches into memory.
      ahead: what the steps have drawn ahead of the input.
    """

    def __init__(
        self,
        loop: StepLoop,
        wait: InputWait,
        batches: DrawnBatches,
        ahead: ElementsAhead | None = None,
    ):
        self._ahead = ahead or ElementsAhead()
        self._loop, self._wait, self._batches = loop, wait, batches
        self.request, self.sums = loop.request, loop.sums
        self.has_effects, self.draws_more = loop.has_effects, loop.draws_more
        self.names = loop.names
        self._is_compiled = False

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
        samples = 0
        if self._is_compiled and self._may_sample(iterator, steps):
            samples = self._wait.steps_to_sample(steps)
        # Samples are drawn from the iterator: now, or once steps have taken what is ahead of it.
        self._ahead.is_paused = samples > 0
        if samples > steps - self._ahead.count:
            samples = 0
        if samples < steps:
            begin_time = self._wait.clock()
            result = self._loop(iterator, steps - samples, rng_step, limit, fed, start, singly)
            if steps > 1:  # the first call compiles; a single step may be a function apart
                if self._is_compiled:
                    self._wait.observe(result.steps, self._wait.clock() - begin_time)
                self._is_compiled = True
            if not samples or not _goes_on(result, steps - samples, samples, limit):
                return result
            step_count = result.steps
        else:
            step_count = 0
        begin = rng_step if start is None else start
        last = self._run_sample(iterator, samples, steps, rng_step + step_count, limit, fed, begin)
        return last._replace(
            steps=step_count + last.steps,
            loss=last.loss if last.steps or not step_count else result.loss,
            limit_value=last.limit_value if last.steps or not step_count else result.limit_value,
        )

    def _may_sample(self, iterator: Any, steps: int) -> bool:
        """Whether other batches may take the input's place: a single step may be a function apart.

        Fetches that change state run in calls of their own.
        """
        is_plain = isinstance(iterator, tf.data.Iterator)
        return is_plain and steps > 1 and not (self.has_effects or self.draws_more)

    def _run_sample(
        self,
        iterator: Any,
        steps: int,
        of_steps: int,
        rng_step: int,
        limit: int | None,
        fed: Sequence[np.ndarray],
        start: int,
    ) -> LoopResult:
        begin_time = self._wait.clock()
        # Datasets put their functions into the default graph too; the model's is finalized.
        with tf.Graph().as_default(), eager_mode(), tf.device(host_device()):
            batches = self._batches.draw(iterator, steps * self._wait.elements)
        drawn_at = self._wait.clock()
        result = self._loop(batches, steps, rng_step, limit, fed, start, False)
        end_time = self._wait.clock()
        self._wait.observe_ready(result.steps, end_time - drawn_at, drawn_at - begin_time, of_steps)
        return result


def _goes_on(result: LoopResult, steps: int, further: int, limit: int | None) -> bool:
    """Whether further steps may follow a call that was to run ``wanted``."""
    if result.steps < steps or result.input_ended:
        return False
    if result.loss is not None and math.isnan(result.loss):
        return False
    limit_value = result.limit_value
    return limit is None or limit_value is None or limit - limit_value >= further
