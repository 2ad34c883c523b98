"""The hosts of a strategy's replicas, which feed their batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import host_device
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.tensorflow_private.names import PerReplica

__all__ = ["Host", "hosts_of", "is_here", "own_host_of", "split_over_hosts"]


@dataclasses.dataclass(frozen=True)
class Host:
    """A host that feeds replicas.

    Attributes:
      device: its CPU.
      replicas: the numbers of the replicas that it feeds, in the order of its batch's parts.
      number: its number among the hosts of its job.
    """

    device: str
    replicas: tuple[int, ...]
    number: int = 0


def hosts_of(strategy: tf.distribute.Strategy) -> tuple[Host, ...]:
    """Returns the hosts of a strategy's replicas, in the order of their first replicas.

    A replica that is spread over the cores of several hosts belongs to the host of its first core.
    Processes on JAX are hosts of which each names its own device as this process does.
    """
    if isinstance(strategy, JaxStrategy):
        each = strategy.num_replicas_in_sync // strategy.process_count
        return tuple(
            Host(host_device(), tuple(range(i * each, (i + 1) * each)), i)
            for i in range(strategy.process_count)
        )
    here = tf.DeviceSpec.from_string(host_device())
    replicas: dict[str, list[int]] = {}
    for number, device in enumerate(strategy.extended.worker_devices):
        core = here.make_merged_spec(tf.DeviceSpec.from_string(device))
        cpu = core.replace(device_type="CPU", device_index=0).to_string()
        replicas.setdefault(cpu, []).append(number)
    return tuple(
        Host(cpu, tuple(numbers), tf.DeviceSpec.from_string(cpu).task or 0)
        for cpu, numbers in replicas.items()
    )


def own_host_of(strategy: tf.distribute.Strategy) -> int | None:
    """Returns the number of the only host that this process feeds; None if it feeds all."""
    if isinstance(strategy, JaxStrategy) and strategy.processes is not None:
        return strategy.process_index
    return None


def is_here(hosts: Sequence[Host]) -> bool:
    """Whether this process is the only host."""
    return [host.device for host in hosts] == [host_device()]


def split_over_hosts(
    tensors: Sequence[tf.Tensor], hosts: Sequence[Host], axes: Sequence[int | None] | None = None
) -> list[Any]:
    """Returns the hosts' batches as per-replica values for strategy.run; each host splits its own.

    Args:
      tensors: the flat components of the first host's batch, then those of the second's, and so
        on. The batch dimension of each is divisible by the number of the host's replicas.
      hosts: the hosts; each replica is fed by one of them.
      axes: the batch dimension of each component; None for one that every replica of the host
        receives whole. By default all are 0.
    """
    count = len(tensors) // len(hosts)
    axes = axes if axes is not None else [0] * count
    parts: list[dict[int, tf.Tensor]] = [{} for _ in range(count)]
    for place, host in enumerate(hosts):
        with tf.device(host.device):
            for i, axis in enumerate(axes):
                tensor = tensors[place * count + i]
                if axis is None or len(host.replicas) == 1:
                    split = [tensor] * len(host.replicas)
                else:
                    split = tf.split(tensor, len(host.replicas), axis=axis)
                parts[i].update(zip(host.replicas, split))
    if len(parts[0]) == 1:
        return [part[0] for part in parts]
    return [PerReplica(tuple(part[number] for number in sorted(part))) for part in parts]
