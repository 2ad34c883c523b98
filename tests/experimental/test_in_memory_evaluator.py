"""InMemoryEvaluatorHook evaluates the current weights in training, without a checkpoint."""

from __future__ import annotations

import json

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.experimental import InMemoryEvaluatorHook, read_eval_metrics

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


class Model:
    """A weight that is the global step plus 2, once there was a step."""

    def __init__(self, scaffold=None):
        self.modes = []
        self.make_scaffold = scaffold

    def __call__(self, features, labels, mode):
        self.modes.append(mode)
        step = v1.train.get_global_step()
        weight = v1.get_variable("weight", [], tf.int64, initializer=v1.zeros_initializer())
        if mode == eb.ModeKeys.EVAL:
            v1.get_variable("evaluation_only", [3], initializer=v1.ones_initializer())
        with tf.control_dependencies([v1.assign_add(step, 1)]):
            train_op = weight.assign(step + 2)
        mean = tf.keras.metrics.Mean()
        mean.update_state(weight)
        return eb.EstimatorSpec(
            mode,
            loss=tf.cast(features, tf.float32) * 2,
            train_op=train_op,
            eval_metric_ops={"weight": mean, "mean": v1.metrics.mean(features)},
            scaffold=self.make_scaffold() if self.make_scaffold else None,
        )


def numbers():
    return tf.data.Dataset.range(10)


def train(tmp_path, hook_settings=None, model=None, **arguments):
    model = model or Model()
    estimator = eb.Estimator(model, str(tmp_path))
    hook = InMemoryEvaluatorHook(estimator, numbers, **{"every_n_iter": 4, **(hook_settings or {})})
    estimator.train(numbers, hooks=[hook], **arguments)
    return estimator, model, hook


def test_evaluates_at_first_every_so_often_and_at_the_end(tmp_path):
    estimator, model, _ = train(tmp_path)
    metrics = read_eval_metrics(estimator.eval_dir())
    assert {step: m["weight"] for step, m in metrics.items()} == {0: 0, 4: 6, 8: 10, 10: 12}
    assert {m["mean"] for m in metrics.values()} == {4.5}
    assert model.modes == ["train", "eval"]  # one graph for all four


def test_resumed_training_counts_from_where_it_starts(tmp_path):
    train(tmp_path, {"name": "first"}, steps=2)
    estimator, *_ = train(tmp_path, {"name": "second"}, steps=5)
    assert list(read_eval_metrics(estimator.eval_dir("second"))) == [2, 6, 7]


def test_hook_is_used_again(tmp_path):
    estimator, _, hook = train(tmp_path, steps=2)
    estimator.train(numbers, hooks=[hook], steps=2)
    metrics = read_eval_metrics(estimator.eval_dir())
    assert {step: m["weight"] for step, m in metrics.items()} == {0: 0, 2: 4, 4: 6}


def test_steps_and_hooks_of_the_evaluation(tmp_path):
    class Hook(v1.train.SessionRunHook):
        ends = 0

        def end(self, session):
            self.ends += 1

    hook = Hook()
    estimator, *_ = train(tmp_path, {"steps": 3, "hooks": [hook]}, steps=5)
    assert {m["mean"] for m in read_eval_metrics(estimator.eval_dir()).values()} == {1.0}
    assert hook.ends == 3


def test_last_step_is_evaluated_once(tmp_path):
    class Hook(v1.train.SessionRunHook):
        ends = 0

        def end(self, session):
            self.ends += 1

    hook = Hook()
    train(tmp_path, {"hooks": [hook]}, steps=8)
    assert hook.ends == 3  # 0, 4, 8


def test_replicas_are_given_the_weights_too(tmp_path):
    def model_fn(features, labels, mode, params):
        weight = v1.get_variable("weight", [2], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean((weight - features[:, None]) ** 2)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.5))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        metrics = (
            lambda w: {"weight": v1.metrics.mean(w)},
            [weight * tf.ones_like(features)[:, None]],
        )
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)

    def input_fn(params):
        return tf.data.Dataset.from_tensors(tf.ones([params["batch_size"]])).repeat(8)

    config = eb.tpu.RunConfig(
        master="emulated:2", model_dir=str(tmp_path), tpu_config=eb.tpu.TPUConfig(2)
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4, eval_batch_size=4)
    hook = InMemoryEvaluatorHook(estimator, input_fn, every_n_iter=4)
    estimator.train(input_fn, hooks=[hook], steps=6)
    evaluations = read_eval_metrics(estimator.eval_dir())
    assert list(evaluations) == [0, 4, 6]
    expected = [1 - 0.5**step for step in (0, 4, 6)]
    np.testing.assert_allclose([m["weight"] for m in evaluations.values()], expected, rtol=1e-6)
    final = estimator.evaluate(input_fn, name="checkpoint")
    np.testing.assert_allclose(final["weight"], evaluations[6]["weight"], rtol=1e-6)


@pytest.mark.parametrize(
    ("part", "make"),
    [
        ("saver", lambda: v1.train.Scaffold(saver=v1.train.Saver())),
        ("init_fn", lambda: v1.train.Scaffold(init_fn=lambda scaffold, session: None)),
    ],
)
def test_scaffold_that_would_not_be_used(tmp_path, part, make):
    with pytest.raises(ValueError, match=f"InMemoryEvaluator does not support custom {part}"):
        train(tmp_path, model=Model(make), steps=1)


def test_state_that_is_no_variable(tmp_path):
    class Saveable(Model):
        def __call__(self, features, labels, mode):
            collections = [v1.GraphKeys.SAVEABLE_OBJECTS, v1.GraphKeys.LOCAL_VARIABLES]
            v1.get_variable("saved", [], trainable=False, collections=collections)
            return super().__call__(features, labels, mode)

    with pytest.raises(ValueError, match="does not support saveables other than global variables"):
        train(tmp_path, model=Saveable(), steps=1)


@pytest.mark.parametrize("cluster", [{"worker": ["b:1"]}, {"ps": ["b:1"]}])
def test_several_machines(monkeypatch, cluster):
    task = {"type": "chief", "index": 0}
    monkeypatch.setenv(
        "TF_CONFIG", json.dumps({"cluster": {"chief": ["a:1"], **cluster}, "task": task})
    )
    with pytest.raises(ValueError, match="InMemoryEvaluator supports only single machine"):
        InMemoryEvaluatorHook(eb.Estimator(Model()), numbers)


@pytest.mark.parametrize("every", [0, -1, None])
def test_no_steps_between(every):
    with pytest.raises(ValueError, match=f"invalid every_n_iter={every}"):
        InMemoryEvaluatorHook(eb.Estimator(Model()), numbers, every_n_iter=every)
