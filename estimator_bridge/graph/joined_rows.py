"""Joins examples to a batch. Each is copied when it comes: a generator may reuse its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["JoinedRows", "PaddedRows"]

_FIRST_ROWS = 256  # of a batch; a larger one grows, as the generator may end before


class JoinedRows:
    """Rows of equal shapes.

    Args:
      size: the most rows.

    Attributes:
      count: the number of rows so far.
    """

    def __init__(self, size: int):
        self._size, self.count = size, 0
        self._columns: list[np.ndarray] = []
        self._complaint = ""

    def fit(self, arrays: Sequence[np.ndarray]) -> bool:
        """Returns whether a row has the shapes of the rows so far."""
        return all(a.shape == column.shape[1:] for column, a in zip(self._columns, arrays))

    def put(self, arrays: Sequence[np.ndarray]) -> None:
        """Adds a row."""
        index, self.count = self.count, self.count + 1
        if not index:
            rows = min(self._size, _FIRST_ROWS)
            self._columns = [np.empty((rows, *array.shape), array.dtype) for array in arrays]
        elif index == len(self._columns[0]):
            self._columns = [_grown(column, self._size) for column in self._columns]
        for i, (column, array) in enumerate(zip(self._columns, arrays)):
            if array.shape == column.shape[1:]:
                column[index, ...] = array
            elif not self._complaint:
                self._complaint = (
                    f"Cannot batch tensors with different shapes in component {i}. First element "
                    f"had shape {list(column.shape[1:])} and element {index} had shape "
                    f"{list(array.shape)}."
                )

    def columns(self) -> list[np.ndarray]:
        """Returns the rows, joined.

        Raises:
          ValueError: rows have different shapes. It comes when the batch is full, as tf.data's.
        """
        if self._complaint:
            raise ValueError(self._complaint)
        return [column[: self.count] for column in self._columns]


class PaddedRows:
    """Rows whose sizes may differ, filled up to the longest.

    Args:
      padding: for each component, the number of its dimensions, and the value that fills it up.

    Attributes:
      count: the number of rows so far.
    """

    def __init__(self, padding: Sequence[tuple[int, Any]]):
        self._padding, self.count = padding, 0
        self._rows: list[list[np.ndarray]] = []

    def fit(self, arrays: Sequence[np.ndarray]) -> bool:
        """Returns whether a row can be added."""
        return True

    def put(self, arrays: Sequence[np.ndarray]) -> None:
        """Adds a row."""
        self._rows.append([array.copy() for array in arrays])
        self.count += 1

    def columns(self) -> list[np.ndarray]:
        """Returns the rows, joined.

        Raises:
          ValueError: a row has more or fewer dimensions than the dataset's padded shapes.
        """
        columns = zip(*self._rows)
        return [_padded(i, rows, *self._padding[i]) for i, rows in enumerate(columns)]


def _padded(component: int, rows: Sequence[np.ndarray], rank: int, value: Any) -> np.ndarray:
    for row in rows:
        if row.ndim != rank:
            raise ValueError(
                "All elements in a batch must have the same rank as the padded shape for "
                f"component{component}: expected rank {rank} but got element with rank {row.ndim}"
            )
    shape = np.max([row.shape for row in rows], axis=0).astype(int)
    column = np.full((len(rows), *shape), value, rows[0].dtype)
    for i, row in enumerate(rows):
        index: tuple[Any, ...] = (i, *map(slice, row.shape), ...)  # a view, of a number too
        column[index] = row
    return column


def _grown(column: np.ndarray, most: int) -> np.ndarray:
    larger = np.empty((min(most, 2 * len(column)), *column.shape[1:]), column.dtype)
    larger[: len(column)] = column
    return larger
