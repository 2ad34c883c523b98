"""Behaviors of train, evaluate and predict that the original's tests check."""

from __future__ import annotations

import functools
import json
import logging
import os
import pickle

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def ones():
    return tf.data.Dataset.from_tensors(np.ones([2], np.float32)).repeat(6)


def spec(mode, **fields):
    """A spec of a model whose weight is 2 at first and 1 more after each step."""
    weight = v1.get_variable("weight", [], initializer=v1.constant_initializer(2.0))
    train_op = tf.group(
        v1.assign_add(weight, 1.0), v1.assign_add(v1.train.get_or_create_global_step(), 1)
    )
    values = {"loss": weight * 1.0, "train_op": train_op, "predictions": {"w": weight[None]}}
    return eb.EstimatorSpec(mode, **{**values, **fields})


def model_fn(features, labels, mode):
    return spec(mode)


class Calls(v1.train.SessionRunHook):
    """Counts the steps that it hears of, and the ends."""

    def __init__(self):
        self.steps = self.ends = 0

    def after_run(self, run_context, run_values):
        self.steps += 1

    def end(self, session):
        self.ends += 1


# 2: what model_fn is, and what it is given.


class Models:
    def __call__(self, features, labels, mode, params):
        params["seen"].append(mode)
        return spec(mode)

    def method(self, features, labels, mode, params):
        return self(features, labels, mode, params)


def with_more(more, features, labels, mode, params):
    return Models()(features, labels, mode, params)


@pytest.mark.parametrize("fn", [Models(), Models().method, functools.partial(with_more, 3)])
def test_model_fn_may_be_anything_callable(fn):
    estimator = eb.Estimator(fn, params={"seen": []})
    estimator.train(ones, steps=1)
    assert estimator.evaluate(ones, steps=1)["loss"] == 3.0


def test_params_and_config_are_copies():
    def changing(features, labels, mode, params, config):
        params["list"].append(mode)
        config.mine.append(mode)
        return spec(mode)

    params, config = {"list": []}, eb.RunConfig()
    config.mine = []
    estimator = eb.Estimator(changing, config=config, params=params)
    params["list"].append("later")
    estimator.params["list"].append("through the property")
    estimator.config.mine.append("through the property")
    estimator.train(ones, steps=1)
    assert estimator.params == {"list": []}
    assert config.mine == []


# 3: model_dir and config.


def test_an_empty_model_dir_is_a_temporary_folder():
    first, second = eb.Estimator(model_fn, model_dir=""), eb.Estimator(model_fn)
    assert os.path.isdir(first.model_dir) and first.model_dir != second.model_dir
    assert first.config.model_dir == first.model_dir


def test_a_config_is_a_run_config():
    with pytest.raises(ValueError, match="config must be an instance of `RunConfig`"):
        eb.Estimator(model_fn, config={"model_dir": "a"})


def test_a_users_attributes_of_config_reach_model_fn():
    seen = []

    def reading(features, labels, mode, config):
        seen.append(config.depth)
        return spec(mode)

    config = eb.RunConfig()
    config.depth = 7
    eb.Estimator(reading, config=config).train(ones, steps=1)
    assert seen == [7]


# 4: what input_fn is given, and may return.


def test_input_fn_takes_what_it_names():
    seen = []

    class Input:
        def __call__(self, mode, params, config, input_context):
            seen.append((mode, params["size"], config.save_summary_steps, input_context))
            return ones()

    def sized(features, labels, mode, params):
        return spec(mode)

    config = eb.RunConfig(save_summary_steps=3)
    estimator = eb.Estimator(sized, config=config, params={"size": 5})
    estimator.train(Input(), steps=1)
    estimator.evaluate(Input(), steps=1)
    next(estimator.predict(Input()))
    modes = [eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT]
    assert seen == [(mode, 5, 3, None) for mode in modes]


def test_without_labels_they_are_none():
    seen = []

    def looking(features, labels, mode):
        seen.append(labels)
        return spec(mode)

    eb.Estimator(looking).train(ones, steps=1)
    assert seen == [None]


