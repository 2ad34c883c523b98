"""Clusters with parameter servers, beside what the real tf.estimator did in them."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from forking import start_python
from goldens.servers.make_servers import ALONE, PROGRAM, STEPS, TOGETHER, shapes_in

import estimator_bridge as eb
from parity.clusters import Cluster, log_lines

GOLDEN = json.loads(PROGRAM.with_name("servers.json").read_text())
MODES = {"v2": [], "v2off": ["--v2off"]}


def run(folder, counts, mode):
    """Runs a cluster to the end of each of its processes, servers included."""
    with Cluster(folder, counts, start_python) as cluster:
        cluster.start_all(str(PROGRAM), str(folder / "model"), str(STEPS), *MODES[mode])
        codes = {place: cluster.wait(place) for place in cluster.places}
        assert set(codes.values()) == {0}, cluster.outputs()
        return cluster


@pytest.mark.parametrize("mode", MODES)
def test_one_process_and_two_servers_give_the_numbers_of_the_original(mode, tmp_path):
    cluster, golden = run(tmp_path, ALONE, mode), GOLDEN[mode]
    results = cluster.results("chief 0")
    np.testing.assert_allclose(results["losses"], golden["losses"], rtol=0, atol=1e-6)
    assert results["devices"] == golden["devices"]
    assert {name: list(shape) for name, shape in shapes_in(tmp_path / "model").items()} == (
        golden["shapes"]
    )
    assert log_lines(cluster.output("chief 0")) == golden["lines"]["chief 0"]


@pytest.mark.parametrize("mode", MODES)
def test_each_role_logs_the_lines_of_the_original(mode, tmp_path):
    cluster, lines = run(tmp_path, TOGETHER, mode), GOLDEN[mode]["lines"]
    assert log_lines(cluster.output("chief 0")) == lines["chief 0"]
    assert log_lines(cluster.output("worker 0")) == lines["worker 0"]
    assert "names no evaluator" not in cluster.output("chief 0")  # no such cluster lists it
    served = log_lines(cluster.output("ps 0"))
    assert served[:2] == lines["ps 0"]
    assert served[2:] == [  # the original's server never ended
        "Parameter server N serves until the job ends: when chief N, worker N have trained to "
        "their end, or at SIGTERM.",
        "The job has ended. Parameter server N ends.",
    ]
    latest = tf.train.latest_checkpoint(str(tmp_path / "model"))
    assert int(latest.rpartition("-")[2]) >= STEPS
    seen = sum(len(cluster.results(place)["losses"]) for place in ("chief 0", "worker 0"))
    assert STEPS <= seen <= STEPS + 2


def test_one_machine_goes_on_from_a_checkpoint_of_servers_and_back(tmp_path, monkeypatch):
    run(tmp_path, ALONE, "v2")
    monkeypatch.syspath_prepend(str(Path(PROGRAM).parent))
    monkeypatch.delenv("TF_CONFIG", raising=False)
    import servers_program

    folder = str(tmp_path / "model")
    servers_program.main(folder, STEPS + 2)
    alone = eb.Estimator(servers_program._model_fn, folder)
    assert alone.get_variable_value("global_step") == STEPS + 2
    with Cluster(tmp_path, ALONE, start_python) as cluster:
        cluster.start_all(str(PROGRAM), folder, str(STEPS + 5))
        assert [cluster.wait(place) for place in cluster.places] == [0, 0, 0], cluster.outputs()
        assert len(cluster.results("chief 0")["losses"]) == 3
    assert alone.get_variable_value("global_step") == STEPS + 5
