"""Draws the batches of several steps at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.runtime.batch_source import BatchSource

__all__ = ["Block", "BlockInput", "block_input_of"]

_raw = tf.raw_ops
_MOST_STEPS = 32
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

    Two blocks exist at a time: one runs while the next one is drawn, as a list and then as one
    tensor. With ``_MOST_BYTES`` for each of these, at most 64 MB of inputs are held.

    Args:
      source: reads batches; one element is a step's batch.
      iterator: the source of batches.
      used: the indices of the flat components that a step uses. The others are not kept.
      most: the number of steps that the call runs: a scalar, int64.

    Attributes:
      may_vary: whether batches may have several shapes.
      shapes: the shapes of a block.
      pending_shapes: the shapes of what is drawn before its block.
    """

    may_vary = False
    pending_shapes: list[Any] = []  # noqa: RUF012 - empty

    def __init__(self, source: BatchSource, iterator: Any, used: Sequence[int], most: tf.Tensor):
        self._source, self._iterator, self._used, self._most = source, iterator, used, most
        self._specs = [source.components[i] for i in used]
        self.shapes = Block(
            tf.TensorShape([]), [tf.TensorShape([None]).concatenate(s.shape) for s in self._specs]
        )

    def first(self) -> list[Any]:
        """Returns what is drawn before the first block: nothing."""
        return []

    def draw(self, pending: list[Any], done: tf.Tensor) -> tuple[Block, list[Any]]:
        """Draws the batches of the next block.

        Args:
          pending: what was drawn for it before.
          done: the number of steps before the block.

        Returns:
          The block, and what is drawn for the one after it.
        """
        wanted, size = self._most - done, self._size

        def whole() -> tuple[tf.Tensor, tf.Tensor]:
            drawn = [self._optional() for _ in range(size)]
            count = tf.cond(
                _raw.OptionalHasValue(optional=drawn[-1]),
                lambda: tf.constant(size, tf.int64),
                lambda: tf.add_n(
                    [tf.cast(_raw.OptionalHasValue(optional=one), tf.int64) for one in drawn]
                ),
            )
            return count, tf.stack(drawn)

        def rest() -> tuple[tf.Tensor, tf.Tensor]:
            none = _raw.OptionalNone()

            def goes_on(i: tf.Tensor, has_more: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
                return has_more & (tf.cast(i, tf.int64) < wanted)

            def body(i: tf.Tensor, _: tf.Tensor, drawn: tf.Tensor) -> Any:
                one = self._optional()
                has = _raw.OptionalHasValue(optional=one)
                return i + tf.cast(has, tf.int32), has, _set(drawn, i, one)

            start = _raw.TensorListFromTensor(
                tensor=tf.stack([none] * size), element_shape=tf.constant([], tf.int32)
            )
            count, _, drawn = tf.while_loop(goes_on, body, (0, True, start), name="rest")
            return tf.cast(count, tf.int64), _stacked(drawn, tf.variant, [], size)

        count, drawn = tf.cond(wanted >= size, whole, rest)
        drawn.set_shape([size])
        return Block(count, self._values(count, drawn)), pending

    def batch(self, block: Block, index: int | tf.Tensor) -> list[Any]:
        """Returns the flat components of a step's batch; None for those that no step uses."""
        flat: list[Any] = [None] * len(self._source.components)
        for i, part in zip(self._used, block.parts):
            flat[i] = part[index]
        return flat

    @property
    def _size(self) -> int:
        sizes = [s.dtype.size * int(np.prod(s.shape.as_list())) for s in self._specs]
        return min(max(_MOST_BYTES // max(sum(sizes), 1), 1), _MOST_STEPS)

    def _optional(self) -> tf.Tensor:
        """Draws an element, as an optional's tensor."""
        (one,) = self._source.next_ones(self._iterator)
        return tf.nest.flatten(one, expand_composites=True)[0]

    def _values(self, count: tf.Tensor, drawn: tf.Tensor) -> list[tf.Tensor]:
        size = self._size

        def whole() -> list[tf.Tensor]:
            columns = zip(*(self._value(drawn[i]) for i in range(size)))
            return [tf.stack(column) for column in columns]

        def rest() -> list[tf.Tensor]:
            lists = [_raw.TensorListReserve(
                element_shape=tf.constant(spec.shape.as_list(), tf.int32),
                num_elements=size, element_dtype=spec.dtype) for spec in self._specs]

            def body(i: tf.Tensor, lists: list[tf.Tensor]) -> Any:
                return i + 1, [_set(*pair) for pair in zip(lists, [i] * 9, self._value(drawn[i]))]

            number = tf.cast(count, tf.int32)
            _, lists = tf.while_loop(lambda i, _: i < number, body, (0, lists), name="values")
            return [_stacked(held, spec.dtype, spec.shape.as_list(), size)
                    for held, spec in zip(lists, self._specs)]

        def nothing() -> list[tf.Tensor]:
            return [tf.zeros([0, *spec.shape.as_list()], spec.dtype) for spec in self._specs]

        if not self._specs:
            return []
        return tf.cond(
            count == size, whole, lambda: tf.cond(count > 0, rest, nothing)
        )

    def _value(self, optional: tf.Tensor) -> list[tf.Tensor]:
        components = self._source.components
        flat = _raw.OptionalGetValue(
            optional=optional,
            output_types=[spec.dtype for spec in components],
            output_shapes=[spec.shape for spec in components],
        )
        return [flat[i] for i in self._used]


def _set(held, i, value):
    return _raw.TensorListSetItem(input_handle=held, index=i, item=value)


def _stacked(held: tf.Tensor, dtype: tf.DType, shape: list[int], size: int) -> tf.Tensor:
    return _raw.TensorListStack(
        input_handle=held,
        element_shape=tf.constant(shape, tf.int32),
        element_dtype=dtype,
        num_elements=size,
    )
