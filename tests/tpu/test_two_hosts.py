"""Two hosts that feed their own replicas, emulated by processes of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).with_name("two_hosts_program.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("two_hosts")


@pytest.fixture(scope="module")
def results(folder):
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "client", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# By pipeline: the calls (batch size, host), and the first step's batch by replica.
EXPECTED = {
    "PER_HOST_V1": ([[4, 0], [4, 1]], [0, 1, 2, 3, 100, 101, 102, 103]),
    "SLICED": ([[4, 0], [4, 1]], [0, 1, 2, 3, 100, 101, 102, 103]),
    "PER_HOST_V2": ([[2, 0], [2, 1]], [0, 1, 2, 3, 100, 101, 102, 103]),
    "PER_SHARD_V1": ([[2, 0], [2, 0], [2, 1], [2, 1]], [0, 1, 0, 1, 100, 101, 100, 101]),
    "BROADCAST": ([[8, 0]], [*range(8)] * 4),
}


@pytest.mark.parametrize("pipeline", EXPECTED)
def test_each_host_reads_its_own_file_for_its_own_replicas(results, pipeline):
    calls, batch = EXPECTED[pipeline]
    assert results[pipeline]["calls"] == calls
    first, second = results[pipeline]["seen"]
    assert first == batch
    assert len(second) == len(batch) and second != batch


def test_training_is_that_of_one_process(results):
    """Adam on the mean over all replicas' examples."""

    def weight(batches):
        value, first, second = 0.0, 0.0, 0.0
        for step, batch in enumerate(batches, start=1):
            gradient = np.mean(2 * (value - np.asarray(batch) / 100))
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            rate = 0.1 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            value -= rate * first / (np.sqrt(second) + 1e-8)
        return value

    for pipeline in EXPECTED:
        one = results[pipeline]
        np.testing.assert_allclose(one["weight"], weight(one["seen"]), rtol=1e-5)


def test_one_host_that_is_another_machine(results):
    assert results["one_host"]["calls"] == [[8, 0]]
    assert results["one_host"]["seen"] == [[*range(8)], [8, 9, *range(6)]]


def test_tables_go_along(results):
    assert results["table"]["seen"][0] == [7, 8, 9, 10, 107, 108, 109, 110]


def test_input_from_python_stays_with_the_program(results):
    assert results["generated"]["seen"] == [
        [0, 1, 2, 3, 100, 101, 102, 103],
        [4, 5, 6, 7, 104, 105, 106, 107],
    ]
    assert len(results["warnings"]) == 2
    assert "task:1/device:CPU:0 stays in this process" in results["warnings"][1]


def test_a_file_that_the_hosts_do_not_have(results):
    assert "mine.txt" in results["error"]
    assert "read by the TPU's own hosts" in results["error"]
    assert "gs://" in results["error"]


def test_the_position_of_other_machines_inputs_is_not_saved(results):
    assert "CheckpointInputPipelineHook cannot save" in results["position"]


def test_every_example_is_evaluated_once(results):
    """10 on one host and 19 on the other, in batches of a core."""
    numbers = [*range(10), *range(100, 119)]
    assert results["evaluated"]["count"] == len(numbers)
    np.testing.assert_allclose(results["evaluated"]["mean"], np.mean(numbers), rtol=1e-6)


def test_one_host_reads_for_all(results):
    assert (results["sliced"]["count"], results["sliced"]["mean"]) == (10, 4.5)
    assert results["predicted"] == list(range(10))


def test_the_program_itself_writes_and_reads_checkpoints(results, folder):
    """Not the hosts, which may not see its folder: each process has another working folder."""
    assert {"checkpoint", "model.ckpt-2.index", "model.ckpt-2.meta"} <= set(
        results["PER_HOST_V1"]["files"]
    )
    assert results["again"] == 4
    for number in range(2):
        assert os.listdir(folder / f"host_{number}") == ["numbers.txt"]
