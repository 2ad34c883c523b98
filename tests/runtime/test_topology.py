"""The assignment of replicas of several cores to a TPU."""

from __future__ import annotations

import itertools

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


def test_replicas_that_do_not_fit():
    with pytest.raises(ValueError, match=r"larger than the total num of TPU cores.*16.*8"):
        assign_cores(topology_of(8), 16)
    with pytest.raises(ValueError, match=r"cores in the system \(3\) is not divisible .* \(2\)"):
        tpu_strategy(master="emulated:3", cores_per_replica=2)


def test_emulated_replicas_are_whole_on_one_device(caplog):
    strategy = tpu_strategy(master="emulated:4", cores_per_replica=2)
    assert strategy.num_replicas_in_sync == 2
    assert "num_cores_per_replica=2 on emulated:4: 2 replica(s), each whole on" in caplog.text
