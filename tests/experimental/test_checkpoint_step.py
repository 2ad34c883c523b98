"""A worker stays until the checkpoint of the last step has been written."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.experimental.checkpoint_step import (
    StopAtCheckpointStepHook,
    global_step_of_folder,
)

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=train_op)


def ones():
    return tf.data.Dataset.from_tensors(np.ones([2], np.float32)).repeat()


class Worker(eb.RunConfig):
    is_chief = False


def test_worker_waits_for_the_chiefs_checkpoint(tmp_path):
    chief = eb.Estimator(model_fn, str(tmp_path / "chief"))
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            chief.train(ones, steps=10)

    worker = eb.Estimator(model_fn, str(tmp_path / "worker"))
    hook = StopAtCheckpointStepHook(chief.model_dir, 10, 25, sleep)
    worker.train(ones, hooks=[hook], steps=100)
    assert slept == [25, 25, 25]
    assert worker.get_variable_value("global_step") == 13


def test_chief_stops_at_the_step(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    hook = eb.experimental.make_stop_at_checkpoint_step_hook(estimator, 7)
    estimator.train(ones, hooks=[hook])
    assert estimator.get_variable_value("global_step") == 7


def test_worker_is_given_the_other_hook(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path), Worker())
    hook = eb.experimental.make_stop_at_checkpoint_step_hook(estimator, 300)
    assert isinstance(hook, StopAtCheckpointStepHook)
    assert hook.steps_until_due(100) == 200  # and does not hold up the loop until then


@pytest.mark.parametrize("missing", ["last_step", "model_dir"])
def test_missing_arguments(missing):
    arguments = {"model_dir": "somewhere", "last_step": 5, missing: None}
    with pytest.raises(ValueError, match=f"{missing} must be specified"):
        StopAtCheckpointStepHook(**arguments)


def test_graph_without_a_global_step():
    hook = StopAtCheckpointStepHook("somewhere", 5)
    with (
        tf.Graph().as_default(),
        pytest.raises(RuntimeError, match="Global step should be created"),
    ):
        hook.begin()


def test_global_step_of_folders(tmp_path):
    assert global_step_of_folder(tmp_path / "none") == 0
    eb.Estimator(model_fn, str(tmp_path)).train(ones, steps=3)
    assert global_step_of_folder(tmp_path) == 3
    (tmp_path / "checkpoint").write_text("")  # as it may be for a moment
    assert global_step_of_folder(tmp_path) == 3
