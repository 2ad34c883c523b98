"""Inputs whose batches are each meant for one replica, put together to a host's batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data import GraphInput
from estimator_bridge.graph import LiftedSession

__all__ = ["PerCoreInput", "ShardedInput"]


class ShardedInput(GraphInput):
    """Several calls' batches, put together to a host's batch in the order of the replicas.

    Args:
      parts: what the calls returned.

    Raises:
      ValueError: their shapes or types differ.
    """

    def __init__(self, parts: Sequence[GraphInput]):
        self._parts, self._graph, self._returned = parts, parts[0]._graph, None
        first = parts[0].spec
        for i, part in enumerate(parts):
            if part.spec != first:
                raise ValueError(
                    f"input_fn returned {part.spec} when it was called for replica {i}, and "
                    f"{first} for replica 0. All replicas need batches of the same structure and "
                    "shape."
                )
        self.spec = tf.nest.map_structure(lambda spec: _times(spec, len(parts)), first)

    @property
    def is_eager(self) -> bool:
        """Whether the datasets were made outside of any graph."""
        return all(part.is_eager for part in self._parts)

    @property
    def may_end(self) -> bool:
        """Whether there is anything that could end."""
        return any(part.may_end for part in self._parts)

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """The batches of the host."""
        datasets = tuple(part.dataset(session) for part in self._parts)
        return tf.data.Dataset.zip(datasets).map(_concatenate)


class PerCoreInput(GraphInput):
    """One call's batches, dealt to the replicas in turn.

    Args:
      part: what the call returned: batches of a replica's size.
      batch_size: of the host.
      keep_rest: whether a last batch that is not full is kept; otherwise it is dropped.
    """

    def __init__(self, part: GraphInput, batch_size: int, keep_rest: bool):
        self._part, self._batch_size, self._keep_rest = part, batch_size, keep_rest
        self._graph, self._returned = part._graph, None
        self.spec = tf.nest.map_structure(self._host_spec, part.spec)

    @property
    def is_eager(self) -> bool:
        """Whether the dataset was made outside of any graph."""
        return self._part.is_eager

    @property
    def may_end(self) -> bool:
        """Whether there is anything that could end."""
        return self._part.may_end

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """The batches of the host."""
        return self._part.dataset(session).rebatch(
            self._batch_size, drop_remainder=not self._keep_rest
        )

    def _host_spec(self, spec: tf.TensorSpec) -> tf.TensorSpec:
        shape = spec.shape.as_list()
        if shape and shape[0] is not None:
            shape[0] = None if self._keep_rest else self._batch_size
        return tf.TensorSpec(shape, spec.dtype)


def _times(spec: tf.TensorSpec, count: int) -> tf.TensorSpec:
    shape = spec.shape.as_list()
    if shape and shape[0] is not None:
        shape[0] *= count
    return tf.TensorSpec(shape, spec.dtype)


def _concatenate(*parts: Any) -> Any:
    return tf.nest.map_structure(lambda *tensors: tf.concat(tensors, axis=0), *parts)
