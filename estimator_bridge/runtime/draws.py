"""How a step's batch is drawn: ahead, from one iterator, or from one on each host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import DividedIterators
from estimator_bridge.runtime.placed_iterators import PlacedIterators
from estimator_bridge.tensorflow_private import iterator_resource

__all__ = ["Draws", "HostDraws", "draws_of"]


class Draws:
    """Elements of one iterator of this process, as optionals, each drawn before its step.

    Args:
      spec: of an element.
      count: how many elements a step takes.
    """

    is_bound = True  # whether a compiled loop takes the same tensors at each call

    def __init__(self, spec: Any, count: int):
        self._spec, self._count = spec, count

    @property
    def key(self) -> Any:
        """What a compiled loop depends on."""
        return self._spec

    @property
    def specs(self) -> list[Any]:
        """Of what is carried from step to step."""
        return [tf.OptionalSpec(self._spec)] * self._count

    def nothing(self) -> list[Any]:
        """Optionals without a value."""
        return [tf.experimental.Optional.empty(self._spec) for _ in range(self._count)]

    def draw(self, iterator: Any, wanted: tf.Tensor, ahead: Any) -> list[Any]:
        """What is carried to the next step: the next elements, if they are wanted."""
        del ahead  # nothing is known of what has not been drawn

        def next_ones() -> list[Any]:
            return [iterator.get_next_as_optional() for _ in range(self._count)]

        return tf.cond(wanted, next_ones, self.nothing)

    def are_there(self, carried: Sequence[Any]) -> tf.Tensor:
        """Whether a step can run."""
        return carried[-1].has_value()

    def have_ended(self, carried: Sequence[Any]) -> tf.Tensor:
        """Whether the input has no more, where a batch was wanted and a step cannot run."""
        return ~carried[-1].has_value()

    def take(self, iterator: Any, carried: Sequence[Any]) -> tuple[list[Any], Any]:
        """The elements of a step, and what is known of the next."""
        del iterator
        return [element.get_value() for element in carried], None

    def left_over(self, carried: Sequence[Any]) -> list[Any]:
        """The optionals that may have values where no step can run."""
        return list(carried[:-1])


class DividedDraws(Draws):
    """Elements of an input in parts: one of each part that a step needs makes up an element.

    Args:
      like: the iterators, in whose place a compiled loop takes others.
    """

    def __init__(self, like: DividedIterators):
        super().__init__(like.element_spec, 1)
        self._like = like

    @property
    def key(self) -> Any:
        """What a compiled loop depends on."""
        return self._spec, self._like.drawn

    def draw(self, iterator: Any, wanted: tf.Tensor, ahead: Any) -> list[Any]:
        """What is carried to the next step: see ``Draws``."""
        return super().draw(self._like.with_iterators(iterator), wanted, ahead)


class HostDraws(Draws):
    """One element of each host's iterator, drawn on the host in the step that it is for.

    What is carried from step to step are the sizes of the next batches. The batches themselves
    would pass through this process with each step of the loop.

    Args:
      specs: of each host's elements: a batch, and the size of the next.
      devices: where each is drawn.
      full_batch: of a host, for batches that are (size, padded batch): a step runs where all are
        full.
    """

    is_bound = False  # the sizes of the next batches are tensors of a call

    def __init__(self, specs: Sequence[Any], devices: Sequence[str], full_batch: int | None):
        self._each, self._devices, self._full = tuple(specs), tuple(devices), full_batch

    @property
    def key(self) -> Any:
        """What a compiled loop depends on."""
        return self._each, self._devices

    @property
    def specs(self) -> list[Any]:
        """Of what is carried from step to step."""
        return [tf.TensorShape([len(self._each)])]

    def nothing(self) -> list[Any]:
        """No next batches."""
        return [tf.zeros([len(self._each)], tf.int64)]

    def draw(self, iterator: Any, wanted: tf.Tensor, ahead: Any) -> list[Any]:
        """The sizes of the next batches, which came with those of the last step."""
        del wanted
        return [iterator[-1] if ahead is None else ahead]

    def are_there(self, carried: Sequence[Any]) -> tf.Tensor:
        """Whether all hosts have a batch, a full one where that counts."""
        (sizes,) = carried
        return tf.reduce_all(sizes > 0 if self._full is None else sizes == self._full)

    def have_ended(self, carried: Sequence[Any]) -> tf.Tensor:
        """Whether there is no more: of a host's, or of all where what is left over counts."""
        (sizes,) = carried
        return tf.reduce_any(sizes == 0) if self._full is None else tf.reduce_all(sizes == 0)

    def take(self, iterator: Any, carried: Sequence[Any]) -> tuple[list[Any], Any]:
        """The batches, without sizes of their own, and the sizes of the next."""
        del carried
        batches, sizes = [], []
        for part, spec, device in zip(iterator[:-1], self._each, self._devices):
            flat = tf.nest.flatten(spec)
            with tf.device(device):  # get_next() would leave it to the iterator's own, unsaid
                drawn = tf.raw_ops.IteratorGetNext(
                    iterator=iterator_resource(part),
                    output_types=[leaf.dtype for leaf in flat],
                    output_shapes=[leaf.shape for leaf in flat],
                )
            batch, size = tf.nest.pack_sequence_as(spec, drawn)
            batches.append(batch if self._full is None else batch[1])
            sizes.append(size)
        return batches, tf.stack(sizes)

    def left_over(self, carried: Sequence[Any]) -> list[Any]:
        """Nothing: it is not drawn yet."""
        del carried
        return []


def draws_of(iterator: Any, count: int, full_batch: int | None) -> tuple[Draws, Any]:
    """How to draw from an iterator, and what a compiled loop takes in its place.

    Args:
      iterator: an iterator of this process, or iterators of several hosts.
      count: elements a step, of an iterator of this process.
      full_batch: see ``HostDraws``.
    """
    if isinstance(iterator, DividedIterators):
        return DividedDraws(iterator), tuple(iterator.iterators)
    if isinstance(iterator, PlacedIterators):
        draws = HostDraws(iterator.element_spec, iterator.devices, full_batch)
        return draws, (*iterator.parts, tf.constant(iterator.ahead, tf.int64))
    return Draws(iterator.element_spec, count), iterator
