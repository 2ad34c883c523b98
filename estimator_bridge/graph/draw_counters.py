"""The variables in which a step counts its draws, where that number depends on values.

No checkpoint has them, as the original had none. A hook may save them beside one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

__all__ = ["DrawCounters"]


class DrawCounters:
    """The counters of one graph by variable, and what they begin at: zero, if not set."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._first: dict[str, np.ndarray] = {}

    @property
    def names(self) -> list[str]:
        """The variables, in a fixed order."""
        return sorted(self._sizes)

    def begin_at(self, values: Mapping[str, np.ndarray]) -> None:
        """Sets what counters begin at that are made from now on.

        Args:
          values: by variable, int64 [replicas of this process, draws].
        """
        self._first = dict(values)

    def add(self, name: str, copies: Sequence[tf.Variable]) -> None:
        """Assigns a new counter its first value, eagerly.

        Args:
          name: the variable.
          copies: its copies of the replicas, or one that stands for all of them.
        """
        size = self._sizes[name] = int(copies[0].shape[0])
        first = self.first(name)
        for i, copy in enumerate(copies):
            copy.assign(np.zeros([size], np.int64) if first is None else first[i])

    def first(self, name: str) -> np.ndarray | None:
        """Returns what a counter began at on each replica; None if at zero, or if it is none."""
        values = self._first.get(name)
        is_same = values is not None and values.shape[1] == self._sizes.get(name)
        return values if is_same else None  # the model may have other loops now
