"""Exchanges between the host and the replicas: dealt batches, sums, gathered results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.runtime.hosts import Host, split_over_hosts
from estimator_bridge.tensorflow_private.names import PerReplica
from estimator_bridge.tensorflow_private.strategies import merges_replicas

__all__ = [
    "SPLIT_EVENLY",
    "BatchLayout",
    "WorkerJoin",
    "gather",
    "join_replicas",
    "mean_over_replicas",
    "replica_id",
]


@dataclasses.dataclass(frozen=True)
class BatchLayout:
    """The layout of a batch over the replicas. By default the host's batch is split along axis 0.

    Attributes:
      axes: the batch dimension of each flat component; None for one that every replica
        receives whole. None: all are 0.
      elements: the number of replicas in this process, if each takes its own elements of the
        input. None: an element is a host's batch.
      hosts: the hosts that feed the replicas, if other machines do. A call's iterator is then a
        ``HostIterators``, in that order. None: this process feeds them.
      partitions: if a replica has several of a TPU's cores: for each component of a replica's
        batch, the number of parts of each dimension; None gives every core the whole.
      full_batch: for an input whose elements are (size, padded batch): the loop ends before a
        batch of another size and returns it.
    """

    axes: Sequence[int | None] | None = None
    elements: int | None = None
    hosts: Sequence[Host] | None = None
    partitions: Sequence[Sequence[int] | None] | None = None
    full_batch: int | None = None

    @property
    def hands_back(self) -> bool:
        """Whether a call may end with input elements for which no step ran."""
        return bool(self.hosts or (self.elements or 1) > 1 or self.full_batch is not None)

    def deal(self, flat: list[tf.Tensor], replicas: int) -> list[Any]:
        """Returns the arguments of strategy.run: a batch's components as per-replica values.

        Args:
          flat: the components of a host's batch; with ``elements``, of the replicas' batches;
            with ``hosts``, of each host's.
          replicas: the number of replicas that share them.
        """
        if self.elements:
            return _each_own(flat, self.elements)
        if self.hosts:
            return split_over_hosts(flat, self.hosts, self.axes)
        return _split(flat, replicas, self.axes) if replicas > 1 else flat


SPLIT_EVENLY = BatchLayout()


def _split(
    tensors: Sequence[tf.Tensor], replicas: int, axes: Sequence[int | None] | None = None
) -> list[Any]:
    """Returns a host's batch as per-replica values for strategy.run, in the order of the examples.

    Args:
      tensors: the flat components of a batch; the batch dimension of each is divisible by
        ``replicas``.
      replicas: the number of parts.
      axes: the batch dimension of each component; None for one that every replica receives whole.
        By default all are 0.
    """
    axes = axes if axes is not None else [0] * len(tensors)
    return [
        PerReplica(tuple(tf.split(t, replicas, axis=axis) if axis is not None else [t] * replicas))
        for t, axis in zip(tensors, axes)
    ]


def _each_own(tensors: Sequence[tf.Tensor], replicas: int) -> list[Any]:
    """Returns the replicas' batches as per-replica values for strategy.run.

    Args:
      tensors: the flat components of the first replica's batch, then those of the second's, and
        so on. The replicas' batches may differ in size.
      replicas: the number of replicas in this process.
    """
    if replicas == 1:
        return list(tensors)
    count = len(tensors) // replicas
    return [PerReplica(tuple(tensors[i::count])) for i in range(count)]


def gather(strategy: tf.distribute.Strategy, value: Any, most: int | None = None) -> tf.Tensor:
    """Returns the values of all, or the first ``most``, replicas, joined along dimension 0."""
    parts = strategy.experimental_local_results(value)[:most]
    return tf.concat(parts, axis=0) if len(parts) > 1 else tf.identity(parts[0])


def mean_over_replicas(strategy: tf.distribute.Strategy, value: Any) -> tf.Tensor:
    """Returns the mean of a scalar over the replicas of this process, float32."""
    parts = [tf.cast(p, tf.float32) for p in strategy.experimental_local_results(value)]
    return tf.add_n(parts) / len(parts) if len(parts) > 1 else parts[0]


def replica_id() -> int | tf.Tensor:
    """Returns this replica's number: an int if known while tracing, else an int32 scalar."""
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    static = tf.get_static_value(number) if tf.is_tensor(number) else number
    return number if static is None else int(static)


