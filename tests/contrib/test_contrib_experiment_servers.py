"""An Experiment in a cluster with parameter servers, beside TensorFlow 1.15.5's."""

from __future__ import annotations

import json

import pytest
import tensorflow as tf
from forking import start_python
from goldens.servers.make_experiments import COUNTS, KINDS, PROGRAM, STEPS, place_of
from goldens.servers.make_servers import shapes_in

import estimator_bridge as eb
from estimator_bridge.training.parameter_servers import start_server
from estimator_bridge_contrib import learn
from parity.clusters import Cluster, free_addresses, log_lines

v1 = tf.compat.v1
GOLDEN = json.loads(PROGRAM.with_name("experiments.json").read_text())


# A line of tf.estimator, which the original's Experiment did not write.
STARTED = ["Start Tensorflow server."]
# Lines of tf.estimator, which tf.contrib.learn's estimators have here too.
CORES = ("Calling model_fn.", "Done calling model_fn.", "Saving 'checkpoint_path'")
# Lines of TensorFlow 2, as tf.estimator of 2.15 has them.
NEWER = ("Calling checkpoint listeners", "Inference Time")


def own_lines(cluster, place, kind):
    """Returns those of a role's log lines that the original could have written."""
    left_out = NEWER if kind == "core" else NEWER + CORES
    return [line for line in log_lines(cluster.output(place)) if not line.startswith(left_out)]


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
    for place in results:
        lines = [line.rstrip("Z") for line in golden["lines"][place]]  # of a time, in 1.15
        assert own_lines(cluster, place, kind) == [*STARTED, *lines]
    assert log_lines(cluster.output("ps 0")) == [
        *golden["lines"]["ps 0"],
        *STARTED,
        "Parameter server N serves until the job ends: when master N, worker N have trained to "
        "their end, or at SIGTERM.",
        "The job has ended. Parameter server N ends.",
    ]


def input_fn():
    return tf.data.Dataset.from_tensors([1.0, 2.0]).repeat()


def model_fn(features, mode):
    loss = tf.reduce_sum(v1.get_variable("w", [2]) * features)
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def experiment_of(tmp_path, config=None):
    estimator = eb.Estimator(model_fn, str(tmp_path), config or learn.RunConfig())
    return learn.Experiment(estimator, input_fn, input_fn, train_steps=3)


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
    cluster = {"ps": [server], "worker": [own]}
    in_cluster(monkeypatch, "ps", cluster)
    start_server(learn.RunConfig())
    in_cluster(monkeypatch, "worker", cluster)
    message = f'worker 0 has no server: none answers at {own}.*"environment": "cloud"'
    with pytest.raises(eb.errors.WorkerError, match=message):
        experiment_of(tmp_path).train()
    assert "Set environment to 'cloud' if you intend to use the distributed" in caplog.text
