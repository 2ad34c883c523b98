"""A dataset for each host of a pod, read on that host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.graph.remote_file_errors import explained_remote_file_errors
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["HostDatasets", "HostIterators"]

_IGNORE = 1  # tf.data's ExternalStatePolicy: seeds start anew on the host; nothing was read here
_PYTHON = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})


class HostIterators:
    """One iterator per host, which StepLoop accepts in place of an iterator of this process.

    An element is (batch, size of the next batch). So a reader knows whether there is a next batch,
    and no batch has to leave its host for that.

    Args:
      parts: the iterators, in the order of the hosts.
      devices: the device of each.
      ahead: the sizes of the next elements, 0 for none.

    Attributes:
      parts: as given.
      devices: as given.
      ahead: as given; each reader updates it.
    """

    def __init__(self, parts: Sequence[Any], devices: Sequence[str], ahead: Sequence[int]):
        self.parts, self.devices = tuple(parts), tuple(devices)
        self.ahead = [int(size) for size in ahead]

    @property
    def iterators(self) -> tuple[Any, ...]:
        """The iterators of all hosts."""
        return self.parts

    @property
    def element_spec(self) -> tuple:
        """The spec of each iterator's elements."""
        return tuple(part.element_spec for part in self.parts)

    def __iter__(self) -> HostIterators:
        return self

    def __next__(self) -> list:
        """Returns the next batch of each host that has one.

        Raises:
          StopIteration: no host has one.
        """
        if not any(self.ahead):
            raise StopIteration
        batches = []
        with eager_mode():
            for i, part in enumerate(self.parts):
                if self.ahead[i]:
                    batch, size = next(part)
                    batches.append(batch)
                    self.ahead[i] = int(size)
        return batches


class HostDatasets:
    """One dataset per host, created in this process; ``iter`` sends them to their hosts.

    Args:
      datasets: eager datasets of one structure, in the order of the hosts.
      devices: each host's CPU.
      are_sized: whether elements are (size, padded batch).
    """

    def __init__(
        self, datasets: Sequence[tf.data.Dataset], devices: Sequence[str], are_sized: bool
    ):
        with eager_mode():
            self._datasets = [_looking_ahead(dataset, are_sized) for dataset in datasets]
        self._devices = tuple(devices)

    def __iter__(self) -> HostIterators:
        """Returns iterators on the hosts; in this process if no other can read a dataset."""
        parts, devices = [], []
        with eager_mode():
            for dataset, device in zip(self._datasets, self._devices):
                device_dataset, place = _send(dataset, device)
                with tf.device(place):
                    parts.append(iter(device_dataset))
                devices.append(place)
            with explained_remote_file_errors(self._devices):
                firsts = [next(part)[1] for part in parts]
        return HostIterators(parts, devices, firsts)

    def traceable_iterators(self) -> HostIterators:
        """Returns iterators of this process, which a trace uses for hosts that need not exist."""
        with eager_mode():
            parts = [iter(dataset) for dataset in self._datasets]
        return HostIterators(parts, self._devices, [0] * len(parts))


def _looking_ahead(dataset: tf.data.Dataset, is_sized: bool) -> tf.data.Dataset:
    """Returns a dataset of (batch, size of the next one), after a first element of zeros."""
    spec = dataset.element_spec

    def nothing() -> Any:
        # Computed on the host; as a constant it would be sent there with the dataset.
        return tf.nest.map_structure(lambda s: tf.zeros(s.shape.as_list(), s.dtype), spec)

    def with_size(*element: Any) -> tuple[Any, tf.Tensor]:
        batch = element if len(element) > 1 else element[0]
        return batch, element[0] if is_sized else tf.constant(1, tf.int64)

    def delay(before: Any, current: Any) -> tuple[Any, Any]:
        batch, size = current
        return batch, (before, size)

    def make_dataset(zero: tf.Tensor) -> tf.data.Dataset:
        end = tf.data.Dataset.from_tensors((nothing(), zero))
        return dataset.map(with_size).concatenate(end).scan(nothing(), delay)

    return tf.data.Dataset.from_tensors(tf.constant(0, tf.int64)).flat_map(make_dataset)


def _send(dataset: tf.data.Dataset, device: str) -> tuple[tf.data.Dataset, str]:
    """Recreates a dataset on a host; returns it and its device, which may be this process's."""
    graph, reason = _movable(dataset)
    if reason:
        logging.warning(
            "The input for %s stays in this process, which sends each batch over the network: %s",
            device,
            reason,
        )
        return dataset, tf.data.experimental.to_variant(dataset).device
    with tf.device(device):
        variant = tf.raw_ops.DatasetFromGraph(graph_def=tf.identity(graph))
        return tf.data.experimental.from_variant(variant, dataset.element_spec), device


def _movable(dataset: tf.data.Dataset) -> tuple[Any, str]:
    """Returns a dataset as a serialized graph, or why another process could not read it."""
    try:
        graph = tf.raw_ops.DatasetToGraphV2(
            input_dataset=tf.data.experimental.to_variant(dataset), external_state_policy=_IGNORE
        )
    except (tf.errors.OpError, NotImplementedError) as error:
        return None, str(error).splitlines()[0]
    graph_def = tf.compat.v1.GraphDef.FromString(graph.numpy())
    functions = graph_def.library.function
    nodes = [*graph_def.node, *(node for f in functions for node in f.node_def)]
    python = sorted({node.op for node in nodes} & _PYTHON)
    if python:
        return None, f"it calls Python ({', '.join(python)}), as from_generator and py_func do."
    return graph, ""
