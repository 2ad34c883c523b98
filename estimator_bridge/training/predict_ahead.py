"""Prediction of several batches in one call of the compiled loop.

A call costs more than a small model's step. Batches may be computed before they are asked for only
where nobody can tell: no hook looks on, the model changes nothing, and the input depends on nothing
outside of itself. A generator, for one, may wait for the caller to have seen the last prediction.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import continue_trace
from estimator_bridge.graph.fetches import Fetches
from estimator_bridge.runtime import StepLoop, StepOutputs
from estimator_bridge.tensorflow_private import eager_mode
from estimator_bridge.training.hooked_loop import ENDS
from estimator_bridge.training.pace import Pace
from estimator_bridge.training.program import Program

__all__ = ["LoopAhead", "loop_ahead"]

_SECONDS = 0.2  # of work that a caller who stops listening has not asked for
_BYTES = 1 << 25  # of outputs that wait to be asked for
_FAIL = 2  # ExternalStatePolicy.FAIL, as the kernel knows it


class LoopAhead:
    """A loop that hands over what each of its steps computed.

    Args:
      program: traced for prediction.
      fetches: of each step.
      loop: hands them to ``outputs``.
      outputs: of the steps.
    """

    def __init__(self, program: Program, fetches: Fetches, loop: StepLoop, outputs: StepOutputs):
        self._program, self._fetches = program, fetches
        self._loop, self._outputs = loop, outputs

    def batches(self, iterator: Any) -> Iterator[dict[str, Any]]:
        """The outputs of each batch; an error comes after those of the batches before it."""
        pace, most = Pace(seconds=_SECONDS), 1
        done, ended, error = 0, False, None
        while not ended:
            steps = min(pace.steps(), most)
            started = time.perf_counter()
            with continue_trace(self._program.graph, self._program.execution.shards):
                try:
                    result = self._loop(iterator, steps, done, singly=False)
                    ended = result.input_ended
                    pace.observe(result.steps, time.perf_counter() - started)
                except ENDS:
                    ended = True
                except tf.errors.OpError as failed:
                    ended, error = True, failed
            taken = self._outputs.take()
            done += len(taken)
            if taken:
                most = max(1, _BYTES // max(1, sum(map(_size, taken[-1]))))
            for values in taken:
                yield self._fetches.build(values)
        if error is not None:
            raise error


def loop_ahead(program: Program, outputs: Mapping[str, Any], iterator: Any) -> LoopAhead | None:
    """The loop for a prediction that may run ahead of its caller; None if it must not.

    Args:
      program: traced for prediction, without hooks.
      outputs: what is wanted of each batch.
      iterator: of the input, new.
    """
    execution = program.execution
    fetches = Fetches(program.graph, dict(outputs))
    tensors = [program.graph.as_graph_element(ref) for ref in fetches.refs]
    if (
        execution.strategy.num_replicas_in_sync > 1
        or execution.full_batch(program.input, program.mode) is not None
        or program.traced.valid_size is not None
        or program.traced.host is not None
        or any(tensor.dtype in (tf.resource, tf.variant) for tensor in tensors)
        or not _stands_alone(iterator)
    ):
        return None
    loop, step_outputs = program.kept_loop_with_outputs(fetches.refs)
    return None if loop.has_effects else LoopAhead(program, fetches, loop, step_outputs)


def _stands_alone(iterator: Any) -> bool:
    """Whether an input draws on no state but its own: no generator, queue, variable, clock."""
    with eager_mode():
        try:
            tf.raw_ops.SerializeIterator(
                resource_handle=iterator._iterator_resource, external_state_policy=_FAIL
            )
        except tf.errors.OpError:
            return False
    return True


def _size(value: np.ndarray) -> int:
    if value.dtype == object:  # strings
        return sum(map(len, value.flat))
    return value.nbytes
