"""Prediction of several batches in one call of the compiled loop.

A call costs more than a small model's step. Batches may be computed ahead only if that has no
visible effect: there are no hooks, the model changes no state, and the input depends on nothing
else. A generator, for example, may wait until the caller has seen the last prediction.

A call that fails loses the results of its steps. They are computed again from a new iterator, step
by step, so the input has to be the same each time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.data.repeatable_datasets import is_repeatable
from estimator_bridge.graph import continue_trace
from estimator_bridge.graph.fetches import Fetches
from estimator_bridge.runtime import StepLoop
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.hooked_loop import ENDS
from estimator_bridge.training.loop_limits import LoopLimits
from estimator_bridge.training.program import Program

__all__ = ["LoopAhead", "loop_ahead"]

_SECONDS = 0.2  # of work that is lost if the caller stops early
_BYTES = 1 << 25  # of outputs computed ahead


class LoopAhead:
    """A loop that returns the outputs of each of its steps.

    Args:
      program: traced for prediction.
      fetches: the fetches of each step.
      loop: the loop that returns them.
      dataset: the input, whose iterators all give the same batches.
    """

    def __init__(self, program: Program, fetches: Fetches, loop: StepLoop, dataset: Any):
        self._program, self._fetches = program, fetches
        self._loop, self._dataset = loop, dataset

    def batches(self, iterator: Any) -> Iterator[dict[str, Any]]:
        """Yields the outputs of each batch; raises an error after the batches before it."""
        limits, most = LoopLimits(seconds=_SECONDS), 1
        batch_count, has_ended, has_failed = 0, False, False
        while not has_ended:
            steps = 1 if has_failed else min(limits.steps(), most)
            start_time = time.perf_counter()
            with continue_trace(self._program.graph, self._program.execution.shards):
                try:
                    result = self._loop(iterator, steps, batch_count, singly=False)
                except (tf.errors.OpError, *ENDS) as error:
                    if steps == 1 and isinstance(error, ENDS):
                        return
                    if steps == 1:
                        raise
                    # The results of the steps before it are lost: repeat, one at a time.
                    has_failed = True
                    with eager_mode():
                        iterator = iter(self._dataset.skip(batch_count))
                    continue
            limits.observe(result.steps, time.perf_counter() - start_time)
            batch_count, has_ended = batch_count + result.steps, result.input_ended
            if result.outputs:
                most = max(1, _BYTES // max(1, sum(map(_size, result.outputs[-1]))))
            for values in result.outputs:
                yield self._fetches.build(values)


def loop_ahead(
    program: Program, outputs: Mapping[str, Any], dataset: tf.data.Dataset, iterator: Any
) -> LoopAhead | None:
    """Returns a loop for a prediction that may run ahead of its caller; None if it must not.

    Args:
      program: traced for prediction, without hooks.
      outputs: the outputs wanted of each batch.
      dataset: the input.
      iterator: a new iterator of it.
    """
    execution = program.execution
    made_in = None if program.plan.input.is_eager else program.input.session.graph
    fetches = Fetches(program.graph, dict(outputs))
    tensors = [program.graph.as_graph_element(ref) for ref in fetches.refs]
    if (
        execution.strategy.num_replicas_in_sync > 1
        or not program.plan.input.is_self_contained
        or program.plan.layout.full_batch is not None
        or program.batch.valid_size is not None
        or program.traced.host is not None
        or any(tensor.dtype in (tf.resource, tf.variant) for tensor in tensors)
        or not is_repeatable(dataset, iterator, made_in)
    ):
        return None
    loop = program.kept_loop_with_outputs(fetches.refs)
    return None if loop.has_effects else LoopAhead(program, fetches, loop, dataset)


def _size(value: np.ndarray | bytes) -> int:
    if isinstance(value, bytes):  # a scalar string
        return len(value)
    if value.dtype == object:  # strings
        return sum(map(len, value.flat))
    return value.nbytes