def test_three_things_are_not_features_and_labels():
    def three():
        return tf.data.Dataset.from_tensors((1.0, 2.0, 3.0))

    with pytest.raises(ValueError, match=r"\(features, labels\) as a len 2 tuple"):
        eb.Estimator(model_fn).train(three, steps=1)


# 6: checkpoints.


def test_the_first_and_the_last_step_are_saved(tmp_path):
    eb.Estimator(model_fn, str(tmp_path)).train(ones, steps=5)
    state = (tmp_path / "checkpoint").read_text()
    paths = [line.split(": ")[1] for line in state.splitlines()]
    assert paths == ['"model.ckpt-5"', '"model.ckpt-0"', '"model.ckpt-5"']  # relative ones


def test_a_folder_of_another_name_is_gone_on_from(tmp_path):
    eb.Estimator(model_fn, str(tmp_path / "old")).train(ones, steps=2)
    os.rename(tmp_path / "old", tmp_path / "new")
    estimator = eb.Estimator(model_fn, str(tmp_path / "new"))
    assert estimator.evaluate(ones, steps=1)["global_step"] == 2
    assert estimator.train(ones, steps=1).get_variable_value("weight") == 5.0


def test_a_restore_is_told_once(tmp_path):
    eb.Estimator(model_fn, tmp_path).train(ones, steps=1)
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        eb.Estimator(model_fn, tmp_path).train(ones, steps=1)
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
    restored = [line for line in messages if line.startswith("Restoring parameters from")]
    assert restored == [f"Restoring parameters from {tmp_path / 'model.ckpt-1'}"]


