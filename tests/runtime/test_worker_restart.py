"""Workers that are killed or terminated, and restarted, end with the same results."""

import signal
import types

import numpy as np
import pytest
import worker_processes
import worker_program

from estimator_bridge.checkpoint import latest_checkpoint, load_variable
from estimator_bridge.runtime.addresses import problems_at
from estimator_bridge.runtime.deadlines import worker_secs
from estimator_bridge.runtime.worker_restart import command_line, next_attempt


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Of 60 steps: the worker is killed after 5, the chief after 20, SIGTERM comes after 30."""
    path = tmp_path_factory.mktemp("restarted")
    with worker_processes.Cluster(path) as cluster:
        chief, worker = cluster.start("slow", "chief"), cluster.start("slow", "worker")
        cluster.wait_for_file("slow/model.ckpt-5.index")
        cluster.kill(worker)
        worker = cluster.start("slow", "worker")
        cluster.wait_for_file("slow/model.ckpt-20.index")
        cluster.kill(chief)
        before, chief = chief, cluster.start("slow", "chief")
        cluster.wait_for_file("slow/model.ckpt-30.index")
        cluster.terminate(worker)
        terminated = [cluster.outcome(number)[0] for number in (chief, worker)]
        logs = [cluster.log(number) for number in (before, chief, worker)]
        saved = latest_checkpoint(str(path / "slow"))
        numbers = [cluster.start("slow", "chief"), cluster.start("slow", "worker")]
        ended = [cluster.outcome(number) for number in numbers]
        yield types.SimpleNamespace(
            path=path, saved=saved, terminated=terminated, logs=logs, ended=ended,
            worker_address=cluster.jobs["worker"][0],
        )  # fmt: skip


def test_who_survives_starts_itself_anew_and_says_why(run):
    first_chief, chief, worker = run.logs  # of the worker's, the one that came back
    for log in (first_chief, worker):
        assert log.count("restarts itself (attempt 1 of 5)") == 1
    assert f"Lost {run.worker_address}. worker 0 (" in first_chief
    assert "restarts itself" not in chief


def test_sigterm_at_a_worker_ends_all_of_them_after_a_last_checkpoint(run):
    assert run.terminated == [143, 143]
    _, chief, worker = run.logs
    assert "SIGTERM: training saves a checkpoint" in worker
    assert "Training was ended by SIGTERM" in chief
    step = int(load_variable(run.saved, "global_step"))
    assert 30 <= step < 60
    assert [output["starts"] for _, output in run.ended] == [run.saved] * 2


def test_in_the_end_all_is_as_if_nothing_had_been(run):
    assert [status for status, _ in run.ended] == [0, 0]
    weights = [output["weights"] for _, output in run.ended]
    np.testing.assert_array_equal(*weights)
    alone = run.path / "alone"
    alone.mkdir()
    for file in (run.path / "slow").glob("model.ckpt-20.*"):
        (alone / file.name).write_bytes(file.read_bytes())
    (alone / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-20"')
    whole = worker_program.estimators_in(str(run.path))("alone")
    whole.train(worker_program.input_fn(), max_steps=60)
    np.testing.assert_allclose(whole.get_variable_value("weights").ravel(), weights[0], atol=1e-5)
    together = str(run.path / "slow" / "model.ckpt-60")
    assert load_variable(together, "global_step") == 60
    assert load_variable(together, "seen") == whole.get_variable_value("seen")
    np.testing.assert_allclose(
        load_variable(together, "norm/moving_mean"),
        whole.get_variable_value("norm/moving_mean"),
        atol=1e-5,
    )


def test_a_chief_that_was_stopped_and_goes_on_is_met_again(tmp_path, monkeypatch):
    """As a laptop that was suspended: it wakes when the worker has already started itself anew."""
    monkeypatch.setenv("HEARTBEAT_SECS", "2")
    with worker_processes.Cluster(tmp_path) as cluster:
        numbers = [cluster.start("slow", "chief"), cluster.start("slow", "worker")]
        cluster.wait_for_file("slow/model.ckpt-5.index")
        cluster.send(numbers[0], signal.SIGSTOP)
        cluster.wait_until(lambda: "restarts itself" in cluster.log(numbers[1]))
        cluster.wait_until(lambda: not problems_at(cluster.jobs["worker"]))
        cluster.send(numbers[0], signal.SIGCONT)
        ended = [cluster.outcome(number) for number in numbers]
        logs = [cluster.log(number) for number in numbers]
    assert [code for code, _ in ended] == [0, 0]
    np.testing.assert_array_equal(*[output["weights"] for _, output in ended])
    assert [log.count("restarts itself (attempt 1 of 5)") for log in logs] == [1, 1]
    together = str(tmp_path / "slow" / "model.ckpt-60")
    assert load_variable(together, "seen") == 2 * (1 + 9 * 60)  # each step once


def test_a_worker_that_hangs_is_waited_for_as_long_as_was_said(tmp_path, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_WORKER_SECS", "15")
    with worker_processes.Cluster(tmp_path) as cluster:
        chief = cluster.start("hangs", "chief")
        cluster.start("hangs", "worker")
        _, output = cluster.outcome(chief)
        address = cluster.jobs["worker"][0]
    message = output["error"]
    assert "worker 0 (" in message
    assert "waited 15 s (ESTIMATOR_BRIDGE_WORKER_SECS) after step 3 for the others:" in message
    assert f"{address} (its process lives)" in message


def test_a_deadline_that_is_no_time(monkeypatch):
    assert worker_secs() is None
    monkeypatch.setenv("ESTIMATOR_BRIDGE_WORKER_SECS", "soon")
    with pytest.raises(ValueError, match="WORKER_SECS must be a number of seconds > 0, got 'soon'"):
        worker_secs()


def test_attempts_are_counted_while_training_gets_no_further():
    assert next_attempt({}, -1) == (1, 5)
    left = {"ESTIMATOR_BRIDGE_RESTARTED": '{"attempt": 3, "step": 100}'}
    assert next_attempt(left, 100) == (4, 5)
    assert next_attempt(left, 40) == (4, 5)
    assert next_attempt(left, 101) == (1, 5)
    assert next_attempt({**left, "ESTIMATOR_BRIDGE_RESTARTS": "0"}, 101) == (1, 0)


def _main(**attributes):
    return types.SimpleNamespace(**{"__spec__": None, **attributes})


@pytest.mark.parametrize(
    ("main", "arguments", "original", "expected"),
    [
        (_main(__file__="a.py"), ["a.py", "-x"], None, ["a.py", "-x"]),
        (_main(__file__="a.py"), ["a.py"], ["python", "-u", "a.py"], ["-u", "a.py"]),
        (
            _main(__file__="p/__main__.py", __spec__=types.SimpleNamespace(name="p.__main__")),
            ["p/__main__.py", "-x"],
            None,
            ["-m", "p", "-x"],
        ),
    ],
)
def test_a_script_or_module_is_started_again_as_it_was(main, arguments, original, expected):
    assert command_line(main, arguments, original)[1:] == expected


def test_what_is_neither_script_nor_module_cannot_start_itself_anew():
    assert command_line(_main(), [""], ["python"]) is None
