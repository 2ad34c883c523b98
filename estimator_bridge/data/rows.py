"""Columns in memory, read row by row in a predetermined order."""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf

__all__ = ["Reading", "Rows"]

_ENDLESS = 1 << 62
_BLOCK_ROWS, _BLOCK_BYTES = 2048, 1 << 20


@dataclasses.dataclass(frozen=True)
class Rows:
    """Columns of equal length, from any source.

    Attributes:
      count: the number of rows; at least 1.
      types: the types of the columns.
      shapes: the shape of a row's part in each column.
      take: returns the rows with these numbers (an int64 array), column by column.
    """

    count: int
    types: Sequence[tf.DType]
    shapes: Sequence[Sequence[int]]
    take: Callable[[np.ndarray], list[np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Reading:
    """The order in which rows are read, and their batches.

    Attributes:
      rows: the rows.
      batch_size: the rows per batch; batches cross the borders of epochs.
      epochs: the number of epochs of each reader; None for no end. The last batch may be short.
      readers: the number of readers of the same rows.
      shuffled_among: the number of rows among which the next is chosen; 1 keeps the order.
      start: the first row.
      seed: the seed of the shuffle.
    """

    rows: Rows
    batch_size: int
    epochs: int | None
    readers: int
    shuffled_among: int
    start: int
    seed: int

    @classmethod
    def make(
        cls,
        rows: Rows,
        batch_size: int,
        epochs: int | None,
        readers: int,
        shuffled_among: int,
        seeds: tuple[int, int],
    ) -> Reading:
        """Returns a reading, which starts at a random row if it is shuffled.

        Args:
          rows: see the class, as the next four.
          batch_size: see the class.
          epochs: see the class.
          readers: see the class.
          shuffled_among: see the class.
          seeds: the seeds of the graph and of the operation; two zeros stand for none.
        """
        chance = random.Random("{}/{}".format(*seeds)) if any(seeds) else random.Random()
        start = chance.randrange(rows.count) if shuffled_among > 1 else 0
        seed = chance.randrange(1, 1 << 31)
        return cls(rows, batch_size, epochs, readers, shuffled_among, start, seed)

    def chunks(self) -> Iterator[np.ndarray]:
        """Returns the row numbers of one reader, one batch at a time, not shuffled."""
        end = self._end(1)
        for first in range(0, end, self.batch_size):
            yield self._numbers(np.arange(first, min(first + self.batch_size, end)))

    def dataset(self, in_blocks: bool = True) -> tf.data.Dataset:
        """Returns the batches of all readers, eagerly: tuples of row numbers and columns.

        An element depends only on its position, so that a restored iterator continues.

        Args:
          in_blocks: whether several batches are taken at once, and then divided. A saved position
            of a dataset fits only datasets that take them alike.
        """
        end = self._end(self.readers)
        batches = max(1, self._block_rows // self.batch_size) if in_blocks else 1
        size = batches * self.batch_size
        if self.shuffled_among > 1:
            positions = tf.data.Dataset.range(end)
            positions = positions.shuffle(max(1, min(self.shuffled_among, end)), self.seed)
            is_whole = self.epochs is None and batches == 1
            positions = positions.batch(size, drop_remainder=is_whole)
        else:
            positions = tf.data.Dataset.range(0, end, size)
        dataset = positions.map(functools.partial(self._batch, end=end, size=size))
        if batches > 1:
            dataset = dataset.rebatch(self.batch_size, drop_remainder=self.epochs is None)
        return dataset.prefetch(2)

    @property
    def _block_rows(self) -> int:
        """The number of rows that are taken at once, as far as memory allows."""
        row = sum(math.prod(s) * kind.size for s, kind in zip(self.rows.shapes, self.rows.types))
        return min(_BLOCK_ROWS, _BLOCK_BYTES // max(1, row))

    def _batch(self, position: tf.Tensor, end: int, size: int) -> tuple[tf.Tensor, ...]:
        if self.shuffled_among == 1:  # the position of the first row
            position = tf.range(position, tf.minimum(position + size, end))
        numbers = (position + self.start) % self.rows.count
        kinds = list(self.rows.types)
        # Stateless; otherwise its iterator could not be saved.
        columns = tf.numpy_function(self.rows.take, [numbers], kinds, stateful=False)
        length = self.batch_size if self.epochs is None and size == self.batch_size else None
        numbers.set_shape([length])
        for column, shape in zip(columns, self.rows.shapes):
            column.set_shape([length, *shape])
        return (numbers, *columns)

    def _end(self, readers: int) -> int:
        if self.epochs is None:
            return _ENDLESS // self.batch_size * self.batch_size
        return self.rows.count * self.epochs * readers

    def _numbers(self, positions: np.ndarray) -> np.ndarray:
        return (positions + self.start) % self.rows.count
