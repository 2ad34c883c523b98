"""Batches that are sent to the replicas' devices while the step before them runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import is_on_tpu
from estimator_bridge.runtime.batch_source import BatchSource
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.tensorflow_private.strategies import cores_per_replica

__all__ = ["SentBatchSource", "sends_batches"]


def sends_batches(strategy: tf.distribute.Strategy, layout: BatchLayout) -> bool:
    """Returns whether the replicas are a TPU's cores, to which this process sends whole batches.

    TensorFlow's iterators of several devices would read further ahead than a checkpoint of the
    input's position allows, so a loop sends the one batch that it has drawn ahead.
    """
    is_whole = not (layout.elements or layout.hosts or layout.partitions or layout.hands_back)
    return is_whole and is_on_tpu(strategy) and cores_per_replica(strategy) == 1


class SentBatchSource(BatchSource):
    """Elements of another source, dealt and sent to their devices when they are drawn.

    Steps carry whether there is a batch, and its parts: the first replica's, the second's, and so
    on, as for ``BatchLayout.elements``.

    Args:
      source: draws elements, one a step.
      layout: the layout of a batch.
      devices: the replicas' devices.
    """

    def __init__(self, source: BatchSource, layout: BatchLayout, devices: Sequence[str]):
        self._source, self._layout, self._devices = source, layout, tuple(devices)
        self.is_in_order = source.is_in_order

    @property
    def key(self) -> Any:
        """The value by which compiled loops are told apart."""
        return self._source.key, self._devices

    @property
    def components(self) -> list[Any]:
        """The specs of an element's flat components."""
        return self._source.components

    @property
    def specs(self) -> list[Any]:
        """The specs of the values carried from step to step."""
        parts = []
        axes = self._layout.axes or [0] * len(self.components)
        for spec, axis in zip(self.components, axes):
            sizes = spec.shape.as_list()
            if axis is not None and sizes[axis] is not None:
                sizes[axis] //= len(self._devices)
            parts.append(tf.TensorShape(sizes))
        return [tf.TensorShape([]), *parts * len(self._devices)]

    def nothing(self) -> list[Any]:
        """Returns no batch, and parts of zeros."""
        return [tf.constant(False), *self._sent(self._zeros())]

    def read(self, iterator: Any, is_wanted: tf.Tensor, ahead: Any) -> list[Any]:
        """Returns the values for the next step, on their devices."""
        (element,) = self._source.read(iterator, is_wanted, ahead)
        has_value = element.has_value()
        flat = tf.cond(
            has_value,
            lambda: tf.nest.flatten(element.get_value(), expand_composites=True),
            self._zeros,
        )
        for tensor, spec in zip(flat, self.components):
            tensor.set_shape(spec.shape)
        return [has_value, *self._sent(flat)]

    def has_batch(self, elements: Sequence[Any]) -> tf.Tensor:
        """Whether a step can run."""
        return elements[0]

    def has_ended(self, elements: Sequence[Any]) -> tf.Tensor:
        """Whether the input has ended, given that a batch was wanted and no step can run."""
        return ~elements[0]

    def take(self, iterator: Any, elements: Sequence[Any]) -> tuple[list[Any], Any]:
        """Returns the parts of a step's batch, and the known state of the next ones: none."""
        del iterator
        return list(elements[1:]), None

    def left_over(self, elements: Sequence[Any]) -> list[Any]:
        """Returns nothing: an element is a step's whole batch."""
        del elements
        return []

    def _zeros(self) -> list[tf.Tensor]:
        zeros = []
        for spec in self.components:
            shape, is_text = [size or 0 for size in spec.shape], spec.dtype == tf.string
            zeros.append(tf.fill(shape, "") if is_text else tf.zeros(shape, spec.dtype))
        return zeros

    def _sent(self, flat: list[tf.Tensor]) -> list[tf.Tensor]:
        count, sent = len(self._devices), []
        dealt = self._layout.deal(flat, count)
        for number, device in enumerate(self._devices):
            for part in dealt:
                own = part.values[number] if count > 1 else part
                with tf.device(None if own.dtype == tf.string else device):
                    sent.append(tf.identity(own, name="sent"))
        return sent
