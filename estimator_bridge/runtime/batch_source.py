"""Draws a step's batch: ahead, from one iterator, or from one on each host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import tensorflow as tf

from estimator_bridge.graph import DividedIterators
from estimator_bridge.tensorflow_private.datasets import iterator_resource

__all__ = ["BatchSource", "HostBatchSource", "batch_source_of"]


@runtime_checkable
class PlacedIterators(Protocol):
    """One iterator for each host, whose elements are (batch, size of the next batch).

    Attributes:
      parts: the iterators, in the order of the hosts.
      devices: the CPU of each host.
      ahead: the sizes of the next batches, 0 for none. A loop updates them.
    """

    parts: Sequence[Any]
    devices: Sequence[str]
    ahead: list[int]

    @property
    def element_spec(self) -> Any:
        """The specs of the hosts' elements."""

    def __next__(self) -> list[Any]:
        """Returns the next batch of each host that has one."""


class BatchSource:
    """Elements of one iterator of this process, as optionals, each drawn before its step.

    Args:
      spec: the spec of an element.
      count: the number of elements in a step.
      is_in_order: whether they are drawn after the step before, not during it.
    """

    is_bound = True  # whether a compiled loop takes the same tensors at each call

    def __init__(self, spec: Any, count: int, is_in_order: bool = False):
        self._spec, self._count, self.is_in_order = spec, count, is_in_order

    @property
    def key(self) -> Any:
        """The value by which compiled loops are told apart."""
        return self._spec, self.is_in_order

    @property
    def components(self) -> list[Any]:
        """The specs of an element's flat components."""
        return tf.nest.flatten(self._spec, expand_composites=True)

    @property
    def specs(self) -> list[Any]:
        """The specs of the values carried from step to step."""
        return [tf.OptionalSpec(self._spec)] * self._count

    def nothing(self) -> list[Any]:
        """Returns optionals without a value."""
        return [tf.experimental.Optional.empty(self._spec) for _ in range(self._count)]

    def read(self, iterator: Any, is_wanted: tf.Tensor, ahead: Any) -> list[Any]:
        """Returns the values for the next step: the next elements, if they are wanted."""
        del ahead  # nothing is known of what has not been drawn
        return tf.cond(is_wanted, lambda: self.next_ones(iterator), self.nothing)

    def next_ones(self, iterator: Any) -> list[Any]:
        """Returns the next elements of a step, as optionals."""
        return [iterator.get_next_as_optional() for _ in range(self._count)]

    def has_batch(self, elements: Sequence[Any]) -> tf.Tensor:
        """Whether a step can run."""
        return elements[-1].has_value()

    def has_ended(self, elements: Sequence[Any]) -> tf.Tensor:
        """Whether the input has ended, given that a batch was wanted and no step can run."""
        return ~elements[-1].has_value()

    def take(self, iterator: Any, elements: Sequence[Any]) -> tuple[list[Any], Any]:
        """Returns the elements of a step, and the known state of the next ones."""
        del iterator
        return [element.get_value() for element in elements], None

    def left_over(self, elements: Sequence[Any]) -> list[Any]:
        """Returns the optionals that may have values although no step can run."""
        return list(elements[:-1])


class DividedBatchSource(BatchSource):
    """Elements of an input in parts: an element combines one of each part that a step needs.

    Args:
      like: iterators that a compiled loop replaces by others.
      is_in_order: as for all inputs.
    """

    def __init__(self, like: DividedIterators, is_in_order: bool = False):
        super().__init__(like.element_spec, 1, is_in_order)
        self._like = like

    @property
    def key(self) -> Any:
        """The value by which compiled loops are told apart."""
        return self._spec, self._like.part_numbers, self.is_in_order

    def next_ones(self, iterator: Any) -> list[Any]:
        """Returns the next element, as an optional."""
        return super().next_ones(self._like.with_iterators(iterator))


class HostBatchSource(BatchSource):
    """One element of each host's iterator, drawn on the host in its step.

    Steps carry the sizes of the next batches. The batches themselves would pass through this
    process with each step of the loop.

    Args:
      specs: the specs of each host's elements: a batch, and the size of the next one.
      devices: the device on which each is drawn.
      full_batch: the size of a host's full batch, if batches are (size, padded batch): a step
        runs if all are full.
    """

    is_in_order = False  # each host reads one batch ahead
    is_bound = False  # the sizes of the next batches are tensors of a call

    def __init__(self, specs: Sequence[Any], devices: Sequence[str], full_batch: int | None):
        self._each, self._devices, self._full = tuple(specs), tuple(devices), full_batch

    @property
    def key(self) -> Any:
        """The value by which compiled loops are told apart."""
        return self._each, self._devices

    @property
    def specs(self) -> list[Any]:
        """The specs of the values carried from step to step."""
        return [tf.TensorShape([len(self._each)])]

    def nothing(self) -> list[Any]:
        """Returns sizes of 0: no next batches."""
        return [tf.zeros([len(self._each)], tf.int64)]

    def read(self, iterator: Any, is_wanted: tf.Tensor, ahead: Any) -> list[Any]:
        """Returns the sizes of the next batches, which came with the last step's batches."""
        del is_wanted
        return [iterator[-1] if ahead is None else ahead]

    def has_batch(self, elements: Sequence[Any]) -> tf.Tensor:
        """Whether all hosts have a batch; a full one, if ``full_batch`` is given."""
        (sizes,) = elements
        return tf.reduce_all(sizes > 0 if self._full is None else sizes == self._full)

    def has_ended(self, elements: Sequence[Any]) -> tf.Tensor:
        """Whether the input of any host has ended; of all hosts, if ``full_batch`` is given."""
        (sizes,) = elements
        return tf.reduce_any(sizes == 0) if self._full is None else tf.reduce_all(sizes == 0)

    def take(self, iterator: Any, elements: Sequence[Any]) -> tuple[list[Any], Any]:
        """Returns the batches, without their sizes, and the sizes of the next ones."""
        del elements
        batches, sizes = [], []
        for part, spec, device in zip(iterator[:-1], self._each, self._devices):
            flat = tf.nest.flatten(spec)
            with tf.device(device):  # get_next() would not record the iterator's device
                components = tf.raw_ops.IteratorGetNext(
                    iterator=iterator_resource(part),
                    output_types=[leaf.dtype for leaf in flat],
                    output_shapes=[leaf.shape for leaf in flat],
                )
            batch, size = tf.nest.pack_sequence_as(spec, components)
            batches.append(batch if self._full is None else batch[1])
            sizes.append(size)
        return batches, tf.stack(sizes)

    def left_over(self, elements: Sequence[Any]) -> list[Any]:
        """Returns nothing: left-over batches are not drawn yet."""
        del elements
        return []


def batch_source_of(
    iterator: Any, count: int, full_batch: int | None, is_in_order: bool
) -> tuple[BatchSource, Any]:
    """Returns a way to draw from an iterator, and the tensors for a compiled loop.

    Args:
      iterator: an iterator of this process, or iterators of several hosts.
      count: the number of elements in a step, for an iterator of this process.
      full_batch: see ``HostBatchSource``.
      is_in_order: see ``BatchSource``.
    """
    if isinstance(iterator, DividedIterators):
        return DividedBatchSource(iterator, is_in_order), tuple(iterator.iterators)
    if isinstance(iterator, PlacedIterators):
        source = HostBatchSource(iterator.element_spec, iterator.devices, full_batch)
        return source, (*iterator.parts, tf.constant(iterator.ahead, tf.int64))
    return BatchSource(iterator.element_spec, count, is_in_order), iterator
