"""Runs steps in blocks, while TensorFlow reads the next block's batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import NotOnJaxError
from estimator_bridge.graph.elements_ahead import ElementsAhead
from estimator_bridge.runtime.block_input import BlockInput
from estimator_bridge.runtime.on_jax.block_reader import BlockReader, ReadBlock
from estimator_bridge.runtime.on_jax.program import Results, whole_sharding
from estimator_bridge.runtime.on_jax.shared_step import SharedStep
from estimator_bridge.runtime.on_jax.step import JaxStep, padded_block
from estimator_bridge.runtime.on_jax.values import JaxValues
from estimator_bridge.runtime.step_values import LoopResult
from estimator_bridge.runtime.workers import workers_of

__all__ = ["Blocks"]

_NO_LIMIT = 1 << 62
# A call's first block is read before anything runs, so a call has several.
_BLOCKS_OF_CALL, _LEAST_STEPS = 8, BlockInput.MOST_STEPS


class Blocks:
    """Runs any number of a step's steps.

    A NaN in the loss ends the steps. The batches of its block, and of the block after it, are lost.
    If nobody can notice it, a call ends with the first batches of the next one read and placed.
    A batch of an input that must not be read ahead is a block of its own, drawn after the step
    before. Of several processes, each reads its own part of each batch. Before each block they
    agree on how many batches all of them have: the steps end where the first input does.

    Args:
      step: the step.
    """

    def __init__(self, step: JaxStep):
        self._step = step
        self._reader = BlockReader(step.layout, step.run.used_inputs)
        self._values = _values_of(step)
        self._shared_step: SharedStep | None = None
        self._usual = 1  # the steps of a block, as the last call had them
        self._sizes: list[int] = []  # of the blocks for which the program is compiled

    def __call__(
        self,
        iterator: Any,
        steps: int,
        position: int,
        limit: int | None,
        fed: Sequence[np.ndarray],
    ) -> LoopResult:
        """Runs up to ``steps`` steps; see ``StepLoop``."""
        step, host = self._step, self._step.host
        left = self._left(limit)
        most = min(steps, left)
        results, step_count, block = [step.program.start()], 0, None
        host.begin()
        usual = self._usual = min(step.steps_of_block, _usual_block(most))
        ahead = self._ahead(iterator)
        left_ahead, is_in_order = self._agreed_input(ahead)
        while step_count < most:
            if is_in_order and self._is_nan(results[-1:]):  # which waits for the step
                break
            size = 1 if is_in_order else _first_block(most - step_count, usual)
            if left_ahead:  # the first of them are placed
                size = min(usual, most - step_count, left_ahead)
                left_ahead -= size
            block = self._agreed(self._read(iterator, size, ahead), size)
            if block.steps:
                parts = self._placed(block)
                result = self._start(block.steps, parts, position + step_count, results[-1], fed)
                results.append(result)
                if host.is_needed:
                    self._wait(result)
                    each = [np.asarray(rows) for rows in result.each]
                    host(each, int(result.steps), position + step_count, fed)
            step_count += block.steps
            if block.steps < size or self._is_nan(results[-2:-1]):
                break
            if not step.is_counted:
                most = min(most, step_count + min(steps - step_count, self._left(limit)))
        if ahead is not None and step_count == steps < left and step.counter is not None:
            self._read_ahead(ahead, iterator, min(usual, steps))
        self._wait(results[-1])
        ran = sum(int(result.steps) for result in results)
        has_ended = block is not None and ran == step_count
        fetch_values = None
        if ran == steps:
            last = [np.asarray(one.addressable_data(0))[0] for one in results[-1].last]
            fetch_values = host.fetch_values(last)
        return LoopResult(
            steps=ran,
            input_ended=bool(has_ended and block and block.has_ended),
            loss=float(results[-1].loss) if ran and step.loss else None,
            fetch_values=fetch_values,
            short_batch=block.short_batch if block and has_ended else None,
            limit_value=self._count() if step.counter else None,
        )

    def _is_nan(self, results: Sequence[Results]) -> bool:
        """Returns whether the loss before the block that runs is NaN, which ended the steps."""
        if not self._step.loss:
            return False
        for one in results:
            self._wait(one)
        return any(math.isnan(float(one.loss)) for one in results)

    def _wait(self, result: Results) -> None:
        """Waits for results that need other processes, which may be lost meanwhile."""
        processes = self._step.strategy.processes
        if processes is not None and result.is_started:
            processes.wait([result.steps, result.loss, *result.last, *result.each])

    def _agreed_input(self, ahead: ElementsAhead | None) -> tuple[int, bool]:
        """Returns how many batches all processes have drawn ahead, and whether any must not.

        Raises:
          NotOnJaxError: the processes have different steps, and would wait for each other forever.
        """
        source = self._step.session.input
        is_in_order = source is not None and source.is_in_order
        count = ahead.count if ahead is not None else 0
        workers = workers_of(self._step.strategy)
        if workers.count == 1:
            return count, is_in_order
        if self._shared_step is None:
            self._shared_step = SharedStep(self._step)
        numbers = [-count, int(is_in_order), *self._shared_step.numbers]
        fewest, in_order, *largest = workers.largest(numbers)
        self._shared_step.check(largest, workers)
        return -fewest, bool(in_order)

    def _agreed(self, block: ReadBlock, size: int) -> ReadBlock:
        """Returns the steps of a block for which each process has a batch.

        Args:
          block: the batches of this process.
          size: the number of steps that all of them asked for.
        """
        workers = workers_of(self._step.strategy)
        if workers.count == 1:
            return block
        (missing,) = workers.largest([size - block.steps])
        parts = [part[: size - missing] for part in block.parts]
        return ReadBlock(size - missing, parts, missing > 0)

    def _count(self) -> int:
        assert self._step.counter is not None
        return self._values.number(self._step.counter, self._step.session.resources)

    def _left(self, limit: int | None) -> int:
        """Returns how many steps the counter leaves to run."""
        if self._step.counter is None or limit is None:
            return _NO_LIMIT
        return limit - self._count()

    def _ahead(self, iterator: Any) -> ElementsAhead | None:
        """Returns what is drawn ahead of an iterator; None if somebody could notice."""
        source = self._step.session.input
        if source is None or not source.ahead.is_allowed or source.iterator is not iterator:
            return None
        return source.ahead

    def _read(self, iterator: Any, size: int, ahead: ElementsAhead | None) -> ReadBlock:
        """Reads batches, after those that are there already."""
        elements = ahead.take(size) if ahead is not None else None
        if elements is None:
            return self._reader(iterator, size)
        parts = [elements.columns[i] for i in self._step.run.used_inputs]
        first = ReadBlock(elements.size, parts, elements.has_ended, placed=elements.placed)
        if first.steps == size or first.has_ended:
            return first
        return first.followed_by(self._reader(iterator, size - first.steps))

    def _read_ahead(self, ahead: ElementsAhead, iterator: Any, size: int) -> None:
        """Draws the first batches of the next call, and places them, while the last steps run.

        Other loops of the same input take them too, so they are whole.
        """
        step = self._step
        is_whole = step.run.used_inputs == list(range(step.run.inputs))
        if ahead.is_paused or not ahead.is_empty or not is_whole:
            return
        if step.layout.full_batch is not None:
            return
        try:
            block = self._reader(iterator, size)
        except tf.errors.OpError as error:
            ahead.keep_error(error)
            return
        ahead.keep(block.steps, block.parts, block.has_ended, self._placed(block))

    def _placed(self, block: ReadBlock) -> list[Any]:
        """Returns the batches of a block on the devices."""
        if not block.steps:
            return []
        if block.placed and len(block.placed[0]) == self._pad(block.steps):
            return block.placed
        return self._step.program.place(self._padded(block))

    def _start(
        self,
        count: int,
        parts: Sequence[Any],
        position: int,
        before: Results,
        fed: Sequence[np.ndarray],
    ) -> Results:
        """Starts as many steps, with batches on the devices."""
        program, size = self._step.program, self._pad(count)

        def run(fixed: Sequence[Any], updated: Sequence[Any]) -> Any:
            return program((count, size), position, before, parts, fed, fixed, updated)

        resources = self._step.session.resources
        return self._values.run(run, program.fixed, program.updated, resources)

    def _padded(self, block: ReadBlock) -> list[np.ndarray]:
        size = self._pad(block.steps)
        return [_with_rows(part, size) for part in block.parts]

    def _pad(self, count: int) -> int:
        """Returns the size of a block: one of those already compiled, or a power of two."""
        most = max(4 * count, _LEAST_STEPS)
        fitting = [size for size in self._sizes if count <= size <= most]
        if fitting:
            return min(fitting)
        usual = padded_block(self._usual)  # of the blocks that follow
        self._sizes.append(usual if count <= usual <= most else padded_block(count))
        return self._sizes[-1]


def _usual_block(steps: int) -> int:
    """Returns the steps of a block, of a call of so many steps."""
    return max(padded_block(math.ceil(steps / _BLOCKS_OF_CALL)), _LEAST_STEPS) if steps > 0 else 1


def _first_block(steps: int, usual: int) -> int:
    """Returns the steps of the next block: the first one is small, so that it is read soon."""
    return steps % usual or usual


def _with_rows(part: np.ndarray, size: int) -> np.ndarray:
    """Returns an array with rows added, of any content, up to a size."""
    if len(part) == size:
        return part
    padded = np.zeros((size, *part.shape[1:]), part.dtype)
    padded[: len(part)] = part
    return padded


def _values_of(step: JaxStep) -> JaxValues:
    """Returns the values on the devices, which all loops of a model share."""
    resources = step.session.resources
    if resources.on_device is None:
        resources.keep_on(JaxValues(whole_sharding(step.strategy.jax_devices)))
    values = resources.on_device
    if not isinstance(values, JaxValues):
        raise NotOnJaxError(f"The variables are on the devices of {type(values).__name__}.")
    return values
