"""Datasets whose elements hold None, such as ``(features, None)``.

None has no tensor: a dataset's variant holds the other components alone. Loops read these, and
model_fn receives None in its place.
"""

from __future__ import annotations

import collections
from typing import Any

import tensorflow as tf

__all__ = ["AbsentComponents"]


class AbsentComponents:
    """Where the elements of a dataset hold None.

    Args:
      dataset: its elements are features or (features, labels).

    Attributes:
      dataset: the same elements without None: the features, if there is nothing else, or a named
        tuple of all components.
      is_packed: whether ``restore`` is needed.
    """

    def __init__(self, dataset: tf.data.Dataset):
        self._spec: Any = dataset.element_spec
        self.dataset, self.is_packed = dataset, False
        flat = tf.nest.flatten(self._spec)
        there = [each for each in flat if not _is_none(each)]
        if len(there) == len(flat):
            return
        spec = self._spec[0] if isinstance(self._spec, (tuple, list)) else self._spec
        is_whole = [id(each) for each in tf.nest.flatten(spec)] == [id(each) for each in there]
        self.is_packed = not is_whole or isinstance(spec, (tuple, list))  # which would be a pair
        if self.is_packed:
            names = [f"component_{i}" for i in range(len(there))]
            spec = collections.namedtuple("Components", names)(*there)
        self._keeps = dataset  # the Python functions that its operations call
        variant = tf.data.experimental.to_variant(dataset)
        self.dataset = tf.data.experimental.from_variant(variant, spec)

    def restore(self, batch: Any) -> Any:
        """Returns an element as the program's dataset has it, given one of ``dataset``."""
        parts = iter(batch)
        flat = [None if _is_none(each) else next(parts) for each in tf.nest.flatten(self._spec)]
        return tf.nest.pack_sequence_as(self._spec, flat)


def _is_none(spec: Any) -> bool:
    return type(spec).__name__ == "NoneTensorSpec"  # a public name of few releases