def join_replicas(values: Sequence[tuple[tf.Tensor, np.ndarray | None]]) -> list[tf.Tensor]:
    """Adds over the replicas, or over each group of replicas, inside strategy.run.

    Args:
      values: this replica's value and the groups: int32 [groups, replicas of a group], or None
        for one group of all.
    """
    context = tf.distribute.get_replica_context()
    if context.num_replicas_in_sync == 1:
        return [tf.identity(value) for value, _ in values]
    whole = [value for value, groups in values if groups is None]
    totals = iter(_all_sum(context, whole) if whole else [])
    return [
        next(totals) if groups is None else _sum_in_group(context, value, groups, _all_sum)
        for value, groups in values
    ]


class WorkerJoin:
    """``join_replicas`` over the replicas of several processes, for one import of a step.

    Args:
      worker: the name of this process.
      sum_over_replicas: returns the sums of tensors over all replicas, given the collectives' keys.
      names: the CrossReplicaSum nodes, in the order in which they are joined.
      keys: the collectives' keys, by these names.

    Raises:
      NotImplementedError: a sum has no key, as not all workers have it.
    """

    def __init__(
        self,
        worker: str,
        sum_over_replicas: Callable[[Sequence[tf.Tensor], Sequence[int]], list[tf.Tensor]],
        names: Sequence[str],
        keys: Mapping[str, int],
    ):
        unknown = [name for name in names if name not in keys]
        if unknown:
            raise NotImplementedError(
                f"The cross-replica sum {unknown[0]!r} was added after model_fn, by a hook "
                f"perhaps, on {worker}; the others may not have it, and would not take part. "
                "Make the sum in model_fn, and let the hook fetch it."
            )
        self._sum_over_replicas = sum_over_replicas
        self._keys = [keys[name] for name in names]

    def __call__(self, values: Sequence[tuple[tf.Tensor, np.ndarray | None]]) -> list[tf.Tensor]:
        """Adds, see ``join_replicas``."""
        context = tf.distribute.get_replica_context()
        keys, self._keys = self._keys[: len(values)], self._keys[len(values) :]
        totals = []
        for (value, groups), key in zip(values, keys):

            def add(_: Any, tensors: Sequence[tf.Tensor], key: int = key) -> list[tf.Tensor]:
                return self._sum_over_replicas(tensors, [key])

            if groups is None:
                totals += add(context, [value])
            else:
                totals.append(_sum_in_group(context, value, groups, add))
        return totals


def _all_sum(context: tf.distribute.ReplicaContext, values: list[tf.Tensor]) -> Sequence[tf.Tensor]:
    if not merges_replicas(context.strategy):
        return context.all_reduce(tf.distribute.ReduceOp.SUM, values)

    # This is all_reduce without the gradient function that it registers. TensorFlow keeps that one
    # permanently, and with it the step and its variables. A lifted step has its gradients.
    def merged(strategy: tf.distribute.Strategy, *replicated: tf.Tensor) -> Sequence[tf.Tensor]:
        pairs = [(value, value) for value in replicated]
        return strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)

    # Numbers of type int32 live on the host, and are not added up together with others.
    on_host = [value.dtype == tf.int32 for value in values]
    groups = [[v for v, host in zip(values, on_host) if host is kind] for kind in (True, False)]
    totals = [iter(context.merge_call(merged, args=tuple(g)) if g else ()) for g in groups]
    return [next(totals[0] if host else totals[1]) for host in on_host]


def _sum_in_group(
    context: tf.distribute.ReplicaContext,
    value: tf.Tensor,
    groups: np.ndarray,
    all_sum: Callable[..., Sequence[tf.Tensor]],
) -> tf.Tensor:
    replicas = context.num_replicas_in_sync
    if sorted(groups.flatten()) != list(range(replicas)):
        raise ValueError(
            f"group_assignment {groups.tolist()} must name each of the {replicas} replicas once."
        )
    # Every replica puts its value into its own row; the sum over all of them then holds all.
    # Rows are chosen, not multiplied by 0: a NaN of one group does not reach the others.
    number = context.replica_id_in_sync_group
    nothing = tf.zeros_like(value)
    rows = tf.stack([tf.where(tf.equal(number, i), value, nothing) for i in range(replicas)])
    (rows,) = all_sum(context, [rows])
    group_of = np.zeros(replicas, np.int32)
    for i, members in enumerate(groups):
        group_of[members] = i
    members = tf.gather(tf.constant(groups, tf.int32), tf.gather(group_of, number))
    return tf.reduce_sum(tf.gather(rows, members), axis=0)
