"""Draws the next batches of an input into memory, where the input's own loop reads them."""

from __future__ import annotations

import weakref
from typing import Any

import tensorflow as tf

__all__ = ["DrawnBatches"]

_MANY = 1 << 62


class DrawnBatches:
    """Draws batches of an iterator, in its order, and returns an iterator of them.

    TensorFlow draws them: Python is called once for all, and elements of any kind, sparse and
    ragged ones too, are only referred to.

    Attributes:
      shapes: the shapes of the flat components of the first element that was drawn; None before.
    """

    shapes: list[list[int | None]] | None = None

    def __init__(self) -> None:
        self._rest: weakref.WeakKeyDictionary[Any, tf.data.Dataset] = weakref.WeakKeyDictionary()

    def draw(self, iterator: tf.data.Iterator, count: int) -> tf.data.Iterator:
        """Draws up to ``count`` elements, fewer if the input ends.

        Args:
          iterator: of an eager dataset.
          count: the number of elements.

        Returns:
          An iterator of the same element spec, so that a compiled loop takes it.
        """
        if iterator not in self._rest:
            self._rest[iterator] = _rest_of(iterator)
        batches = self._rest[iterator].take(count).cache().with_options(_as_written())
        # Reads all of it. skip() would do without a function, but loses an element (2.16 to 2.21).
        batches.reduce(tf.constant(0, tf.int64), _add_one)
        if self.shapes is None:
            for element in batches.take(1):
                flat = tf.nest.flatten(element, expand_composites=True)
                self.shapes = [part.shape.as_list() for part in flat]
        return iter(batches)


def _rest_of(iterator: tf.data.Iterator) -> tf.data.Dataset:
    """Returns the elements that an iterator still has, as a dataset that draws from it."""
    reference = weakref.ref(iterator)  # the dictionary's value must not keep its key

    def next_one(_: tf.Tensor) -> Any:
        source = reference()
        assert source is not None
        return source.get_next_as_optional()

    return (
        tf.data.Dataset.range(_MANY)
        .map(next_one)
        .take_while(lambda element: element.has_value())
        .map(lambda element: element.get_value())
    )


def _add_one(count: tf.Tensor, *_: Any) -> tf.Tensor:
    return count + 1


def _as_written() -> tf.data.Options:
    """Options under which no element is drawn ahead: it would be lost."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.inject_prefetch = False
    options.deterministic = True
    return options
