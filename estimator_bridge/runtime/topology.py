"""The topology of TPU cores, and the placement of replicas of several cores on them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import tensorflow as tf

__all__ = ["assign_cores", "check_cores_per_replica", "topology_of"]

# (x, y, z, core of the chip) of a block of cores: two cores a chip, four chips a host.
_SHAPES = {
    1: (1, 1, 1, 1),
    2: (1, 1, 1, 2),
    4: (1, 2, 1, 2),
    8: (2, 2, 1, 2),
    16: (4, 2, 1, 2),
    32: (4, 4, 1, 2),
    64: (8, 4, 1, 2),
    128: (8, 8, 1, 2),
    256: (16, 8, 1, 2),
}


def topology_of(cores: int, hosts: int = 1) -> tf.tpu.experimental.Topology:
    """Returns the topology of a TPU of that size, for emulated or described cores.

    Args:
      cores: the number of cores of all hosts.
      hosts: the number of hosts, which share them evenly.
    """
    shape = _SHAPES.get(cores, (cores, 1, 1, 1))
    # x changes slowest: each host has a block of neighbors.
    places = list(itertools.product(*map(range, shape)))
    each = cores // hosts
    return tf.tpu.experimental.Topology(
        mesh_shape=list(shape),
        device_coordinates=[places[i * each : (i + 1) * each] for i in range(hosts)],
    )


def check_cores_per_replica(cores: int, cores_per_replica: int) -> int:
    """Returns the number of replicas of that many cores.

    Raises:
      ValueError: there are too few cores, or some would be left over.
    """
    if cores_per_replica > cores:
        raise ValueError(
            "The num of cores required by the model parallelism, specified by "
            "TPUConfig.num_cores_per_replica, is larger than the total num of TPU cores in the "
            f"system. num_cores_per_replica: {cores_per_replica}, num cores in the system: "
            f"{cores}. Lower num_cores_per_replica, or use a larger TPU."
        )
    if cores % cores_per_replica:
        raise ValueError(
            f"The num of cores in the system ({cores}) is not divisible by the num of cores "
            f"({cores_per_replica}) required by the model parallelism, specified by "
            "TPUConfig.num_cores_per_replica. Take one that divides it."
        )
    return cores // cores_per_replica


def assign_cores(
    topology: tf.tpu.experimental.Topology, cores_per_replica: int
) -> tf.tpu.experimental.DeviceAssignment:
    """Places replicas of several neighboring cores on all cores of a TPU.

    Args:
      topology: the TPU's.
      cores_per_replica: the number of cores of a replica.

    Raises:
      ValueError: they do not fit.
    """
    replicas = check_cores_per_replica(
        topology.num_tasks * topology.num_tpus_per_task, cores_per_replica
    )
    shape = _shape_of_replica(topology.mesh_shape.tolist(), cores_per_replica)
    return tf.tpu.experimental.DeviceAssignment.build(
        topology, computation_shape=list(shape), num_replicas=replicas
    )


def _shape_of_replica(mesh: Sequence[int], cores: int) -> tuple[int, ...]:
    """Returns the block of cores of a replica: the original's if it fits, else a compact one.

    The original's blocks are for chips of two cores in a square. A v5e-8 is 2 by 4 chips of one
    core, where its block of 4 by 2 does not fit; a v4-16 is 2 by 2 by 2.

    Args:
      mesh: (x, y, z, core of the chip) of all cores.
      cores: the number of cores of a replica, which divides that of the mesh.
    """
    sides = [[side for side in range(1, size + 1) if size % side == 0] for size in mesh]
    blocks = [block for block in itertools.product(*sides) if math.prod(block) == cores]
    chips = cores // mesh[-1] if cores % mesh[-1] == 0 else 1
    original = (*_SHAPES.get(2 * chips, ())[:-1], mesh[-1])
    # Cores of a chip are nearest; then a block with short sides, and of two such the wider in y.
    return min(blocks, key=lambda b: (b != original, -b[-1], sum(b), max(b), b))
