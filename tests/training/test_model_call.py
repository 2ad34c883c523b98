"""The arguments and results of a model_fn, and errors for wrong ones."""

from __future__ import annotations

import json
from unittest import mock

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def ones():
    return tf.data.Dataset.from_tensors(np.ones([4, 3], np.float32)).repeat(2)


def spec(mode, **fields):
    """A spec with everything that any mode needs."""
    step = v1.train.get_global_step()
    loss = tf.constant(0.0)
    everything = {"predictions": loss, "loss": loss, "train_op": v1.assign_add(step, 1)}
    return eb.EstimatorSpec(mode, **{**everything, **fields})


def test_a_model_fn_that_does_not_take_mode_leaves_it_out_of_the_spec(tmp_path):
    def model_fn(features):
        return spec(None, predictions=tf.reduce_sum(features, axis=1))

    estimator = eb.Estimator(model_fn, str(tmp_path)).train(ones, steps=1)
    assert estimator.evaluate(ones, steps=1)["loss"] == 0.0
    assert next(estimator.predict(ones)) == 3.0


def test_a_spec_without_mode_is_checked_for_the_mode_that_it_was_made_in(tmp_path):
    def model_fn(features):
        return eb.EstimatorSpec(None, predictions=features)

    with pytest.raises(ValueError, match="Missing train_op"):
        eb.Estimator(model_fn, str(tmp_path)).train(ones, steps=1)


def test_labels_for_a_model_fn_without_labels(tmp_path):
    def unlabelled(features):
        return spec(None)

    with pytest.raises(ValueError, match=r"model_fn does not take labels, but .*unlabelled"):
        eb.Estimator(unlabelled, str(tmp_path)).train(lambda: ones().map(lambda x: (x, x)), steps=1)


@pytest.mark.parametrize("name, quoted", [("loss", '"loss"'), ("global_step", "`global_step`")])
def test_metrics_that_would_hide_the_estimators_own(tmp_path, name, quoted):
    def model_fn(features, mode):
        return spec(mode, eval_metric_ops={name: v1.metrics.mean(features)})

    with pytest.raises(ValueError, match=f"Metric with name {quoted} is not allowed"):
        eb.Estimator(model_fn, str(tmp_path)).evaluate(ones)


@pytest.mark.parametrize("task", ["evaluator", "ps"])
def test_a_task_that_does_not_train(tmp_path, monkeypatch, task):
    cluster = {"chief": ["localhost:1"], "ps": ["localhost:2"], "worker": ["localhost:3"]}
    place = {"cluster": cluster, "task": {"type": task, "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(place))
    estimator = eb.Estimator(lambda features: spec(None), str(tmp_path))
    with pytest.raises(ValueError, match=f"wrong configuration: .*{task} 0.*train_and_evaluate"):
        estimator.train(ones, steps=1)


def test_a_hook_that_only_looks_like_one_is_called_around_each_step(tmp_path):
    real = v1.train.SessionRunHook()
    hook = mock.MagicMock(wraps=real, spec=v1.train.SessionRunHook)
    eb.Estimator(lambda features: spec(None), str(tmp_path)).train(ones, steps=2, hooks=[hook])
    assert hook.begin.call_count == hook.end.call_count == 1
    assert hook.before_run.call_count == hook.after_run.call_count == 2
