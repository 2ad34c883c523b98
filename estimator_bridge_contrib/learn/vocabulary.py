"""A vocabulary: categories, such as words, and their numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

__all__ = ["CategoricalVocabulary"]


class CategoricalVocabulary:
    """Numbers categories in the order in which they come; 0 is the unknown category.

    The attributes have the original's names, because programs pickle vocabularies.

    Args:
      unknown_token: the category of number 0.
      support_reverse: whether to keep the categories by number, for `reverse`.
    """

    def __init__(self, unknown_token: Hashable = "<UNK>", support_reverse: bool = True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freq: Any = defaultdict(int)
        self._freeze = False
        self._clear()

    def _clear(self) -> None:
        self._mapping: dict[Hashable, int] = {self._unknown_token: 0}
        if self._support_reverse:
            self._reverse_mapping = [self._unknown_token]

    def _append(self, category: Hashable) -> None:
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def __len__(self) -> int:
        """The number of categories, with the unknown one."""
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Decides about new categories: frozen, they have the number 0."""
        self._freeze = freeze

    def get(self, category: Hashable) -> int:
        """Returns a category's number; a new one gets the next, unless the vocabulary is frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._append(category)
        return self._mapping[category]

    def add(self, category: Hashable, count: int = 1) -> None:
        """Adds to a category's frequency."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps frequent categories, and numbers them by frequency, the most frequent first.

        Args:
          min_frequency: categories that are not more frequent than this are removed.
          max_frequency: if positive, categories of this frequency and above are removed.
        """
        alphabetical = sorted(self._freq.items(), key=lambda row: (isinstance(row[0], str), row[0]))
        ranked = sorted(alphabetical, key=lambda row: row[1], reverse=True)
        self._clear()
        for category, count in ranked:
            if count <= min_frequency:
                break
            if not 0 < max_frequency <= count:
                self._append(category)
        # As in the original, the frequencies are those of the first rows, also of removed ones.
        self._freq = dict(ranked[: len(self._mapping) - 1])

    def reverse(self, class_id: int) -> Hashable:
        """Returns the category of a number.

        Raises:
          ValueError: the vocabulary was made with support_reverse=False.
          IndexError: no category has the number.
        """
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function. Make it with CategoricalVocabulary(support_reverse=True)."
            )
        return self._reverse_mapping[class_id]
