"""Steps of several processes on JAX: the numbers of one process, ends, losses and refusals."""

import contextlib
import json
import socket
import threading
import time
import types
from pathlib import Path

import jax_hosts_program
import numpy as np
import pytest
import tensorflow as tf
import worker_processes

import estimator_bridge as eb
from estimator_bridge.errors import NotOnJaxError, WorkerError
from estimator_bridge.runtime.on_jax import loop, processes
from estimator_bridge.runtime.on_jax.front import Front
from estimator_bridge.runtime.on_jax.peers import Peers
from estimator_bridge.runtime.on_jax.place import Place, place_in_cluster
from estimator_bridge.runtime.on_jax.refusals import check_step
from estimator_bridge.runtime.on_jax.relay import Relay
from estimator_bridge.runtime.on_jax.wires import LineReader

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

v1 = tf.compat.v1
PROGRAM = Path(__file__).with_name("jax_hosts_program.py")


def values(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def check_near(actual, expected):
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, atol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The trainings of two processes with two devices each, and of one with four."""
    path, whole = tmp_path_factory.mktemp("processes"), tmp_path_factory.mktemp("whole")
    with worker_processes.Cluster(path, PROGRAM) as cluster:
        numbers = [cluster.start("trainings", job) for job in ("chief", "worker")]
        alone = jax_hosts_program.trainings(whole, "jax:cpu:4")
        ended = [cluster.outcome(number) for number in numbers]
        logs = [cluster.log(number) for number in numbers]
    assert [code for code, _ in ended] == [0, 0], logs
    return types.SimpleNamespace(
        path=path, whole=whole, alone=alone, outputs=[output for _, output in ended], logs=logs
    )


@pytest.mark.parametrize("name", ["plain", "noise", "mixed"])
def test_two_processes_train_to_the_weights_of_one(run, name):
    """Those of the same global batches; "noise" has dropout and normal draws in each replica.

    In "mixed" the second process reads each batch when its step is due, and the first one earlier.
    """
    latest = tf.train.latest_checkpoint(str(run.whole / name))
    check_near(values(run.path / name / Path(latest).name), values(latest))


def test_each_reads_the_first_batches_of_the_next_call_ahead(run):
    assert [output["reads_ahead"] for output in (run.alone, *run.outputs)] == [16] * 3


def test_a_hook_of_the_chief_alone_fetches_a_sum_over_all_replicas(run):
    chief, worker = (output["totals"] for output in run.outputs)
    assert len(chief) == 2  # one for each loop of up to 4 steps
    np.testing.assert_allclose(chief, run.alone["totals"], rtol=1e-5)
    assert worker == []
    latest = "summed/model.ckpt-6"
    check_near(values(run.path / latest), values(run.whole / latest))


def test_all_end_where_the_first_input_ends(run):
    assert [output["uneven"] for output in run.outputs] == [13, 13]


def test_each_evaluates_and_predicts_by_itself(run):
    for output in run.outputs:
        assert output["evaluated"]["global_step"] == 13
        assert len(output["predicted"]) == 7
    first, second = run.outputs
    assert first["evaluated"] == second["evaluated"]
    assert first["predicted"] == second["predicted"]


def test_the_chief_alone_writes(run):
    assert len(list((run.path / "uneven" / "eval").iterdir())) == 1
    events = [event for path in sorted((run.path / "noise").glob("events*"))
              for event in tf.compat.v1.train.summary_iterator(str(path))]  # fmt: skip
    steps = [e.step for e in events for value in e.summary.value if value.tag == "twice"]
    assert len(steps) == len(set(steps)) > 3


def test_the_chief_runs_the_hosts_part_on_the_rows_of_all_replicas(run):
    chief, worker = (
        [json.loads(line)["rows"] for line in log.splitlines() if line.startswith('{"rows"')]
        for log in run.logs
    )
    assert worker == []
    parts = jax_hosts_program.X[:, :, 0].reshape(-1, 4, 2).sum(-1)
    np.testing.assert_allclose(chief, [*parts[:4], *parts[:4]], atol=1e-5)


def test_without_a_seed_all_take_the_chiefs(run):
    first, second = (output["seed"] for output in run.outputs)
    assert first is not None
    assert first == second


def test_what_processes_on_jax_do_not_have_is_refused(run):
    for output in run.outputs:
        assert "NotOnJaxError" in output["broadcast"]
        assert "Set it to InputPipelineConfig.PER_HOST_V1" in output["broadcast"]
        assert "NotOnJaxError" in output["adds"]
        assert "A hook fetches an operation that changes variables" in output["adds"]


def test_processes_with_different_steps_say_in_what(tmp_path):
    """They waited for each other, without end. One may hear of the error from the other."""
    with worker_processes.Cluster(tmp_path, PROGRAM) as cluster:
        numbers = [cluster.start("different", job) for job in ("chief", "worker")]
        for _, output in [cluster.outcome(number) for number in numbers]:
            assert "NotOnJaxError: The process at localhost" in output["error"]
            assert "its values for the host (host_call) are [" in output["error"]
            assert output["error"].split("chief's ")[1].startswith("[]")


@pytest.fixture
def as_of_two_processes(monkeypatch):
    """Steps are checked as those of two processes are: one process can tell."""
    places = types.SimpleNamespace(jax_name="jax:cpu:2", processes=object(), device_draws=False)
    monkeypatch.setattr(
        loop, "check_step", lambda run, session, strategy: check_step(run, session, places)
    )


@pytest.mark.usefixtures("as_of_two_processes")
def test_a_host_call_that_writes_what_the_replicas_use_is_refused():
    def model_fn(features, labels, mode, params):
        scale = v1.get_variable("scale", [], trainable=False)
        loss = scale * tf.reduce_mean(features @ v1.get_variable("weight", [5, 1]))
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.05))
        return eb.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step()),
            host_call=(lambda rows: v1.assign(scale, rows[0]), [tf.reshape(loss, [1])]),
        )  # fmt: skip

    config = eb.tpu.RunConfig(master="jax:cpu:2")
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
    with pytest.raises(NotOnJaxError, match="writes the variable 'scale', which the replicas use"):
        estimator.train(jax_hosts_program.same_batch, max_steps=1)


@pytest.mark.usefixtures("as_of_two_processes")
def test_a_value_of_each_replicas_own_is_refused():
    def model_fn(features, labels, mode):
        rows = v1.get_variable(
            "rows", [], trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )  # fmt: skip
        loss = tf.reduce_mean(features @ v1.get_variable("weight", [5, 1]))
        optimizer = v1.train.GradientDescentOptimizer(0.05)
        with tf.control_dependencies([rows.assign_add(4.0)]):
            train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

    config = eb.tpu.RunConfig(master="jax:cpu:2")
    convert = eb.tpu.TPUEstimator.from_estimator
    estimator = convert(eb.Estimator(model_fn), config, train_batch_size=8)
    with pytest.raises(NotOnJaxError, match="The variable 'rows' has a value of its own on each"):
        estimator.train(jax_hosts_program.same_batch, max_steps=1)


def test_a_killed_process_that_is_started_again_is_met_again(tmp_path):
    with worker_processes.Cluster(tmp_path, PROGRAM) as cluster:
        chief, worker = cluster.start("slow", "chief"), cluster.start("slow", "worker")
        cluster.wait_for_file("slow/model.ckpt-8.index")
        cluster.kill(worker)
        worker = cluster.start("slow", "worker")
        codes = [cluster.outcome(number)[0] for number in (chief, worker)]
        log = cluster.log(chief)
        address = cluster.jobs["worker"][0]
    assert codes == [0, 0], log
    assert f"Lost {address}. process 0 (" in log
    assert log.count("restarts itself (attempt 1 of 5)") == 1
    whole = jax_hosts_program.estimator_of("jax:cpu:4", tmp_path / "whole", noise=5)
    whole.train(jax_hosts_program.same_batch, max_steps=30)
    check_near(values(tmp_path / "slow/model.ckpt-30"), values(tmp_path / "whole/model.ckpt-30"))


def places(devices=("jax:cpu:2", "jax:cpu:2")):
    addresses = tuple(worker_processes.free_addresses(len(devices)))
    return [Place(addresses, i, name) for i, name in enumerate(devices)]


def test_a_chief_that_does_not_answer_is_named_with_the_time_waited():
    place = places()[1]
    with pytest.raises(WorkerError) as caught:
        Relay(place, Peers()).join(0.5)
    assert f"{place.name} waited 0.5 s (ESTIMATOR_BRIDGE_CONNECT_SECS)" in str(caught.value)
    assert f"process 0 ({place.addresses[0]})" in str(caught.value)
    assert "Connection refused" in str(caught.value)


def test_processes_that_do_not_come_are_named():
    place = places()[0]
    front = Front(place, Peers())
    with pytest.raises(WorkerError, match=f"Missing: process 1 \\({place.addresses[1]}\\)"):
        front.wait_for_all(0.3)
    front.close()


def test_processes_with_other_devices_are_refused_on_both_sides():
    chief, worker = places(("jax:cpu:2", "jax:cpu:3"))
    front, errors = Front(chief, Peers()), []

    def join():
        try:
            Relay(worker, Peers()).join(20)
        except WorkerError as error:
            errors.append(str(error))

    thread = threading.Thread(target=join)
    thread.start()
    with pytest.raises(WorkerError, match="process 1 runs 'jax:cpu:3'"):
        front.wait_for_all(20)
    thread.join(20)
    front.close()
    assert "runs 'jax:cpu:2'" in errors[0]
    assert "the same devices" in errors[0]


def wait_until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_failure_reaches_all_and_the_chiefs_end_is_noticed():
    chief, *workers = places(["jax:cpu:2"] * 3)
    peers = [Peers() for _ in range(3)]
    front = Front(chief, peers[0])
    relays = [Relay(place, of_one) for place, of_one in zip(workers, peers[1:])]
    threads = [threading.Thread(target=relay.join, args=(20,)) for relay in relays]
    for thread in threads:
        thread.start()
    front.wait_for_all(20)
    front.start(1)
    for thread in threads:
        thread.join(20)
    assert all(each.is_whole for each in peers)
    relays[0].tell({"failed": "my own mistake"})
    wait_until(lambda: peers[0].failure == peers[2].failure == "my own mistake")
    assert peers[1].failure is None
    front.close()
    wait_until(lambda: peers[2].lost_addresses == [chief.addresses[0]])


def test_a_slice_of_several_hosts_needs_no_tf_config(monkeypatch):
    """JAX finds the hosts; here one that only says what it was asked."""
    monkeypatch.setattr(processes, "_met", [])
    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.setenv("TPU_WORKER_HOSTNAMES", "10.0.0.1,10.0.0.2")
    calls = []
    jax = types.SimpleNamespace(
        config=types.SimpleNamespace(update=lambda name, value: None),
        distributed=types.SimpleNamespace(initialize=lambda **options: calls.append(options)),
        process_count=lambda: 2,
        process_index=lambda: 1,
    )
    place = processes.meet(jax, "jax", on_cpu=False).place
    assert calls == [{"initialization_timeout": 600}]
    assert (place.index, place.name) == (1, "process 1 (host 1 of the TPU)")


@pytest.mark.parametrize("sent", [b"[" * 60_000 + b"\n", b"[]\n", b"{\n", b"x" * 70_000, b""])
def test_what_is_no_line_of_ours_ends_a_connection(sent):
    ours, theirs = socket.socketpair()

    def send():
        with contextlib.suppress(OSError):  # the reader may have left
            theirs.sendall(sent)

    with ours, theirs:
        threading.Thread(target=send).start()
        if not sent:
            theirs.shutdown(socket.SHUT_WR)
        assert LineReader(ours).read() is None


def test_processes_with_other_generators_do_not_meet(monkeypatch):
    """They would compile different programs, and wait for each other."""
    monkeypatch.setattr(processes, "_met", [])
    monkeypatch.setattr(processes, "_meet_by_tf_config", lambda jax, place: place)
    monkeypatch.setenv("TF_CONFIG", cluster(type="worker", index=0))
    monkeypatch.setenv("ESTIMATOR_BRIDGE_JAX_DRAWS", "device")
    place = processes.meet(None, "jax:cpu:2", on_cpu=True)
    assert place.devices == "jax:cpu:2 (ESTIMATOR_BRIDGE_JAX_DRAWS=device)"


def test_a_port_in_use_is_an_error_that_says_so():
    place = places()[0]
    front = Front(place, Peers())
    with pytest.raises(WorkerError, match=r"cannot listen at its address .*in use"):
        Front(place, Peers())
    front.close()


def cluster(**task):
    jobs = {"chief": ["a:1"], "worker": ["b:2", "c:3"]}
    return json.dumps({"cluster": jobs, "task": task})


def test_places_in_a_cluster(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", cluster(type="worker", index=1))
    assert place_in_cluster("jax") == Place(("a:1", "b:2", "c:3"), 2, "jax")
    monkeypatch.setenv("TF_CONFIG", cluster(type="evaluator", index=0))
    assert place_in_cluster("jax") is None
    monkeypatch.setenv("TF_CONFIG", cluster(type="worker", index=2))
    with pytest.raises(ValueError, match="2 is not a valid task_id for task_type worker"):
        place_in_cluster("jax")
    jobs = {"chief": ["a:1"], "ps": ["b:2"]}
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": jobs, "task": {"type": "chief", "index": 0}})
    )
    with pytest.raises(ValueError, match=r"1 parameter server\(s\).*Take 'ps' out"):
        place_in_cluster("jax")
