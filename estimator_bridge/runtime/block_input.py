"""Draws the batches of several steps at once."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.runtime.batch_source import BatchSource

__all__ = ["Block", "BlockInput"]

_raw = tf.raw_ops
_MOST_BYTES = 16 << 20


class Block(NamedTuple):
    """The batches of several steps.

    Attributes:
      count: the number of steps: a scalar, int64.
      parts: the components that a step uses, [steps, ...] each. Their first dimension is that of
        the largest block, so that XLA compiles one shape; rows from ``count`` on are zeros.
    """

    count: tf.Tensor
    parts: list[tf.Tensor]


class BlockInput:
    """Blocks of equally shaped batches, in the order of the input.

    A block has up to 32 steps, and up to 16 MB of batches. Two blocks exist at a time: one runs
    while the next one is drawn, as a list and then as one tensor. So at most 64 MB of inputs are
    held.

    Args:
      source: reads batches of static shapes; one element is a step's batch.
      iterator: the source of batches.
      numbers: the indices of the flat components that a step uses. The others are not kept.
      most: the number of steps that the call runs: a scalar, int64.

    Attributes:
      MOST_STEPS: the largest number of steps of any block.
      size: the largest number of steps of a block.
      shapes: the shapes of a block.
    """

    MOST_STEPS = 32

    def __init__(self, source: BatchSource, iterator: Any, numbers: Sequence[int], most: tf.Tensor):
        self._source, self._iterator, self._numbers, self._most = source, iterator, numbers, most
        self._specs = [source.components[i] for i in numbers]
        sizes = [s.dtype.size * math.prod(s.shape.as_list()) for s in self._specs]
        self.size = min(max(_MOST_BYTES // max(sum(sizes), 1), 1), self.MOST_STEPS)
        self.shapes = Block(
            tf.TensorShape([]), [tf.TensorShape([None]).concatenate(s.shape) for s in self._specs]
        )

    def draw(self, step_count: tf.Tensor) -> Block:
        """Draws the batches of the next block; of none at the input's end, or if none is wanted.

        Args:
          step_count: the number of steps before the block.
        """
        steps_left = self._most - step_count
        count, optionals = tf.cond(
            steps_left >= self.size, self._draw_whole, lambda: self._draw_some(steps_left)
        )
        optionals.set_shape([self.size])
        return Block(count, self._values(count, optionals))

    def batch(self, block: Block, index: int | tf.Tensor) -> list[Any]:
        """Returns the flat components of a step's batch; None for those that no step uses."""
        flat: list[Any] = [None] * len(self._source.components)
        for i, part in zip(self._numbers, block.parts):
            flat[i] = part[index]
        return flat

    def _draw_whole(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Draws as many elements as a block has steps, without a loop: it would cost more.

        Returns:
          The number of elements, fewer at the input's end, and the optionals.
        """
        optionals = [self._optional() for _ in range(self.size)]
        count = tf.cond(
            _raw.OptionalHasValue(optional=optionals[-1]),
            lambda: tf.constant(self.size, tf.int64),
            lambda: tf.add_n(
                [tf.cast(_raw.OptionalHasValue(optional=one), tf.int64) for one in optionals]
            ),
        )
        return count, tf.stack(optionals)

    def _draw_some(self, most: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Draws fewer elements: exactly those that are wanted, or those that are left."""

        def goes_on(i: tf.Tensor, has_more: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
            return has_more & (tf.cast(i, tf.int64) < most)

        def body(i: tf.Tensor, _: tf.Tensor, optionals: tf.Tensor) -> Any:
            one = self._optional()
            has_one = _raw.OptionalHasValue(optional=one)
            return i + tf.cast(has_one, tf.int32), has_one, _set(optionals, i, one)

        start = _raw.TensorListFromTensor(
            tensor=tf.stack([_raw.OptionalNone()] * self.size),
            element_shape=tf.constant([], tf.int32),
        )
        count, _, optionals = tf.while_loop(goes_on, body, (0, True, start), name="draws")
        return tf.cast(count, tf.int64), _stack(optionals, tf.TensorSpec([], tf.variant), self.size)

    def _optional(self) -> tf.Tensor:
        """Draws an element, as an optional's tensor."""
        (one,) = self._source.next_ones(self._iterator)
        return tf.nest.flatten(one, expand_composites=True)[0]

    def _values(self, count: tf.Tensor, optionals: tf.Tensor) -> list[tf.Tensor]:
        """Returns the block's parts, from its optionals."""

        def whole() -> list[tf.Tensor]:
            columns = zip(*(self._value(optionals[i]) for i in range(self.size)))
            return [tf.stack(column) for column in columns]

        def some() -> list[tf.Tensor]:
            start = [
                _raw.TensorListReserve(
                    element_shape=tf.constant(spec.shape.as_list(), tf.int32),
                    num_elements=self.size,
                    element_dtype=spec.dtype,
                )
                for spec in self._specs
            ]

            def body(i: tf.Tensor, lists: list[tf.Tensor]) -> Any:
                return i + 1, [
                    _set(array, i, v) for array, v in zip(lists, self._value(optionals[i]))
                ]

            number = tf.cast(count, tf.int32)
            _, lists = tf.while_loop(lambda i, _: i < number, body, (0, start), name="values")
            return [_stack(array, spec, self.size) for array, spec in zip(lists, self._specs)]

        def nothing() -> list[tf.Tensor]:
            return [tf.zeros([0, *spec.shape.as_list()], spec.dtype) for spec in self._specs]

        if not self._specs:
            return []
        partly = functools.partial(tf.cond, count > 0, some, nothing)
        return tf.cond(tf.equal(count, self.size), whole, partly)

    def _value(self, optional: tf.Tensor) -> list[tf.Tensor]:
        """Returns the components that a step uses, of an optional that has a value."""
        components = self._source.components
        flat = _raw.OptionalGetValue(
            optional=optional,
            output_types=[spec.dtype for spec in components],
            output_shapes=[spec.shape for spec in components],
        )
        return [flat[i] for i in self._numbers]


def _set(array: tf.Tensor, i: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    return _raw.TensorListSetItem(input_handle=array, index=i, item=value)


def _stack(array: tf.Tensor, spec: tf.TensorSpec, size: int) -> tf.Tensor:
    """Returns a list as one tensor; zeros where nothing was put."""
    return _raw.TensorListStack(
        input_handle=array,
        element_shape=tf.constant(spec.shape.as_list(), tf.int32),
        element_dtype=spec.dtype,
        num_elements=size,
    )
