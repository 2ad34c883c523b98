"""Reads the batches of several steps at once, by TensorFlow, as NumPy arrays for JAX."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.runtime.batch_source import BatchSource, batch_source_of
from estimator_bridge.runtime.block_input import BlockInput
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.tensorflow_private.eager import flat_call
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["BlockReader", "ReadBlock"]


class ReadBlock(NamedTuple):
    """The batches of several steps.

    Attributes:
      steps: their number.
      parts: the components that a step uses, [steps, ...] each, of the global batches.
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


@dataclasses.dataclass
class _Reading:
    """What reads batches from iterators of one kind.

    Attributes:
      source: the kind.
      some: reads any number of batches, in a loop.
      many: reads ``many_size`` batches without a loop, which takes half the time; None before they
        are wanted.
      many_size: their number.
    """

    source: BatchSource
    some: Callable[..., Any]
    many: Callable[..., Any] | None = None
    many_size: int = BlockInput.MOST_STEPS


class BlockReader:
    """Reads blocks from iterators of one kind of input.

    Args:
      layout: the layout of a batch.
      numbers: the indices of the flat components that a step uses.
    """

    def __init__(self, layout: BatchLayout, numbers: Sequence[int]):
        self._layout, self._numbers = layout, list(numbers)
        self._traced: list[_Reading] = []
        self._readings: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def __call__(self, iterator: Any, steps: int) -> ReadBlock:
        """Reads the batches of up to ``steps`` steps, at least one, and nothing beyond them."""
        reading, drawn_from = self._reading(iterator)
        blocks: list[ReadBlock] = []
        left = steps
        with eager_mode(), tf.device(host_device()):
            flat = tf.nest.flatten(drawn_from, expand_composites=True)
            if left >= reading.many_size and self._is_static(reading.source):
                if reading.many is None:
                    self._trace_many(reading, drawn_from)
                while left >= reading.many_size and not (blocks and blocks[-1].has_ended):
                    blocks.append(self._read_many(reading, flat))
                    left -= blocks[-1].steps
            if left and not (blocks and blocks[-1].has_ended):
                blocks.append(self._read_some(reading, flat, left))
        return _concatenate(blocks)

    @staticmethod
    def _read_many(reading: _Reading, drawn_from: list[tf.Tensor]) -> ReadBlock:
        assert reading.many is not None
        number, *parts = reading.many(*drawn_from)
        count = int(number)
        arrays = [_array(part)[:count] for part in parts]
        return ReadBlock(count, arrays, count < reading.many_size, None)

    def _read_some(self, reading: _Reading, drawn_from: list[tf.Tensor], steps: int) -> ReadBlock:
        flat = reading.some(*drawn_from, tf.constant(steps, tf.int64))
        count, has_next, short_size = (int(value) for value in flat[:3])
        parts = [_array(part) for part in flat[3 : 3 + len(self._numbers)]]
        rest = list(flat[3 + len(self._numbers) :])
        short = [part[:short_size] for part in rest] if short_size else None
        has_ended = count < steps and not has_next and not short_size
        return ReadBlock(count, parts, has_ended, short)

    def _reading(self, iterator: Any) -> tuple[_Reading, Any]:
        """Returns what reads from iterators of this kind, and what it takes."""
        if iterator in self._readings:
            return self._readings[iterator]
        with eager_mode(), tf.device(host_device()):
            source, drawn_from = batch_source_of(iterator, 1, None, False)
            reading = next((one for one in self._traced if one.source.key == source.key), None)
            if reading is None:
                reading = _Reading(source, self._trace_some(source, drawn_from))
                self._traced.append(reading)
        self._readings[iterator] = reading, drawn_from
        return reading, drawn_from

    def _is_static(self, source: BatchSource) -> bool:
        """Returns whether all batches have the same shapes, which are known."""
        specs = (source.components[i] for i in self._numbers)
        return self._layout.full_batch is None and all(s.shape.is_fully_defined() for s in specs)

    def _trace_some(self, source: BatchSource, drawn_from: Any) -> Callable[..., Any]:
        traced = tf.function(lambda it, steps: self._read(source, it, steps), autograph=False)
        number = tf.TensorSpec([], tf.int64)
        return flat_call(traced.get_concrete_function(drawn_from, number))

    def _trace_many(self, reading: _Reading, drawn_from: Any) -> None:
        def read_block(iterator: Any) -> list[tf.Tensor]:
            most = tf.constant(BlockInput.MOST_STEPS, tf.int64)
            blocks = BlockInput(reading.source, iterator, self._numbers, most)
            reading.many_size = blocks.size
            block = blocks.draw(tf.constant(0, tf.int64))
            return [block.count, *block.parts]

        traced = tf.function(read_block, autograph=False)
        reading.many = flat_call(traced.get_concrete_function(drawn_from))

    def _read(self, source: BatchSource, iterator: Any, steps: tf.Tensor) -> list[tf.Tensor]:
        """Traces the reading of a block; an element is drawn only if its step is wanted."""
        full = self._layout.full_batch
        specs = source.components[1:] if full is not None else source.components
        arrays = [
            tf.TensorArray(specs[i].dtype, 0, dynamic_size=True, clear_after_read=False)
            for i in self._numbers
        ]

        def draw(is_wanted: tf.Tensor) -> list[Any]:
            return tf.cond(is_wanted, lambda: source.next_ones(iterator), source.nothing)

        def size_of(optionals: list[Any]) -> tf.Tensor:  # of a batch that is short; else 0
            zero = tf.constant(0, tf.int64)
            if full is None:
                return zero

            def size() -> tf.Tensor:
                number = tf.cast(optionals[0].get_value()[0], tf.int64)
                return tf.where(tf.equal(number, full), zero, number)

            return tf.cond(optionals[0].has_value(), size, lambda: zero)

        def goes_on(i: tf.Tensor, optionals: list[Any], short: tf.Tensor, *_: Any) -> tf.Tensor:
            return source.has_batch(optionals) & (i < steps) & tf.equal(short, 0)

        def body(i: tf.Tensor, optionals: list[Any], _: tf.Tensor, arrays: list[Any]) -> Any:
            batch, row = (
                _components(optionals[0].get_value(), full is not None),
                tf.cast(i, tf.int32),
            )
            new_arrays = [a.write(row, batch[index]) for a, index in zip(arrays, self._numbers)]
            following = draw(i + 1 < steps)
            return i + 1, following, size_of(following), new_arrays

        first = draw(steps > 0)
        start = tf.constant(0, tf.int64), first, size_of(first), arrays
        count, optionals, short, arrays = tf.while_loop(
            goes_on, body, start,
            shape_invariants=(
                tf.TensorShape([]), source.specs, tf.TensorShape([]),
                [tf.TensorShape(None)] * len(arrays),
            ),
            name="batches",
        )  # fmt: skip
        stacked = [
            tf.cond(count > 0, array.stack, lambda dtype=array.dtype: _none(dtype))
            for array in arrays
        ]
        flags = [count, tf.cast(source.has_batch(optionals), tf.int64), short]
        rest = [] if full is None else self._short(optionals, short, specs)
        return [*flags, *stacked, *rest]

    @staticmethod
    def _short(optionals: list[Any], short: tf.Tensor, specs: Sequence[Any]) -> list[tf.Tensor]:
        return tf.cond(
            short > 0,
            lambda: _components(optionals[0].get_value(), True),
            lambda: [tf.zeros(spec.shape, spec.dtype) for spec in specs],
        )


def _concatenate(blocks: Sequence[ReadBlock]) -> ReadBlock:
    """Returns blocks that follow each other as one."""
    if len(blocks) == 1:
        return blocks[0]
    nonempty = [block for block in blocks if block.steps] or blocks[:1]
    parts = [np.concatenate(column) for column in zip(*(block.parts for block in nonempty))]
    last = blocks[-1]
    return ReadBlock(sum(block.steps for block in blocks), parts, last.has_ended, last.short_batch)


def _array(tensor: tf.Tensor) -> np.ndarray:
    """Returns a tensor's values, without a copy where its type has a buffer."""
    try:
        return np.asarray(memoryview(tensor))
    except (BufferError, TypeError, ValueError):
        return tensor.numpy()


def _components(element: Any, is_sized: bool) -> list[tf.Tensor]:
    flat = tf.nest.flatten(element, expand_composites=True)
    return flat[1:] if is_sized else flat


def _none(dtype: tf.DType) -> tf.Tensor:
    return tf.zeros([0], dtype)
