"""A dataset for each host of a pod, read where it is fed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["HostDatasets", "HostIterators"]

_IGNORE = 1  # tf.data's ExternalStatePolicy: seeds start anew there, as nothing was drawn here
_PYTHON = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})


class HostIterators:
    """One iterator a host; what StepLoop takes in the place of one of this process.

    Args:
      parts: the iterators, in the order of the hosts.
      devices: where each is drawn from.
    """

    def __init__(self, parts: Sequence[Any], devices: Sequence[str]):
        self.parts, self.devices = tuple(parts), tuple(devices)

    @property
    def element_spec(self) -> tuple:
        """Of each iterator."""
        return tuple(part.element_spec for part in self.parts)

    def __iter__(self) -> HostIterators:
        return self

    def __next__(self) -> tuple:
        """The next element of each."""
        return tuple(next(part) for part in self.parts)


class HostDatasets:
    """One dataset a host, made in this process; ``iter`` sends them to their hosts.

    Args:
      datasets: eager, in the order of the hosts, all of one structure.
      devices: each host's CPU.
    """

    def __init__(self, datasets: Sequence[tf.data.Dataset], devices: Sequence[str]):
        self._datasets, self._devices = tuple(datasets), tuple(devices)

    def __iter__(self) -> HostIterators:
        """Iterators on the hosts, but for datasets that only this process can read."""
        parts, devices = [], []
        with eager_mode():
            for dataset, device in zip(self._datasets, self._devices):
                graph, reason = _movable(dataset)
                if reason:
                    logging.warning(
                        "The input for %s stays in this process, which sends each batch over the "
                        "network: %s",
                        device,
                        reason,
                    )
                    with tf.device(dataset._variant_tensor.device):
                        parts.append(iter(dataset))
                    devices.append(dataset._variant_tensor.device)
                    continue
                with tf.device(device):
                    variant = tf.raw_ops.DatasetFromGraph(graph_def=tf.identity(graph))
                    parts.append(
                        iter(tf.data.experimental.from_variant(variant, dataset.element_spec))
                    )
                devices.append(device)
        return HostIterators(parts, devices)

    def described(self) -> HostIterators:
        """Iterators of this process, which a trace takes to be on hosts that need not exist."""
        with eager_mode():
            return HostIterators([iter(dataset) for dataset in self._datasets], self._devices)


def _movable(dataset: tf.data.Dataset) -> tuple[Any, str]:
    """A dataset as a serialized graph; or why another process could not read it."""
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
