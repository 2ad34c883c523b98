"""Wrong clusters with parameter servers: an error that says what to do, and no wait without end."""

import json
import signal
import subprocess
import sys
import time

import pytest
import tensorflow as tf
from forking import start_python
from goldens.servers.make_servers import PROGRAM

import estimator_bridge as eb
from estimator_bridge.experimental import CheckpointInputPipelineHook
from estimator_bridge.training.parameter_servers.servers import start_server
from parity.clusters import Cluster, free_addresses

v1 = tf.compat.v1
LISTENS = """
import socket, time
one = socket.create_server(("localhost", 0))
print(one.getsockname()[1], flush=True)
time.sleep(60)
"""


def model_fn(features, labels, mode):
    loss = tf.reduce_sum(v1.get_variable("w", [2]) * features)
    train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors([1.0, 2.0]).repeat()


def config_of(monkeypatch, tmp_path, task, jobs, secs=1, **variables):
    place = {"cluster": jobs, "task": {"type": task, "index": 0}, **variables}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    return eb.RunConfig(str(tmp_path), session_creation_timeout_secs=secs)


def jobs_of(chief="localhost:1", ps="localhost:2"):
    return {"chief": [chief], "ps": [ps]}


def test_a_server_that_does_not_come_is_named(monkeypatch, tmp_path):
    own, absent = free_addresses(2)
    config = config_of(monkeypatch, tmp_path, "chief", jobs_of(own, absent))
    with pytest.raises(eb.errors.WorkerError, match=f"chief 0 waited 1 s .* at {absent}"):
        eb.Estimator(model_fn, config=config).train(input_fn, steps=1)


@pytest.mark.parametrize("role", ["chief", "ps"])
def test_a_port_that_is_in_use_is_an_error_at_once(role, monkeypatch, tmp_path):
    with subprocess.Popen([sys.executable, "-c", LISTENS], stdout=subprocess.PIPE) as other:
        own = f"localhost:{int(other.stdout.readline())}"
        config = config_of(monkeypatch, tmp_path, role, jobs_of(**{role: own}), secs=7200)
        estimator = eb.Estimator(model_fn, config=config)
        message = rf"{role} 0 cannot listen .* Process {other.pid} \(python.*\) holds it: end it"
        with pytest.raises(eb.errors.WorkerError, match=message):
            eb.train_and_evaluate(estimator, eb.TrainSpec(input_fn, 2), eb.EvalSpec(input_fn))
        other.kill()


def test_an_address_of_another_machine_is_told_of(monkeypatch, tmp_path, caplog):
    port = free_addresses(1)[0].rpartition(":")[2]
    jobs = jobs_of(ps=f"192.0.2.7:{port}")  # an address of no machine (RFC 5737)
    start_server(config_of(monkeypatch, tmp_path, "ps", jobs))
    assert "ps 0 is at 192.0.2.7" in caplog.text
    assert "192.0.2.7, which is no address of this machine" in caplog.text


@pytest.mark.parametrize(("cores", "is_alone"), [(1, True), (2, False)])
def test_threads_do_not_spin_where_processes_share_cores(cores, is_alone, monkeypatch, tmp_path):
    """On machines of their own they do, as the original's."""
    configs = []
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    monkeypatch.setattr(
        v1.train, "Server", lambda *_, config, **__: configs.append(config.experimental)
    )
    own, other = free_addresses(2)
    start_server(config_of(monkeypatch, tmp_path, "ps", jobs_of(other, own)))
    start_server(
        config_of(monkeypatch, tmp_path, "ps", jobs_of("10.0.0.1:1", free_addresses(1)[0]))
    )
    assert [config.disable_thread_spinning for config in configs] == [is_alone, False]


def test_a_config_without_an_address_starts_no_server(monkeypatch, tmp_path):
    config = config_of(monkeypatch, tmp_path, "chief", jobs_of(), session_master="")
    with pytest.raises(RuntimeError, match="be sure to specify master in RunConfig"):
        start_server(config)


