"""How an evaluator ends when the checkpoint of max_steps does not come."""

from __future__ import annotations

import json

import pytest
from forking import start_python
from test_executor_roles import CLUSTER, FakeTime, fake_estimator, in_cluster, run_evaluator

import estimator_bridge as eb
from estimator_bridge.training.continuous.job_end import note_early_end, remove_end_note
from parity.clusters import Cluster

import tensorflow as tf  # isort: skip

NOBODY = {"chief": ["localhost:1"], "worker": ["localhost:2"]}  # ports at which nothing listens


def checkpoint(folder, step):
    """Writes a checkpoint of a global step; returns its path."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.train.create_global_step().load(step, session)
        saver = tf.compat.v1.train.Saver()
        return saver.save(session, str(folder / "model.ckpt"), step, write_state=False)


def estimator_at(folder, checkpoints, steps, **config):
    """An estimator whose checkpoints, None among them, are seen one at a time."""
    estimator = fake_estimator(checkpoints, steps, **config)
    estimator.model_dir = str(folder)
    return estimator


def test_the_end_of_training_before_max_steps_ends_the_evaluator(tmp_path, caplog):
    caplog.set_level("INFO", "tensorflow")
    path = checkpoint(tmp_path, 100)
    estimator = estimator_at(tmp_path, [path, path], [100])

    def evaluate(**_):
        note_early_end(str(tmp_path), path, 200)
        return {"global_step": 100}

    estimator.evaluate.side_effect = evaluate
    time = FakeTime()
    assert run_evaluator(estimator, time=time) == ({"global_step": 100}, [])
    assert time.slept == [60]
    assert "training has ended at step 100" in caplog.text


def test_a_last_checkpoint_is_evaluated_before_the_end(tmp_path):
    first, last = checkpoint(tmp_path, 100), checkpoint(tmp_path, 120)
    estimator = estimator_at(tmp_path, [first, last], [])

    def evaluate(checkpoint_path, **_):
        note_early_end(str(tmp_path), last, None)
        return {"global_step": int(checkpoint_path.rpartition("-")[2])}

    estimator.evaluate.side_effect = evaluate
    assert run_evaluator(estimator, max_steps=None) == ({"global_step": 120}, [])


def test_the_note_of_an_earlier_training_does_not_end_the_evaluator(tmp_path):
    path, new = checkpoint(tmp_path, 100), checkpoint(tmp_path, 200)
    note_early_end(str(tmp_path), path, 200)
    estimator = estimator_at(tmp_path, [path, path, path, new], [100, 200])
    assert run_evaluator(estimator) == ({"global_step": 200}, [])


def test_a_training_that_reached_max_steps_leaves_no_note(tmp_path):
    note_early_end(str(tmp_path), checkpoint(tmp_path, 200), 200)
    note_early_end(str(tmp_path), None, 200)
    assert not list(tmp_path.glob(".estimator*"))


def test_a_chief_notes_its_early_end_and_the_next_removes_the_note(tmp_path, monkeypatch):
    in_cluster(monkeypatch, "chief", cluster=CLUSTER)
    path, notes = checkpoint(tmp_path, 100), []
    for expected in ([], [".estimator_bridge.ended"]):
        estimator = estimator_at(tmp_path, [path], [])
        estimator.train.side_effect = lambda **_: notes.extend(tmp_path.glob(".estimator*"))
        if expected:
            note_early_end(str(tmp_path), path, None)
        eb.train_and_evaluate(estimator, eb.TrainSpec(len, 200), eb.EvalSpec(len))
        assert not notes
        assert [note.name for note in tmp_path.glob(".estimator*")] == [".estimator_bridge.ended"]
    remove_end_note(str(tmp_path))
    assert not list(tmp_path.glob(".estimator*"))


def test_an_evaluator_of_a_job_that_is_gone_says_for_whom_it_waited(tmp_path, monkeypatch):
    in_cluster(monkeypatch, "evaluator", cluster=NOBODY)
    path = checkpoint(tmp_path, 100)
    estimator = estimator_at(tmp_path, [path] * 20, [100], session_creation_timeout_secs=300)
    time = FakeTime()
    with pytest.raises(eb.errors.WorkerError) as caught:
        run_evaluator(estimator, time=time)
    message = str(caught.value)
    assert f"evaluator 0 has had no new checkpoint in {tmp_path} for 300 s" in message
    assert "localhost:1 (" in message
    assert "localhost:2 (" in message
    assert "The one of max_steps (200) has not come" in message
    assert time.now == 300


def test_an_evaluator_that_starts_after_the_job_ends_when_nobody_answers(tmp_path, monkeypatch):
    in_cluster(monkeypatch, "evaluator", cluster=NOBODY)
    path = checkpoint(tmp_path, 100)
    note_early_end(str(tmp_path), path, 200)
    estimator = estimator_at(tmp_path, [path] * 20, [100], session_creation_timeout_secs=300)
    assert run_evaluator(estimator) == ({"global_step": 100}, [])


STOPPED_EARLY = """
import json, sys
import tensorflow as tf
import estimator_bridge as eb

def input_fn():
    return tf.data.Dataset.from_tensors(([1.0], [1.0])).repeat(9)

def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.compat.v1.get_variable("w", [1]) * features - labels)
    step = tf.compat.v1.train.get_global_step()
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

estimator = eb.Estimator(model_fn, sys.argv[1])
spec = eb.EvalSpec(input_fn, start_delay_secs=0, throttle_secs=1)
result = eb.train_and_evaluate(estimator, eb.TrainSpec(input_fn, 10**6), spec)
print(json.dumps({"step": int(result[0]["global_step"])} if result else {}))
"""


def test_a_job_whose_input_ends_before_max_steps_ends_in_all_its_roles(tmp_path):
    counts = {"chief": 1, "ps": 1, "evaluator": 1}
    with Cluster(tmp_path, counts, start_python) as cluster:
        cluster.start("evaluator 0", "-c", STOPPED_EARLY, str(tmp_path / "model"))
        cluster.wait_for(lambda: "is not trained yet" in cluster.output("evaluator 0"))
        for place in ("chief 0", "ps 0"):
            cluster.start(place, "-c", STOPPED_EARLY, str(tmp_path / "model"))
        codes = {place: cluster.wait(place, 150) for place in cluster.places}
        assert set(codes.values()) == {0}, cluster.outputs()
        assert cluster.results("evaluator 0") == {"step": 9}
        assert json.loads((tmp_path / "model/.estimator_bridge.ended").read_text())["step"] == 9
