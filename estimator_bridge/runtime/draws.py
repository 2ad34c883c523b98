"""How a step's batch is drawn: ahead, as optionals, from one iterator or from one a host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["Draws", "HostDraws", "draws_of"]


class Draws:
    """Elements of one iterator of this process.

    Args:
      spec: of an element.
      count: how many elements a step takes.
    """

    def __init__(self, spec: Any, count: int):
        self._spec, self._count = spec, count

    @property
    def key(self) -> Any:
        """What a compiled loop depends on."""
        return self._spec

    @property
    def specs(self) -> list:
        """Of the optionals."""
        return [tf.OptionalSpec(self._spec)] * self._count

    def nothing(self) -> list:
        """Optionals without a value."""
        return [tf.experimental.Optional.empty(self._spec) for _ in range(self._count)]

    def draw(self, iterator: Any, wanted: tf.Tensor) -> list:
        """The next elements, if they are wanted, as optionals."""

        def next_ones() -> list:
            return [iterator.get_next_as_optional() for _ in range(self._count)]

        return tf.cond(wanted, next_ones, self.nothing)

    def are_there(self, batch: Sequence[Any]) -> tf.Tensor:
        """Whether a step can run."""
        return batch[-1].has_value()

    def have_ended(self, batch: Sequence[Any]) -> tf.Tensor:
        """Whether the input has no more, where a batch was wanted and a step cannot run."""
        return ~batch[-1].has_value()

    def values(self, batch: Sequence[Any]) -> list:
        """The elements, each with its structure."""
        return [element.get_value() for element in batch]

    def left_over(self, batch: Sequence[Any]) -> list:
        """The optionals that may have values where no step can run."""
        return list(batch[:-1])


class HostDraws(Draws):
    """One element of each host's iterator; what a host draws stays on it.

    Args:
      specs: of each host's elements.
      devices: where each is drawn.
      full_batch: of a host, for elements that are (size, padded batch): a step runs where all are
        full.
    """

    def __init__(self, specs: Sequence[Any], devices: Sequence[str], full_batch: int | None):
        self._each, self._devices, self._full = tuple(specs), tuple(devices), full_batch

    @property
    def key(self) -> Any:
        """What a compiled loop depends on."""
        return self._each, self._devices

    @property
    def specs(self) -> list:
        """Of the optionals."""
        return [tf.OptionalSpec(spec) for spec in self._each]

    def nothing(self) -> list:
        """Optionals without a value, each on its host."""
        return self._on_each(lambda i: tf.experimental.Optional.empty(self._each[i]))

    def draw(self, iterator: Any, wanted: tf.Tensor) -> list:
        """The next element of each iterator, if they are wanted, as optionals."""
        # A branch on each host: its result is not sent through this process.
        return self._on_each(
            lambda i: tf.cond(
                wanted,
                iterator[i].get_next_as_optional,
                lambda: tf.experimental.Optional.empty(self._each[i]),
            )
        )

    def are_there(self, batch: Sequence[Any]) -> tf.Tensor:
        """Whether a step can run: all hosts have a batch, and a full one where that counts."""

        def is_there(i: int) -> tf.Tensor:
            element = batch[i]
            if self._full is None:
                return element.has_value()
            return tf.cond(
                element.has_value(),
                lambda: tf.equal(element.get_value()[0], self._full),
                lambda: tf.constant(False),
            )

        return tf.reduce_all(self._on_each(is_there))

    def have_ended(self, batch: Sequence[Any]) -> tf.Tensor:
        """Whether there is no more: of a host's, or of all where what is left over counts."""
        has = self._on_each(lambda i: batch[i].has_value())
        return ~(tf.reduce_all(has) if self._full is None else tf.reduce_any(has))

    def values(self, batch: Sequence[Any]) -> list:
        """The batches, without their sizes."""
        elements = self._on_each(lambda i: batch[i].get_value())
        return elements if self._full is None else [components for _, components in elements]

    def left_over(self, batch: Sequence[Any]) -> list:
        """The optionals of (size, padded batch) for which no step can run."""
        return [] if self._full is None else list(batch)

    def _on_each(self, function: Callable[[int], Any]) -> list:
        results = []
        for i, device in enumerate(self._devices):
            with tf.device(device):
                results.append(function(i))
        return results


def draws_of(iterator: Any, count: int, full_batch: int | None) -> tuple[Draws, Any]:
    """How to draw from an iterator, and what a compiled loop takes in its place.

    Args:
      iterator: of this process, or a ``HostIterators``.
      count: elements a step, of an iterator of this process.
      full_batch: see ``HostDraws``.
    """
    if not hasattr(iterator, "parts"):
        return Draws(iterator.element_spec, count), iterator
    return HostDraws(iterator.element_spec, iterator.devices, full_batch), iterator.parts