def test_an_environment_that_has_started_the_server_is_believed(monkeypatch, tmp_path):
    config = config_of(monkeypatch, tmp_path, "chief", jobs_of(), environment="google")
    assert start_server(config) is None


def test_a_tpu_has_no_parameter_servers(monkeypatch, tmp_path):
    place = {"cluster": jobs_of(), "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    config = eb.tpu.RunConfig(model_dir=str(tmp_path), master="emulated:2")
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, use_tpu=True, train_batch_size=2)
    with pytest.raises(ValueError, match=r"1 parameter server.*cores hold the variables"):
        estimator.train(input_fn, steps=1)


def test_a_strategy_that_uses_no_servers_is_refused(monkeypatch, tmp_path):
    config = config_of(monkeypatch, tmp_path, "chief", jobs_of())
    config = config.replace(train_distribute=tf.distribute.OneDeviceStrategy("/cpu:0"))
    with pytest.raises(ValueError, match="train_distribute=OneDeviceStrategy uses none"):
        eb.Estimator(model_fn, config=config).train(input_fn, steps=1)


def test_positions_of_an_input_belong_to_no_checkpoint_of_servers(monkeypatch, tmp_path):
    estimator = eb.Estimator(model_fn, config=config_of(monkeypatch, tmp_path, "chief", jobs_of()))
    hook = CheckpointInputPipelineHook(estimator)
    with pytest.raises(NotImplementedError, match="Leave the hook out"):
        estimator.train(input_fn, hooks=[hook], steps=1)


def test_a_dataset_of_another_graph_is_refused_with_what_to_do(monkeypatch, tmp_path):
    dataset = input_fn()
    estimator = eb.Estimator(model_fn, config=config_of(monkeypatch, tmp_path, "chief", jobs_of()))
    with pytest.raises(ValueError, match="make the dataset inside the input_fn"):
        estimator.train(lambda: dataset, steps=1)


def test_a_server_that_nobody_uses_ends(tmp_path):
    with Cluster(tmp_path, {"chief": 1, "ps": 1}, start_python) as cluster:
        cluster.start("ps 0", str(PROGRAM), str(tmp_path / "model"), "4", TIMEOUT_SECS="2")
        assert cluster.wait("ps 0") == 1
        assert "WorkerError: ps 0 has served nobody for" in cluster.output("ps 0")
        assert cluster.jobs["chief"][0] in cluster.output("ps 0")


def test_a_worker_whose_chief_does_not_come_says_so(tmp_path):
    counts = {"chief": 1, "worker": 1, "ps": 1}
    words = [str(PROGRAM), str(tmp_path / "model"), "4"]
    with Cluster(tmp_path, counts, start_python) as cluster:
        cluster.start("ps 0", *words)
        cluster.wait_for(lambda: "Parameter server 0 serves" in cluster.output("ps 0"))
        cluster.start("worker 0", *words, TIMEOUT_SECS="3")
        assert cluster.wait("worker 0") == 1
        assert "for the chief, which gives the variables" in cluster.output("worker 0")


def test_a_chief_that_is_asked_to_end_saves_and_the_job_goes_on_with_the_next(tmp_path):
    words = [str(PROGRAM), str(tmp_path / "model")]
    with Cluster(tmp_path, {"chief": 1, "ps": 1}, start_python) as cluster:
        cluster.start("ps 0", *words, "60")
        cluster.start("chief 0", *words, str(10**9))
        cluster.wait_for(lambda: "step = " in cluster.output("chief 0"))
        cluster.send("chief 0", signal.SIGTERM)
        assert cluster.wait("chief 0") == 143, cluster.outputs()
        step = int(tf.train.latest_checkpoint(words[1]).rpartition("-")[2])
        time.sleep(1.5)
        assert not cluster.has_ended("ps 0"), cluster.outputs()
        cluster.start("chief 0", *words, str(step + 3))
        assert cluster.wait("chief 0") == cluster.wait("ps 0") == 0, cluster.outputs()
        assert len(cluster.results("chief 0")["losses"]) == 3
        assert tf.train.latest_checkpoint(words[1]).endswith(f"-{step + 3}")
