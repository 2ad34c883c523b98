"""Inputs with separate batches for each replica or for each host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput, HostDatasets
from estimator_bridge.data.self_contained import Outside
from estimator_bridge.graph import LiftedSession
from estimator_bridge.runtime import Host

__all__ = ["HostInputs", "PerCoreInput", "ShardedInput"]


class ShardedInput(BatchInput):
    """A host's batch, joined from the batches of several calls in the order of the replicas.

    The batches are concatenated along the first dimension, even if examples are along another, as
    in transposed images. Splitting along the same dimension returns each replica's own batch.

    Args:
      parts: the inputs that the calls returned, each with a replica's batches.

    Raises:
      ValueError: the shapes or dtypes of the inputs differ.
    """

    is_stacked = True

    def __init__(self, parts: Sequence[BatchInput]):
        first = _same_spec(parts, "replica", range(len(parts)))
        spec = tf.nest.map_structure(lambda spec: _times(spec, len(parts)), first)
        super().__init__(parts[0]._graph, spec)
        self._parts = parts

    @property
    def is_eager(self) -> bool:
        """Whether the datasets were created outside of any graph."""
        return all(part.is_eager for part in self._parts)

    @property
    def outside(self) -> Outside:
        """What its elements depend on outside of it."""
        return max(part.outside for part in self._parts)

    @property
    def may_end(self) -> bool:
        """Whether the input can end."""
        return any(part.may_end for part in self._parts)

    @property
    def is_packed(self) -> bool:
        """Whether batches hold other tensors than model_fn gets."""
        return self._parts[0].is_packed

    def unpack(self, batch: Any) -> Any:
        """Returns the argument of model_fn; see ``BatchInput.unpack``."""
        return self._parts[0].unpack(batch)

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """Returns a dataset of the host's batches."""
        datasets = tuple(part.dataset(session) for part in self._parts)
        return tf.data.Dataset.zip(datasets).map(_concatenate)


class HostInputs(BatchInput):
    """The inputs of several hosts, each for its own replicas; or the input of one remote host.

    Args:
      parts: the input of each host, with per-host batches.
      hosts: the hosts, in the same order.

    Raises:
      ValueError: the shapes or dtypes of the inputs differ.

    Attributes:
      spec: TensorSpecs of one host's batch.
      parts: the input of each host.
      hosts: the hosts.
    """

    def __init__(self, parts: Sequence[BatchInput], hosts: Sequence[Host]):
        spec = _same_spec(parts, "the host", [host.device for host in hosts])
        super().__init__(parts[0]._graph, spec)
        self.parts, self.hosts = tuple(parts), tuple(hosts)

    @property
    def is_packed(self) -> bool:
        """Whether batches hold other tensors than model_fn gets."""
        return self.parts[0].is_packed

    def unpack(self, batch: Any) -> Any:
        """Returns the argument of model_fn; see ``BatchInput.unpack``."""
        return self.parts[0].unpack(batch)

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """Returns the dataset of the only host; see ``batches`` for several hosts.

        Raises:
          ValueError: there are several hosts, which one dataset cannot feed.
        """
        (part,) = self.parts
        return part.dataset(session)

    @property
    def is_eager(self) -> bool:
        """Whether the datasets were created outside of any graph."""
        return all(part.is_eager for part in self.parts)

    @property
    def outside(self) -> Outside:
        """What its elements depend on outside of it."""
        return max(part.outside for part in self.parts)

    @property
    def may_end(self) -> bool:
        """Whether the input can end."""
        return any(part.may_end for part in self.parts)

    @property
    def is_stacked(self) -> bool:  # type: ignore[override]
        """Whether each batch consists of replicas' batches, one after the other."""
        return self.parts[0].is_stacked

    def batches(
        self,
        session: LiftedSession,
        prepare: Callable[[tf.data.Dataset, bool], tf.data.Dataset],
        are_sized: bool,
    ) -> HostDatasets:
        """Returns one dataset per host; see ``BatchInput.batches``."""
        datasets = [part.batches(session, prepare, are_sized) for part in self.parts]
        return HostDatasets(datasets, [host.device for host in self.hosts], are_sized)

    @property
    def has_plain_values(self) -> bool:
        """Whether model_fn receives values besides tensors."""
        return any(part.has_plain_values for part in self.parts)


