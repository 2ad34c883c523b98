"""One step of a traced graph, without a loop around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.runtime.prepared_step import WatchedStep
from estimator_bridge.runtime.step_values import LoopResult
from estimator_bridge.tensorflow_private.datasets import drawn_by
from estimator_bridge.tensorflow_private.eager import flat_call
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["SingleStep"]


class SingleStep:
    """A compiled step on one replica, for hooks that are called at each step.

    The batch is drawn before the call and passed to it, so the step needs no branch for the input's
    end. TensorFlow takes longer to compile a branch than all the rest of a small step.

    Args:
      step: the step to run.
      fed: the specs of the values that each call supplies.
      runs_in_blocks: first steps that the loop runs, as compiling them here takes longer.
    """

    def __init__(self, step: WatchedStep, fed: Sequence[tf.TensorSpec], runs_in_blocks: int = 0):
        self._step, self._fed, self._runs_in_blocks = step, fed, runs_in_blocks
        self._is_random = step.run.is_random
        self._iterator: Any = None
        self._draw: Callable[[], list[tf.Tensor]] | None = None
        self._specs: list[Any] | None = None  # of the flat components that the function takes
        self._call: Callable[..., list[Any]] | None = None

    def takes_next(self) -> bool:
        """Returns whether the next single step is to run here, and counts it."""
        self._runs_in_blocks -= 1
        return self._runs_in_blocks < 0

    def is_compiled_for(self, iterator: Any) -> bool:
        """Whether the step of this iterator has run here before."""
        return self._call is not None and self._iterator is iterator

    def __call__(self, iterator: Any, rng_step: int, fed: Sequence[tf.Tensor]) -> LoopResult:
        """Runs the step; see ``StepLoop``.

        Args:
          iterator: an iterator of an eager dataset; one of other elements compiles the step again.
          rng_step: the position in the random streams.
          fed: the fed values.
        """
        if self._call is None or self._draw is None or self._iterator is not iterator:
            self._draw, self._call = drawn_by(iterator), self._compile(iterator)
            self._iterator = iterator
        try:
            tensors = [*self._draw(), *fed]
        except StopIteration:
            return LoopResult(0, True, None, None, None)
        if self._is_random:  # to enter these contexts costs a small step percents
            with eager_mode(), tf.device(host_device()):
                tensors.insert(0, tf.constant(rng_step, tf.int64))
        limit_value, *values = self._call(*tensors)
        loss = float(values.pop(0)) if self._step.loss else None
        return LoopResult(
            steps=1,
            input_ended=False,
            loss=loss,
            fetch_values=dict(zip(self._step.fetches.refs, values)),
            short_batch=None,
            limit_value=int(limit_value) if self._step.counter else None,
        )

    def _compile(self, iterator: Any) -> Callable[..., list[Any]]:
        specs = tf.nest.flatten(iterator.element_spec, expand_composites=True)
        if self._call is not None and specs == self._specs:
            return self._call
        number = [tf.TensorSpec([], tf.int64)] if self._is_random else []
        function = tf.function(self._trace, autograph=False)
        self._step.run.check_ready()
        with eager_mode(), tf.device(host_device()):
            self._specs = specs
            return flat_call(function.get_concrete_function(*number, *specs, *self._fed))

    def _trace(self, *tensors: tf.Tensor) -> list[Any]:
        rng_step, tensors = (tensors[0], tensors[1:]) if self._is_random else (0, tensors)
        assert self._specs is not None  # set before tracing
        count, step = len(self._specs), self._step
        loss, needs = step([list(tensors[:count])], rng_step, tensors[count:])
        values = [*([loss] if step.loss else []), *step.fetches.compute(needs)]
        return [step.read_counter() if step.counter else tf.constant(0, tf.int64), *values]