def test_listeners_hear_of_each_save():
    steps = []

    class Listener(v1.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            steps.append(int(global_step_value))

    config = eb.RunConfig(save_checkpoints_steps=10)
    endless = eb.Estimator(model_fn, config=config)
    endless.train(lambda: ones().repeat(), steps=26, saving_listeners=[Listener()])
    assert len(steps) == 4
    assert (steps[0], steps[-1]) == (0, 26)


# 7: hooks.


@pytest.mark.parametrize("place", ["argument", "spec"])
def test_hooks_hear_of_the_step_whose_loss_is_nan(place):
    hook = Calls()

    def diverging(features, labels, mode):
        hooks = {"training_hooks": [hook]} if place == "spec" else {}
        return spec(mode, loss=tf.constant(np.nan, tf.float32), **hooks)

    with pytest.raises(v1.train.NanLossDuringTrainingError):
        eb.Estimator(diverging).train(ones, steps=3, hooks=[hook] if place == "argument" else [])
    assert (hook.steps, hook.ends) == (1, 0)


@pytest.mark.parametrize(("task", "expected"), [("chief", 2), ("worker", 0)])
def test_hooks_of_the_chief_run_on_the_chief_alone(monkeypatch, task, expected):
    monkeypatch.setenv(
        "TF_CONFIG",
        json.dumps({"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}),
    )
    config = eb.RunConfig()
    if task == "worker":
        monkeypatch.setattr(type(config), "is_chief", property(lambda self: False))
    chiefs, everyones = Calls(), Calls()

    def hooked(features, labels, mode):
        return spec(mode, training_chief_hooks=[chiefs], training_hooks=[everyones])

    eb.Estimator(hooked, config=config).train(ones, steps=2)
    assert (chiefs.steps, everyones.steps) == (expected, 2)


# 8: the graph that model_fn is called in.


def test_the_global_step_and_the_seed_are_there_before_input_and_model():
    seen = []

    def look():
        step = v1.train.get_global_step()
        seen.append((step.dtype.base_dtype, v1.get_default_graph().seed))

    def looking_input():
        look()
        return ones()

    def looking(features, labels, mode):
        look()
        return spec(mode)

    estimator = eb.Estimator(looking, config=eb.RunConfig(tf_random_seed=11))
    estimator.train(looking_input, steps=1)
    estimator.evaluate(looking_input, steps=1)
    assert seen == [(tf.int64, 11)] * 4


# 9: warm start.


def test_a_warm_start_leaves_the_global_step_at_nothing():
    first = eb.Estimator(model_fn).train(ones, steps=3)
    second = eb.Estimator(model_fn, warm_start_from=first.model_dir)
    assert second.evaluate(ones, steps=1)["global_step"] == 0
    assert next(second.predict(ones)) == {"w": 5.0}
    second.train(ones, steps=1)
    assert second.get_variable_value("global_step") == 1
    assert second.get_variable_value("weight") == 6.0


@pytest.mark.parametrize("settings", [eb.WarmStartSettings, lambda path: path], ids=["set", "path"])
def test_a_warm_start_takes_a_path_of_bytes(settings):
    first = eb.Estimator(model_fn).train(ones, steps=3)
    second = eb.Estimator(model_fn, warm_start_from=settings(os.fsencode(first.model_dir)))
    assert second.evaluate(ones, steps=1)["loss"] == 5.0


# 11: no checkpoint yet.


def test_without_a_checkpoint_initial_values_are_used():
    estimator = eb.Estimator(model_fn)
    assert estimator.evaluate(ones, steps=2) == {"loss": 2.0, "global_step": 0}
    assert next(estimator.predict(ones)) == {"w": 2.0}


def test_a_checkpoint_may_be_named_in_bytes(tmp_path):
    estimator = eb.Estimator(model_fn, os.fsencode(tmp_path)).train(ones, steps=3)
    path = os.fsencode(tmp_path / "model.ckpt-0")
    assert estimator.evaluate(ones, steps=1, checkpoint_path=path)["loss"] == 2.0
    assert next(estimator.predict(ones, checkpoint_path=path)) == {"w": 2.0}


# 12 and 13: what an evaluation returns and writes.


def events(folder):
    for path in folder.glob("events*"):
        for event in v1.train.summary_iterator(str(path)):
            yield from ((event.step, value) for value in event.summary.value)


@pytest.mark.parametrize(("name", "folder"), [(None, "eval"), ("other", "eval_other")])
def test_results_are_numpy_scalars_and_summaries_that_name_the_checkpoint(tmp_path, name, folder):
    def measured(features, labels, mode):
        return spec(mode, eval_metric_ops={"mean": v1.metrics.mean(features)})

    estimator = eb.Estimator(measured, str(tmp_path)).train(ones, steps=2)
    results = estimator.evaluate(ones, name=name)
    assert results == {"loss": 4.0, "mean": 1.0, "global_step": 2}
    types = {"loss": np.float32, "mean": np.float32, "global_step": np.int64}
    assert all(isinstance(results[key], kind) for key, kind in types.items())
    unpickled = pickle.loads(pickle.dumps(results))
    assert {key: type(value) for key, value in unpickled.items()} == types
    written = {value.tag: (step, value) for step, value in events(tmp_path / folder)}
    assert written.keys() == {"loss", "mean", "checkpoint_path"}
    step, text = written["checkpoint_path"]
    assert step == 2 and text.tensor.string_val == [os.fsencode(estimator.latest_checkpoint())]


def test_the_loss_is_the_mean_over_batches():
    def of_features(features, labels, mode):
        return spec(mode, loss=tf.reduce_sum(features))

    def batches():
        return tf.data.Dataset.from_tensor_slices([1.0, 2.0, 6.0, 8.0, 3.0]).batch(2)

    assert eb.Estimator(of_features).evaluate(batches)["loss"] == pytest.approx((3 + 14 + 3) / 3)


def test_metrics_may_be_nested_or_of_keras_or_summaries(tmp_path):
    def measured(features, labels, mode):
        mean, update = v1.metrics.mean(features)
        keras = tf.keras.metrics.Mean(name="keras_mean")
        keras.update_state(features * 3.0)
        picture = v1.summary.scalar("picture", mean)
        metrics = {
            "pair": ((mean, (mean * 2.0,)), update),
            "keras": keras,
            "image": (picture, tf.no_op()),
        }
        return spec(mode, eval_metric_ops=metrics)

    results = eb.Estimator(measured, str(tmp_path)).evaluate(ones)
    first, (second,) = results["pair"]
    assert (first, second, results["keras"]) == (1.0, 2.0, 3.0)
    assert v1.Summary.FromString(results["image"]).value[0].simple_value == 1.0
    values = {value.tag: value.simple_value for _, value in events(tmp_path / "eval")}
    assert values["image/0"] == 1.0 and values["keras"] == 3.0


# 14: prediction.


def predicting(predictions):
    def fn(features, labels, mode):
        return spec(mode, predictions=predictions(features))

    return eb.Estimator(fn)


def rows():
    return tf.data.Dataset.from_tensor_slices(np.arange(5, dtype=np.float32)).batch(2)


def test_one_prediction_an_example():
    estimator = predicting(lambda x: {"x": x, "twice": 2 * x})
    assert list(estimator.predict(rows)) == [{"x": i, "twice": 2 * i} for i in range(5)]
    assert list(estimator.predict(rows, predict_keys=["x"])) == [{"x": i} for i in range(5)]
    assert list(predicting(lambda x: 3 * x).predict(rows)) == [0, 3, 6, 9, 12]


def test_whole_batches_may_differ_in_length():
    estimator = predicting(lambda x: {"x": x, "sum": tf.reduce_sum(x)[None]})
    whole = list(estimator.predict(rows, yield_single_examples=False))
    assert [batch["x"].tolist() for batch in whole] == [[0, 1], [2, 3], [4]]
    assert [batch["sum"].tolist() for batch in whole] == [[1], [5], [4]]
    with pytest.raises(ValueError, match="Batch length of predictions should be same"):
        next(estimator.predict(rows))


def test_predictions_come_as_they_are_asked_for():
    drawn = []

    def slowly():
        def note(x):
            drawn.append(float(x))
            return x

        numbers = tf.data.Dataset.range(100).map(lambda x: tf.cast(x, tf.float32))
        noted = numbers.map(lambda x: v1.py_func(note, [x], tf.float32))
        return noted.map(lambda x: tf.ensure_shape(x, [])).batch(1)

    predictions = predicting(lambda x: x).predict(slowly)
    assert not drawn
    assert [next(predictions) for _ in range(3)] == [0, 1, 2]
    assert len(drawn) < 100
    predictions.close()


# 16: the loss.


@pytest.mark.parametrize("kind", ["resource", "reference", "of one element"])
def test_a_variable_may_be_the_loss(kind):
    def direct(features, labels, mode):
        shape = [1] if kind == "of one element" else []
        loss = v1.get_variable(
            "loss_variable", shape, initializer=v1.constant_initializer(5.0),
            use_resource=kind != "reference",
        )  # fmt: skip
        update = v1.assign_sub(loss, tf.reduce_mean(features) * tf.ones(shape))
        step = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=loss, train_op=tf.group(update, step))

    losses = []

    class Losses(v1.train.SessionRunHook):
        def before_run(self, run_context):
            return v1.train.SessionRunArgs(run_context.original_args.fetches[1])

        def after_run(self, run_context, run_values):
            losses.append(float(run_values.results))

    estimator = eb.Estimator(direct).train(ones, steps=3, hooks=[Losses()])
    assert losses == [5.0, 4.0, 3.0]  # each step's own, from before its update
    assert estimator.evaluate(ones, steps=1)["loss"] == 2.0


# 17: RunConfig.


def test_checkpoints_are_ten_minutes_apart_unless_it_is_said_otherwise():
    config = eb.RunConfig()
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (600, None)
    by_steps = config.replace(save_checkpoints_steps=5)
    assert (by_steps.save_checkpoints_secs, by_steps.save_checkpoints_steps) == (None, 5)
    by_secs = by_steps.replace(save_checkpoints_secs=7)
    assert (by_secs.save_checkpoints_secs, by_secs.save_checkpoints_steps) == (7, None)
    with pytest.raises(ValueError, match="both"):
        eb.RunConfig(save_checkpoints_secs=1, save_checkpoints_steps=1)


def test_without_a_cluster_a_process_is_its_own_chief():
    config = eb.RunConfig()
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, True)
    assert (config.master, config.num_worker_replicas, config.num_ps_replicas) == ("", 1, 0)


def test_an_evaluator_is_told_of_no_cluster(monkeypatch):
    cluster = {"chief": ["a:1"], "worker": ["b:1"]}
    task = {"type": "evaluator", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    config = eb.RunConfig()
    assert not config.cluster_spec and not config.is_chief
    assert (config.task_type, config.num_worker_replicas) == ("evaluator", 0)
