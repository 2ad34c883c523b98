"""The assignment of replicas of several cores to a TPU."""

from __future__ import annotations

import itertools
import math

import pytest

from estimator_bridge.runtime import tpu_strategy
from estimator_bridge.runtime.topology import assign_cores, topology_of

import tensorflow as tf  # isort: skip


@pytest.mark.parametrize(("cores", "hosts"), [(1, 1), (2, 1), (3, 1), (8, 1), (16, 2), (32, 4)])
def test_each_core_has_a_place_of_its_own(cores, hosts):
    topology = topology_of(cores, hosts)
    assert (topology.num_tasks, topology.num_tpus_per_task) == (hosts, cores // hosts)
    places = topology.device_coordinates.reshape([cores, 4]).tolist()
    assert len(set(map(tuple, places))) == cores
    assert topology.missing_devices.size == 0
    assert tf.tpu.experimental.Topology(topology.serialized()).num_tasks == hosts


@pytest.mark.parametrize("cores", [1, 2, 4, 8, 16])
def test_replicas_share_no_core_and_leave_none(cores):
    assignment = assign_cores(topology_of(16, 2), cores)
    assert (assignment.num_replicas, assignment.num_cores_per_replica) == (16 // cores, cores)
    devices = {
        assignment.tpu_device(replica, core)
        for replica, core in itertools.product(range(16 // cores), range(cores))
    }
    assert len(devices) == 16


def test_two_cores_of_a_replica_are_those_of_a_chip():
    assignment = assign_cores(topology_of(8), 2)
    for first, second in assignment.core_assignment.tolist():
        assert first[:3] == second[:3]


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_chips_of_one_core(cores):
    """As they are from v4 on."""
    places = list(itertools.product(range(2), range(2), range(1), range(1)))
    topology = tf.tpu.experimental.Topology(mesh_shape=[2, 2, 1, 1], device_coordinates=[places])
    assert assign_cores(topology, cores).num_replicas == 4 // cores


# The meshes of slices: (x, y, z, cores of a chip).
MESHES = {
    "v2-8": (2, 2, 1, 2),
    "v2-32": (4, 4, 1, 2),
    "v2-512": (16, 16, 1, 2),
    "v3-8": (2, 2, 1, 2),
    "v3-32": (4, 4, 1, 2),
    "v3-128": (8, 8, 1, 2),
    "v4-8": (2, 2, 1, 1),
    "v4-16": (2, 2, 2, 1),
    "v4-32": (2, 2, 4, 1),
    "v4-64": (2, 4, 4, 1),
    "v4-128": (4, 4, 4, 1),
    "v4-384": (4, 4, 12, 1),
    "v5e-1": (1, 1, 1, 1),
    "v5e-4": (2, 2, 1, 1),
    "v5e-8": (2, 4, 1, 1),
    "v5e-16": (4, 4, 1, 1),
    "v5e-32": (4, 8, 1, 1),
    "v5e-64": (8, 8, 1, 1),
    "v5e-128": (8, 16, 1, 1),
    "v5e-256": (16, 16, 1, 1),
    "v5p-8": (2, 2, 1, 1),
    "v5p-16": (2, 2, 2, 1),
    "v5p-32": (2, 2, 4, 1),
    "v5p-128": (4, 4, 4, 1),
    "v5p-256": (4, 4, 8, 1),
    "v6e-1": (1, 1, 1, 1),
    "v6e-4": (2, 2, 1, 1),
    "v6e-8": (2, 4, 1, 1),
    "v6e-16": (4, 4, 1, 1),
    "v6e-64": (8, 8, 1, 1),
    "v6e-128": (8, 16, 1, 1),
    "v6e-256": (16, 16, 1, 1),
}
FITTING = [
    (slice_name, cores)
    for slice_name, mesh in MESHES.items()
    for cores in (1, 2, 4, 8, 16)
    if math.prod(mesh) % cores == 0
]


def topology_of_mesh(mesh):
    places = list(itertools.product(*map(range, mesh)))
    return tf.tpu.experimental.Topology(mesh_shape=list(mesh), device_coordinates=[places])


@pytest.mark.parametrize(("slice_name", "cores"), FITTING)
def test_replicas_of_each_slice_are_blocks_that_cover_it(slice_name, cores):
    mesh = MESHES[slice_name]
    assignment = assign_cores(topology_of_mesh(mesh), cores)
    assert assignment.num_replicas == math.prod(mesh) // cores
    places = {tuple(place) for replica in assignment.core_assignment for place in replica.tolist()}
    assert places == set(itertools.product(*map(range, mesh)))
    for replica in assignment.core_assignment.tolist():
        sides = [max(axis) - min(axis) + 1 for axis in zip(*replica)]
        assert math.prod(sides) == cores
        assert cores == 1 or sides[-1] == mesh[-1]  # a chip's cores stay together


def test_a_replica_is_the_block_of_the_original_where_that_fits():
    """Those of tpu_context.py in TensorFlow 2.15.1, for chips of two cores."""
    for cores, expected in {
        2: (1, 1, 1, 2),
        4: (1, 2, 1, 2),
        8: (2, 2, 1, 2),
        16: (4, 2, 1, 2),
    }.items():
        first = assign_cores(topology_of_mesh((4, 4, 1, 2)), cores).core_assignment[0].tolist()
        assert tuple(max(axis) - min(axis) + 1 for axis in zip(*first)) == expected


def test_replicas_that_do_not_fit():
    with pytest.raises(ValueError, match=r"larger than the total num of TPU cores.*16.*8"):
        assign_cores(topology_of(8), 16)
    with pytest.raises(ValueError, match=r"cores in the system \(3\) is not divisible .* \(2\)"):
        tpu_strategy(master="emulated:3", cores_per_replica=2)


def test_emulated_replicas_are_whole_on_one_device(caplog):
    strategy = tpu_strategy(master="emulated:4", cores_per_replica=2)
    assert strategy.num_replicas_in_sync == 2
    assert "num_cores_per_replica=2 on emulated:4: 2 replica(s), each whole on" in caplog.text
