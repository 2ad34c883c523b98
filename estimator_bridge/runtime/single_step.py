"""One step of a traced graph, without a loop around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.runtime.loop_result import LoopResult
from estimator_bridge.runtime.watched_step import WatchedStep
from estimator_bridge.tensorflow_private import eager_mode, flat_call

__all__ = ["SingleStep"]

_ENDED = -1  # instead of the counter's value: the input had no batch for the step


class SingleStep:
    """A compiled step on one replica, for hooks that are called at each step.

    Args:
      step: the step to run.
      fed: the specs of the values that each call supplies.
      spared: the number of first steps that the loop runs, as compiling them here takes longer.
    """

    def __init__(self, step: WatchedStep, fed: Sequence[tf.TensorSpec], spared: int = 0):
        self._step, self._fed, self._spared = step, fed, spared
        self._is_random = step.run.is_random
        # The function holds the iterator: passed as an argument, it would cost as much as all else.
        self._iterator: Any = None
        self._call: Callable[..., list[Any]] | None = None

    def takes_next(self) -> bool:
        """Returns whether the next single step is to run here, and counts it."""
        self._spared -= 1
        return self._spared < 0

    def __call__(self, iterator: Any, rng_step: int, fed: Sequence[tf.Tensor]) -> LoopResult:
        """Runs the step; see ``StepLoop``.

        Args:
          iterator: an iterator of an eager dataset; another one compiles the step again.
          rng_step: the position in the random streams.
          fed: the fed values.
        """
        if self._call is None or self._iterator is not iterator:
            self._call = self._compiled(iterator)
        given = list(fed)
        if self._is_random:  # to enter these contexts costs a small step percents
            with eager_mode(), tf.device(host_device()):
                given.insert(0, tf.constant(rng_step, tf.int64))
        reached, *values = self._call(*given)
        limit_value = int(reached)
        if limit_value == _ENDED:
            return LoopResult(0, True, None, None, None)
        loss = float(values.pop(0)) if self._step.loss else None
        return LoopResult(
            steps=1,
            input_ended=False,
            loss=loss,
            fetched=dict(zip(self._step.fetches.refs, values)),
            short_batch=None,
            limit_value=limit_value if self._step.counter else None,
        )

    def _compiled(self, iterator: Any) -> Callable[..., list[Any]]:
        number = [tf.TensorSpec([], tf.int64)] if self._is_random else []
        function = tf.function(self._traced, autograph=False)
        self._step.run.check_ready()
        with eager_mode(), tf.device(host_device()):
            self._iterator = iterator
            return flat_call(function.get_concrete_function(*number, *self._fed))

    def _traced(self, *given: tf.Tensor) -> list[Any]:
        rng_step, fed = (given[0], given[1:]) if self._is_random else (0, given)
        batch, step = self._iterator.get_next_as_optional(), self._step

        def run() -> list[Any]:
            loss, needs = step([batch.get_value()], rng_step, fed)
            values = [*([loss] if step.loss else []), *step.fetches.computed(needs)]
            return [step.counted() if step.counter else tf.constant(0, tf.int64), *values]

        def nothing() -> list[Any]:
            values = [*([tf.constant(0.0)] if step.loss else []), *step.fetches.none()]
            return [tf.constant(_ENDED, tf.int64), *values]

        return tf.cond(batch.has_value(), run, nothing)
