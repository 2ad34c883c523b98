"""Elements of an input that were drawn before the steps that use them are due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ElementsAhead", "TakenElements"]


class TakenElements(NamedTuple):
    """Elements that follow each other.

    Attributes:
      size: their number.
      columns: the flat components, [size, ...] each.
      has_ended: whether the input ended after them.
      placed: what the caller of ``keep`` made of all of them; None if these are only some.
    """

    size: int
    columns: list[np.ndarray]
    has_ended: bool
    placed: Any


class ElementsAhead:
    """Elements for the next call's steps, drawn while a call's last steps run.

    Whoever draws from the input takes these first. An error comes when its element is taken.

    Args:
      is_allowed: whether nobody can notice that elements are drawn early.

    Attributes:
      is_allowed: as given.
      is_paused: whether none are to be drawn now.
    """

    def __init__(self, is_allowed: bool = False):
        self.is_allowed, self.is_paused = is_allowed, False
        self._elements: TakenElements | None = None
        self._error: Exception | None = None

    @property
    def count(self) -> int:
        """The number of the elements."""
        return self._elements.size if self._elements else 0

    @property
    def is_empty(self) -> bool:
        """Whether the next element, error or end has to come from the input itself."""
        return self._elements is None and self._error is None

    def keep(
        self, count: int, columns: Sequence[np.ndarray], has_ended: bool, placed: Any = None
    ) -> None:
        """Keeps elements; there must be none."""
        assert self.is_empty
        if count or has_ended:
            self._elements = TakenElements(count, list(columns), has_ended, placed)

    def keep_error(self, error: Exception) -> None:
        """Keeps an error of the input, which is raised where the next element is taken."""
        self._error = error

    def take(self, most: int) -> TakenElements | None:
        """Returns up to ``most`` of the elements, which are then gone; None if there are none.

        Raises:
          Exception: the error that was elements.
        """
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        elements = self._elements
        if elements is None:
            return None
        if elements.size <= most:
            self._elements = None
            return elements
        first, rest = (
            [c[part] for c in elements.columns] for part in (slice(most), slice(most, None))
        )
        self._elements = TakenElements(elements.size - most, rest, elements.has_ended, None)
        return TakenElements(most, first, False, None)
