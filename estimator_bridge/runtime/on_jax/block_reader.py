"""Reads the batches of several steps at once, by TensorFlow, as NumPy arrays for JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.tensorflow_private.datasets import drawn_by
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["BlockReader", "ReadBlock"]


class ReadBlock(NamedTuple):
    """The batches of several steps.

    Attributes:
      steps: their number.
      parts: the components that a step uses, [steps, ...] each, of the global batches; none for
        no steps.
      has_ended: whether the input ended before the block was full.
      short_batch: the flat components of a batch that is smaller than the others; None if the
        block does not end before one.
      placed: the parts on the devices, with rows added; None if they are not there yet.
    """

    steps: int
    parts: list[np.ndarray]
    has_ended: bool
    short_batch: list[tf.Tensor] | None = None
    placed: list[Any] | None = None

    def followed_by(self, rest: ReadBlock) -> ReadBlock:
        """Returns this block and the next one as one."""
        if not rest.steps:
            return self._replace(has_ended=rest.has_ended, short_batch=rest.short_batch)
        parts = [np.concatenate(pair) for pair in zip(self.parts, rest.parts)]
        return ReadBlock(self.steps + rest.steps, parts, rest.has_ended, rest.short_batch)


class BlockReader:
    """Reads blocks of batches, in the thread that calls it.

    A compiled function that reads several has tf.data's threads draw each of them: that takes twice
    the CPU time, of cores that may compute the steps before.

    Args:
      layout: the layout of a batch.
      numbers: the indices of the flat components that a step uses.
    """

    def __init__(self, layout: BatchLayout, numbers: Sequence[int]):
        self._full_batch, self._numbers = layout.full_batch, list(numbers)
        self._iterator: Any = None
        self._draw: Callable[[], list[tf.Tensor]] | None = None

    def __call__(self, iterator: Any, steps: int) -> ReadBlock:
        """Reads the batches of up to ``steps`` steps, at least one, and nothing beyond them.

        Args:
          iterator: of an eager dataset; with ``full_batch``, the first component of its elements is
            the size of the batch.
          steps: the number of steps.
        """
        if self._draw is None or self._iterator is not iterator:
            self._draw, self._iterator = drawn_by(iterator), iterator
        parts: list[np.ndarray] = []
        count, has_ended, short_batch = 0, False, None
        with eager_mode(), tf.device(host_device()):
            while count < steps:
                try:
                    flat = self._draw()
                except StopIteration:
                    has_ended = True
                    break
                if self._full_batch is not None:
                    size, flat = int(flat[0]), flat[1:]
                    if size != self._full_batch:
                        short_batch = [part[:size] for part in flat]
                        break
                batch = [_array(flat[i]) for i in self._numbers]
                if steps == 1:  # without a copy
                    return ReadBlock(1, [part[None] for part in batch], False)
                if not count:
                    parts = [np.empty((steps, *part.shape), part.dtype) for part in batch]
                for rows, part in zip(parts, batch):
                    rows[count] = part
                count += 1
        return ReadBlock(count, [rows[:count] for rows in parts], has_ended, short_batch)


def _array(tensor: tf.Tensor) -> np.ndarray:
    """Returns a tensor's values, without a copy where its type has a buffer."""
    try:
        return np.asarray(memoryview(tensor))
    except (BufferError, TypeError, ValueError):
        return tensor.numpy()
