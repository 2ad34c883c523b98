"""A worker that is killed and started again rejoins the others at the last checkpoint."""

import types

import numpy as np
import pytest
import worker_processes
import worker_program

from estimator_bridge.checkpoint import load_variable
from estimator_bridge.runtime.rejoin import command_line, next_attempt


def test_killed_workers_rejoin_and_train_on_as_if_nothing_had_been(tmp_path):
    with worker_processes.Cluster(tmp_path) as cluster:
        chief, worker = cluster.start("slow", "chief"), cluster.start("slow", "worker")
        cluster.wait_for_file("slow/model.ckpt-5.index")
        cluster.kill(worker)
        worker = cluster.start("slow", "worker")
        cluster.wait_for_file("slow/model.ckpt-20.index")
        cluster.kill(chief)
        before, chief = chief, cluster.start("slow", "chief")
        logs = {name: cluster.said(n) for name, n in (("chief", chief), ("worker", worker))}
        survivors = [cluster.log(before), cluster.log(worker)]
        worker_address = cluster.jobs["worker"][0]
    assert [status for status, _ in logs.values()] == [0, 0]
    weights = [said["weights"] for _, said in logs.values()]
    np.testing.assert_array_equal(*weights)
    for log in survivors:  # first the chief of the beginning, then the worker that came back
        assert log.count("starts itself anew (attempt 1 of 5)") == 1
    assert f"Lost {worker_address}. worker 0 (" in survivors[0]

    path = tmp_path / "alone"
    path.mkdir()
    for file in (tmp_path / "slow").glob("model.ckpt-20.*"):
        (path / file.name).write_bytes(file.read_bytes())
    (path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-20"')
    alone = worker_program.made(str(tmp_path))("alone")
    alone.train(worker_program.input_fn(), max_steps=40)
    np.testing.assert_allclose(alone.get_variable_value("weights").ravel(), weights[0], atol=1e-5)
    assert load_variable(str(tmp_path / "slow" / "model.ckpt-40"), "global_step") == 40


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
    ("main", "arguments", "original", "wanted"),
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
def test_a_script_or_module_is_started_again_as_it_was(main, arguments, original, wanted):
    assert command_line(main, arguments, original)[1:] == wanted


def test_what_is_neither_script_nor_module_cannot_start_itself_anew():
    assert command_line(_main(), [""], ["python"]) is None
