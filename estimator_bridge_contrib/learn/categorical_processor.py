"""Rows of categories as rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from estimator_bridge_contrib.learn.vocabulary import CategoricalVocabulary

__all__ = ["CategoricalProcessor"]


class CategoricalProcessor:
    """Numbers the categories of each column of a table; NaN has the number 0.

    Args:
      min_frequency: after `fit`, categories that are not more frequent than this are unknown.
      share: whether all columns have one vocabulary.
      vocabularies: a `CategoricalVocabulary` for each column; by default empty ones.

    Attributes:
      min_frequency: as given.
      share: as given.
      vocabularies_: the vocabularies; None before the first `fit`, unless they are given.
    """

    def __init__(
        self,
        min_frequency: int = 0,
        share: bool = False,
        vocabularies: list[CategoricalVocabulary] | None = None,
    ):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze: bool = True) -> None:
        """Freezes the vocabularies, or lets them take new categories again."""
        for vocabulary in self._vocabularies():
            vocabulary.freeze(freeze)

    def fit(self, x: Any, unused_y: Any = None) -> CategoricalProcessor:
        """Adds the categories of a table to the vocabularies, and freezes them.

        Args:
          x: rows of categories: an array, lists or a pandas DataFrame.
          unused_y: ignored.

        Returns:
          The processor.
        """
        del unused_y
        for row in _rows(x):
            if self.vocabularies_ is None:
                vocabularies = [CategoricalVocabulary() for _ in row]
                self.vocabularies_ = (
                    vocabularies[:1] * len(vocabularies) if self.share else vocabularies
                )
            for vocabulary, category in zip(self.vocabularies_, row):
                if not _is_nan(category):
                    vocabulary.add(category)
        if self.min_frequency > 0:
            for vocabulary in self._vocabularies():
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[np.ndarray]:
        """Calls `fit`, and returns `transform` of the same table.

        Args:
          x: see `fit`; the rows are iterated over twice.
          unused_y: ignored.
        """
        return self.fit(x, unused_y).transform(x)

    def transform(self, x: Any) -> Iterator[np.ndarray]:
        """Yields the numbers of each row's categories, int64 [columns]."""
        self.freeze()
        for row in _rows(x):
            pairs = zip(self._vocabularies(), row)
            numbers = [
                0 if _is_nan(category) else vocabulary.get(category)
                for vocabulary, category in pairs
            ]
            yield np.array(numbers, np.int64)

    def _vocabularies(self) -> list[CategoricalVocabulary]:
        if self.vocabularies_ is None:
            raise ValueError(
                "CategoricalProcessor has no vocabularies. Call fit(rows) first, or pass "
                "vocabularies=[CategoricalVocabulary(), ...], one for each column."
            )
        return self.vocabularies_


def _rows(x: Any) -> Iterable[Any]:
    return x.values if hasattr(x, "values") and hasattr(x, "columns") else x  # a pandas DataFrame


def _is_nan(category: Any) -> bool:
    return isinstance(category, float) and bool(np.isnan(category))
