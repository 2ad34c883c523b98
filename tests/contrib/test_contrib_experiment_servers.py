"""An Experiment in a cluster with parameter servers, beside TensorFlow 1.15.5's."""

from __future__ import annotations

import json

import pytest
from forking import start_python
from goldens.servers.make_experiments import COUNTS, KINDS, PROGRAM, STEPS, place_of
from goldens.servers.make_servers import shapes_in

import estimator_bridge as eb
from estimator_bridge_contrib import learn
from parity.clusters import Cluster, free_addresses, log_lines

GOLDEN = json.loads(PROGRAM.with_name("experiments.json").read_text())


def run(folder, kind, *options, counts=COUNTS, environment="cloud"):
    """Runs a cluster to the end of each of its processes, the server included."""
    with Cluster(folder, counts, start_python) as cluster:
        words = [str(PROGRAM), kind, str(folder / "model"), str(STEPS), *options]
        for place in cluster.places:
            cluster.start(place, *words, TF_CONFIG=place_of(cluster, place, environment))
        codes = {place: cluster.wait(place, 200) for place in cluster.places}
        assert set(codes.values()) == {0}, cluster.outputs()
        return cluster


@pytest.mark.parametrize("kind", KINDS)
def test_master_worker_and_server_are_those_of_the_original(kind, tmp_path):
    cluster, golden = run(tmp_path, kind), GOLDEN[kind]
    assert {name: list(shape) for name, shape in shapes_in(tmp_path / "model").items()} == (
        golden["shapes"]
    )
    results = {place: cluster.results(place) for place in ("master 0", "worker 0")}
    steps = sum(seen.pop("steps") for seen in results.values())
    assert STEPS <= steps <= STEPS + 2
    last = [seen.pop("last") for seen in results.values()]
    assert STEPS - 2 <= max(last) <= STEPS + 1
    assert results == golden["results"]
    assert log_lines(cluster.output("worker 0")) == golden["lines"]["worker 0"]
    assert log_lines(cluster.output("master 0")) == golden["lines"]["master 0"]
    assert log_lines(cluster.output("ps 0")) == [
        *golden["lines"]["ps 0"],
        "Start Tensorflow server.",
        "Parameter server N serves until the job ends: when master N, worker N have trained to "
        "their end, or at SIGTERM.",
        "The job has ended. Parameter server N ends.",
    ]


def experiment_of(tmp_path, config=None):
    estimator = eb.Estimator(
        lambda features, mode: None, str(tmp_path), config or learn.RunConfig()
    )
    return learn.Experiment(estimator, None, None)


def in_cluster(monkeypatch, task, cluster, **more):
    place = {"cluster": cluster, "task": {"type": task, "index": 0}, **more}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))


def test_a_server_without_a_cluster_is_the_originals_error(tmp_path):
    with pytest.raises(ValueError, match=r"^Could not start server") as caught:
        experiment_of(tmp_path).run_std_server()
    assert f"ValueError: {caught.value}" == GOLDEN["error"]


def test_a_server_in_a_cluster_of_one_is_the_originals_error(monkeypatch, tmp_path):
    in_cluster(monkeypatch, "ps", {"ps": ["localhost:1"]})
    with pytest.raises(ValueError, match=r"^Could not start server; be sure to specify"):
        experiment_of(tmp_path).run_std_server()


def test_only_parameter_servers_serve(monkeypatch, tmp_path):
    in_cluster(monkeypatch, "worker", {"ps": ["localhost:1"], "worker": ["localhost:2"]})
    with pytest.raises(NotImplementedError, match="this process is worker 0, which holds none"):
        experiment_of(tmp_path).run_std_server()


def test_a_config_of_tf_estimator_is_refused_in_a_cluster(monkeypatch, tmp_path):
    in_cluster(monkeypatch, "chief", {"ps": ["localhost:1"], "chief": ["localhost:2"]})
    with pytest.raises(ValueError, match=r"only works with tf\.contrib\.learn\.RunConfig"):
        experiment_of(tmp_path, eb.RunConfig()).train()


def test_a_local_environment_is_told_of_and_its_missing_server_named(monkeypatch, tmp_path, caplog):
    """The original warned, and then waited for its own address without end."""
    own, server = free_addresses(2)
    in_cluster(monkeypatch, "worker", {"ps": [server], "worker": [own]})
    config = learn.RunConfig(session_creation_timeout_secs=1)
    with pytest.raises(eb.errors.WorkerError, match=f"waited 1 s .* at {server}"):
        experiment_of(tmp_path, config).train()
    assert "Set environment to 'cloud' if you intend to use the distributed" in caplog.text