def _same_spec(parts: Sequence[BatchInput], whose: str, names: Sequence[Any]) -> Any:
    first = parts[0].spec
    for name, part in zip(names, parts):
        if part.spec != first:
            raise ValueError(
                f"input_fn returned {part.spec} when it was called for {whose} {name}, but "
                f"{first} for {whose} {names[0]}. Return batches of the same structure and shape "
                "for all replicas."
            )
    return first


class PerCoreInput(BatchInput):
    """The batches of one call, assigned to the replicas in turn.

    In training, a host's batch is joined from replicas' batches, as in ShardedInput. In other
    modes, the examples are batched again to the host's batch size, and the last batch may be short.
    If the first dimensions of the tensors differ, examples are along another dimension; such
    batches are joined in all modes.

    Args:
      part: the input that the call returned, with batches of a replica's size.
      batch_size: the host's batch size.
      replicas: the number of replicas that the host feeds.
      keep_rest: whether to keep a short last batch; joined batches are always full.
    """

    def __init__(self, part: BatchInput, batch_size: int, replicas: int, keep_rest: bool):
        self._part, self._batch_size, self._replicas = part, batch_size, replicas
        leaves = tf.nest.flatten(part.spec)
        firsts = {leaf.shape.as_list()[0] for leaf in leaves if _has_dimensions(leaf)}
        self.is_stacked = not keep_rest or (len(firsts) > 1 and None not in firsts)
        super().__init__(part._graph, tf.nest.map_structure(self._host_spec, part.spec))

    @property
    def is_eager(self) -> bool:
        """Whether the dataset was created outside of any graph."""
        return self._part.is_eager

    @property
    def outside(self) -> Outside:
        """What its elements depend on outside of it."""
        return self._part.outside

    @property
    def may_end(self) -> bool:
        """Whether the input can end."""
        return self._part.may_end

    @property
    def is_packed(self) -> bool:
        """Whether batches hold other tensors than model_fn gets."""
        return self._part.is_packed

    def unpack(self, batch: Any) -> Any:
        """Returns the argument of model_fn; see ``BatchInput.unpack``."""
        return self._part.unpack(batch)

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """Returns a dataset of the host's batches."""
        dataset = self._part.dataset(session)
        if self.is_stacked:
            return dataset.batch(self._replicas, drop_remainder=True).map(_stack)
        return dataset.rebatch(self._batch_size)

    def _host_spec(self, spec: tf.TensorSpec) -> tf.TensorSpec:
        if self.is_stacked:
            return _times(spec, self._replicas)
        if not _has_dimensions(spec):
            return spec
        return tf.TensorSpec([None, *spec.shape.as_list()[1:]], spec.dtype)


def _has_dimensions(spec: Any) -> bool:
    """Returns False for a scalar, an unknown shape or a sparse tensor, which later raise errors."""
    return isinstance(spec, tf.TensorSpec) and bool(spec.shape.rank)


def _times(spec: tf.TensorSpec, count: int) -> tf.TensorSpec:
    if not _has_dimensions(spec):
        return spec
    first, *others = spec.shape.as_list()
    return tf.TensorSpec([None if first is None else first * count, *others], spec.dtype)


def _concatenate(*parts: Any) -> Any:
    return tf.nest.map_structure(lambda *tensors: tf.concat(tensors, axis=0), *parts)


def _stack(*batch: Any) -> Any:
    batch = batch if len(batch) > 1 else batch[0]
    return tf.nest.map_structure(lambda x: tf.reshape(x, [-1, *x.shape.as_list()[2:]]), batch)
