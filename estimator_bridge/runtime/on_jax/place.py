"""This process's place among those that run steps together on JAX, as TF_CONFIG gives it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

__all__ = ["Place", "place_in_cluster"]


@dataclasses.dataclass(frozen=True)
class Place:
    """A process among those that run one program together.

    Attributes:
      addresses: the addresses of all processes, the chief's first, then the workers'.
      index: the number of this process among them.
      devices: the devices that each of them gives, such as 'jax:cpu:2'.
    """

    addresses: Sequence[str]
    index: int
    devices: str

    @property
    def name(self) -> str:
        """The name of this process in messages."""
        return self.name_of(self.index)

    def name_of(self, index: int) -> str:
        """Returns the name of a process in messages."""
        return f"process {index} ({self.addresses[index]})"


def place_in_cluster(devices: str) -> Place | None:
    """Returns this process's place in the cluster of TF_CONFIG.

    Args:
      devices: the devices that the program names.

    Returns:
      None if TF_CONFIG describes no other process that runs steps, or this process is an evaluator,
      which uses the devices of its own machine.

    Raises:
      ValueError: the cluster has parameter servers, or lacks this process.
    """
    # A program that only makes a strategy, such as one of emulated cores, loads no model.
    from estimator_bridge.model import TaskType, parse_cluster, read_tf_config

    cluster = parse_cluster(read_tf_config(), collective=True)
    jobs = cluster.cluster_spec.as_dict()
    if TaskType.PS in jobs:
        raise ValueError(
            f"TF_CONFIG's cluster has {len(jobs[TaskType.PS])} parameter server(s) (job 'ps': "
            f"{list(jobs[TaskType.PS])}), and {devices!r} runs steps on devices that hold the "
            "variables themselves. Take 'ps' out of the cluster, and do not start those processes."
        )
    leaders = [*jobs.get(TaskType.CHIEF, ()), *jobs.get(TaskType.MASTER, ())]
    addresses = [*leaders, *jobs.get(TaskType.WORKER, ())]
    if len(addresses) < 2:
        return None
    index = cluster.task_id + (len(leaders) if cluster.task_type == TaskType.WORKER else 0)
    return Place(tuple(addresses), index, devices)
