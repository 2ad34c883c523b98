"""Errors for wrong arguments say what was given, what is wanted, where, and what to do."""

import argparse
import json
import re

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1
X, Y = np.ones([4, 2], np.float32), np.ones([4], np.float32)


def dataset():
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(2)


def spec(features, labels, mode):
    weights = v1.get_variable("w", [2])
    y = tf.reduce_sum(features["x"] * weights, 1)
    loss = None if labels is None else tf.reduce_mean(tf.square(y - labels))
    step = v1.train.get_global_step()
    train_op = None if loss is None else v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return eb.EstimatorSpec(mode, {"y": y}, loss, train_op)


def with_params(features, labels, mode, params):
    return spec(features, labels, mode)


class Hook(v1.train.SessionRunHook):
    pass


class Listener(v1.train.CheckpointSaverListener):
    pass


@pytest.fixture(scope="module")
def estimator(tmp_path_factory):
    return eb.Estimator(spec, str(tmp_path_factory.mktemp("words") / "model"))


def refused(kind, call):
    """The text of an error of this very type, or of one derived from it."""
    with pytest.raises(kind) as raised:
        call()
    return str(raised.value)


@pytest.mark.parametrize("name", ["steps", "max_steps"])
@pytest.mark.parametrize("value", ["3", [3], "three"])
def test_steps_that_are_no_number(estimator, name, value):
    message = refused(TypeError, lambda: estimator.train(dataset, **{name: value}))
    assert f"{name} must be a number, given: {value!r} ({type(value).__name__})" in message
    assert (f"Convert it first: {name}=int('3')" in message) == (value == "3")
    assert "steps must be a number" in refused(
        TypeError, lambda: estimator.evaluate(dataset, steps=value)
    )


def test_numbers_of_other_kinds_stay_steps(tmp_path):
    """The original takes them: 2.5 steps are 3."""
    estimator = eb.Estimator(spec, str(tmp_path))
    estimator.train(lambda: dataset().repeat(), steps=2.5)
    estimator.train(lambda: dataset().repeat(), steps=np.int64(2))
    estimator.train(lambda: dataset().repeat(), steps=np.array(1))
    assert estimator.get_variable_value("global_step") == 6


def test_times_and_steps_of_specs_that_are_no_numbers():
    message = refused(TypeError, lambda: eb.TrainSpec(dataset, max_steps="3"))
    assert "max_steps must be a number, given: '3' (str)" in message
    for name in ("steps", "throttle_secs", "start_delay_secs"):
        message = refused(TypeError, lambda name=name: eb.EvalSpec(dataset, **{name: "3"}))
        assert f"{name} must be a number, given: '3' (str)" in message


@pytest.mark.parametrize(
    ("hooks", "hint"),
    [
        ([Hook], "which is a class. Pass an instance of it: Hook(...)"),
        (Hook(), "(Hook), which is not a list; put it into a list: [Hook(...)]"),
        (3, "3 (int), which is not a list; pass a list"),
        ("x", "'x' (str)"),
    ],
)
def test_hooks_that_are_none(estimator, hooks, hint):
    for call in (
        lambda: estimator.train(dataset, hooks=hooks),
        lambda: estimator.evaluate(dataset, hooks=hooks),
        lambda: next(estimator.predict(dataset, hooks=hooks)),
    ):
        message = refused(TypeError, call)
        assert "Hooks must be a SessionRunHook, given: " in message
        assert hint in message
    message = refused(TypeError, lambda: eb.EvalSpec(dataset, hooks=hooks))
    assert "All hooks must be `SessionRunHook` instances, given: " in message
    assert hint in message


def test_a_listener_that_is_a_class(estimator):
    message = refused(TypeError, lambda: estimator.train(dataset, saving_listeners=[Listener]))
    assert "saving_listeners must be a list of CheckpointSaverListener, given: " in message
    assert "Pass an instance of it: Listener(...)" in message


@pytest.mark.parametrize(
    ("returned", "kind", "hint"),
    [
        (
            lambda: [({"x": X}, Y)] * 3,
            ValueError,
            "A list of batches is no input: return a tf",
        ),
        (lambda: ({"x": X}, Y, Y), ValueError, "got a tuple of length 3"),
        (lambda: (({"x": X}, Y) for _ in range(3)), TypeError, "Dataset.from_generator(function"),
        (lambda: dataset, TypeError, "which has to be called: dataset()"),
        (lambda: v1.data.make_one_shot_iterator(dataset()), TypeError, "what its get_next() gives"),
        (lambda: None, TypeError, "input_fn returned None"),
        (lambda: (None, None), TypeError, "input_fn returned (None, None)"),
        (lambda: ({"x": object()}, Y), TypeError, "got object (<object"),
    ],
)
def test_what_an_input_fn_returns(estimator, returned, kind, hint):
    message = refused(kind, lambda: estimator.train(returned, steps=1))
    assert hint in message
    assert "tf.data.Dataset" in message or "len 2 tuple" in message
    assert len(message) < 600  # whole arrays would hide the sentence


