"""Processes that train together: as one process would, and none waits indefinitely."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import worker_processes
import worker_program

from estimator_bridge.checkpoint import load_variable


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Returns the output of a chief, a worker and an evaluator after many trainings."""
    with worker_processes.Cluster(tmp_path_factory.mktemp("together")) as cluster:
        jobs = ("chief", "worker", "evaluator")
        numbers = {job: cluster.start("together", job) for job in jobs}
        outputs = {}
        for job, number in numbers.items():
            status, outputs[job] = cluster.outcome(number)
            assert status == 0, cluster.log(number)
        yield cluster.folder, outputs


def test_two_workers_train_to_the_weights_of_one_process(run, tmp_path):
    """From the chief's first values, with the same global batches; variables that each replica
    updates by itself (batch norm's averages, a sum) are those of all replicas."""
    folder, _ = run
    path = tmp_path / "alone"
    path.mkdir()
    for file in (folder / "hooked").glob("model.ckpt-0.*"):
        (path / file.name).write_bytes(file.read_bytes())
    (path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-0"')
    alone = worker_program.estimators_in(str(tmp_path))("alone")
    alone.train(worker_program.input_fn(), max_steps=20)
    together = tf.train.latest_checkpoint(str(folder / "hooked"))
    names = alone.get_variable_names()
    assert {"weights", "norm/moving_mean", "norm/moving_variance", "seen"} < set(names)
    for name in names:
        value = load_variable(together, name)
        if value.dtype == np.float32:
            np.testing.assert_allclose(value, alone.get_variable_value(name), atol=1e-5)
    for name in ("weights", "norm/moving_mean"):
        before = load_variable(str(path / "model.ckpt-0"), name)
        assert np.abs(load_variable(together, name) - before).max() > 0.05
    assert load_variable(together, "seen") == 2 + 20 * 2 * 9
    assert load_variable(together, "waves") == 2 + 20 * 2 * (1 + 2j)


def test_the_chiefs_own_hooks_run_on_it_alone(run):
    folder, outputs = run
    chief, worker = outputs["chief"], outputs["worker"]
    assert chief["counted"] == 5  # at steps 1, 5, 9, 13 and 17
    assert chief["added_up"] > 0
    assert "counted" not in worker
    assert "added_up" not in worker
    for events in (folder / "more", folder / "rates", folder / "hooked"):
        assert len(list(events.glob("events.*"))) == 1


def test_only_the_chief_writes_checkpoints_which_the_worker_sees_when_training_ends(run):
    folder, outputs = run
    assert outputs["worker"]["hooked"]["at"] == outputs["chief"]["hooked"]["at"]
    steps = {path.suffixes[0] for path in (folder / "hooked").glob("*.index")}
    assert steps == {".ckpt-0", ".ckpt-6", ".ckpt-12", ".ckpt-18", ".ckpt-20"}


def test_an_input_that_ends_on_one_worker_ends_training_on_all(run):
    assert [output["short"]["step"] for output in _workers(run)] == [9, 9]


def test_one_workers_request_to_stop_stops_all(run):
    assert [output["stopped"]["step"] for output in _workers(run)] == [5, 5]


def test_what_an_evaluation_found_stops_all(run):
    assert [output["early"]["step"] for output in _workers(run)] == [9, 9]


def test_a_nan_on_one_worker_is_found_by_all_at_its_step(run):
    for output in _workers(run):
        assert "at global step 9" in output["poisoned"]["error"]


def test_workers_that_are_to_train_unequally_long_are_told(run):
    for output in _workers(run):
        assert "Give train() the same steps" in output["uneven"]["error"]


def test_a_failure_of_one_program_reaches_the_others(run):
    chief, worker = _workers(run)
    assert worker["broken"]["error"] == "KeyError: 'no such file'"
    assert "worker 1 (localhost:" in chief["broken"]["error"]
    assert "KeyError: 'no such file'" in chief["broken"]["error"]


def test_train_and_evaluate_gives_each_process_its_role(run):
    folder, outputs = run
    step, exports = outputs["evaluator"]["both"]["result"]
    assert step == 30
    assert [Path(path).parent.name for path in exports] == ["final", "latest"]
    assert len(list((folder / "both" / "export" / "final").iterdir())) == 1
    served = tf.saved_model.load(exports[0]).signatures["serving_default"]
    assert next(iter(served(tf.zeros([4, 3])).values())).shape == [4, 1]
    for trained in _workers(run):
        assert trained["both"]["result"] is None
    assert load_variable(tf.train.latest_checkpoint(str(folder / "both")), "global_step") == 30


def test_the_chief_evaluates_after_training(run):
    assert run[1]["chief"]["evaluated"] > 0


def _workers(run):
    return run[1]["chief"], run[1]["worker"]


def test_a_worker_that_does_not_come_is_named_after_the_time_that_was_given(tmp_path):
    with worker_processes.Cluster(tmp_path) as cluster:
        number = cluster.start("waits", "chief")
        status, _ = cluster.outcome(number)
        log = cluster.log(number)
    assert status == 1
    assert "chief 0 waited 3 s (RunConfig.session_creation_timeout_secs)" in log
    assert f"No TensorFlow server answers at {cluster.jobs['worker'][0]}" in log