def test_an_input_fn_that_is_a_dataset(estimator):
    message = refused(TypeError, lambda: estimator.train(dataset(), steps=1))
    assert "input_fn must be a function" in message
    assert "lambda: make_dataset()" in message


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        (lambda spec: (spec.loss, spec.train_op), "EstimatorSpec(mode, loss=..., train_op=...)"),
        (lambda spec: None, "Is a return statement missing?"),
        (lambda spec: (spec,), "Return the spec alone."),
        (type, "It is the class: return EstimatorSpec(mode"),
    ],
)
def test_a_model_fn_that_returns_no_spec(tmp_path, changed, hint):
    def model_fn(features, labels, mode):
        return changed(spec(features, labels, mode))

    estimator = eb.Estimator(model_fn, str(tmp_path))
    message = refused(ValueError, lambda: estimator.train(dataset, steps=1))
    assert "model_fn should return an EstimatorSpec" in message
    assert "model_fn(features, labels, mode) returned" in message
    assert hint in message


def test_params_that_are_no_dict(tmp_path):
    """A plain estimator hands them on, as the original did; a TPUEstimator adds to them."""
    namespace = argparse.Namespace(rate=0.1)
    plain = eb.Estimator(with_params, str(tmp_path), params=namespace)
    plain.train(dataset, steps=1)
    assert "rate=0.1" in repr(plain)
    on_tpu = eb.tpu.TPUEstimator(
        with_params,
        config=eb.tpu.RunConfig(model_dir=str(tmp_path)),
        use_tpu=False,
        train_batch_size=2,
        params=namespace,
    )
    message = refused(TypeError, lambda: on_tpu.train(lambda params: dataset(), steps=1))
    assert "params must be a dict" in message
    assert "got Namespace: Namespace(rate=0.1). vars(params) is a dict of ['rate']" in message


def test_a_model_dir_that_is_no_path():
    message = refused(TypeError, lambda: eb.Estimator(spec, 3))
    assert "model_dir must be the path of a folder" in message
    assert "got int: 3" in message


def test_a_number_of_checkpoints_that_is_not_whole(tmp_path):
    message = refused(TypeError, lambda: eb.RunConfig(keep_checkpoint_max=2.5))
    assert "keep_checkpoint_max should be a whole number >= 0, got 2.5" in message
    one = eb.RunConfig(keep_checkpoint_max=True, save_checkpoints_steps=1)
    estimator = eb.Estimator(spec, str(tmp_path), one)
    estimator.train(dataset, max_steps=2)  # as the original did, and kept one
    assert [path.name for path in tmp_path.glob("*.index")] == ["model.ckpt-2.index"]


CLUSTER = {"chief": ["h:1"], "worker": ["h:2"]}


@pytest.mark.parametrize(
    ("content", "kind", "hint"),
    [
        ({"task": {"type": "worker", "index": "first"}}, ValueError, "Given str: 'first'"),
        ({"task": {"type": "worker", "index": [0]}}, TypeError, "Given list: [0]"),
        ({"task": ["worker", 0]}, ValueError, "must be a dict with 'type' and 'index'"),
        ({"task": None}, ValueError, "Given NoneType: None"),
        ({"cluster": ["h:1"]}, TypeError, "a dict from jobs to lists of addresses"),
        ({"cluster": {**CLUSTER, "worker": "h:2"}}, TypeError, "tasks for job 'worker'"),
    ],
)
@pytest.mark.parametrize("config", [eb.RunConfig, eb.tpu.RunConfig])
def test_tf_config(monkeypatch, config, content, kind, hint):
    task = {"type": "worker", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": task, **content}))
    message = refused(kind, config)
    assert "TF_CONFIG" in message
    assert hint in message


def test_a_cluster_shows_no_credentials(monkeypatch):
    cluster = {"chief": "https://user:secret-word@host"}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster}))
    message = refused(TypeError, eb.RunConfig)
    assert "***@host" in message
    assert not re.search("secret-word", message)
