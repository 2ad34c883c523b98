"""train_and_evaluate in one process: its evaluations and exports, and their times."""

from __future__ import annotations

import os

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.training.continuous import ContinuousEvalListener, TrainingExecutor
from estimator_bridge.training.event_files import read_eval_metrics

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


class Model:
    """Counts steps in a weight, which its evaluation returns; notes the modes it is called in."""

    def __init__(self):
        self.modes = []

    def __call__(self, features, labels, mode):
        self.modes.append(mode)
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        train_op = tf.group(
            weight.assign_add(tf.reduce_mean(features)),
            v1.assign_add(v1.train.get_global_step(), 1),
        )
        return eb.EstimatorSpec(
            mode,
            predictions={"weight": weight + features},
            loss=weight * 2,
            train_op=train_op,
            eval_metric_ops={"weight": v1.metrics.mean(weight)},
        )


class RecordingExporter(eb.Exporter):
    """Notes what it is called with."""

    name = "recorded"

    def __init__(self):
        self.calls = []

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        self.calls.append((export_path, checkpoint_path, dict(eval_result), is_the_final_export))
        return f"export {len(self.calls)}"


class Times:
    """A clock that goes on by so much each time it is looked at."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def ones(count=None):
    data = tf.data.Dataset.from_tensors(np.ones([2], np.float32))
    return data.repeat(count)


def an_estimator(folder, model=None, every=10, **settings):
    config = eb.RunConfig(save_checkpoints_steps=every, **settings)
    return eb.Estimator(model or Model(), str(folder), config)


def an_eval_spec(**settings):
    return eb.EvalSpec(lambda: ones(3), **{"throttle_secs": 0, **settings})


def steps_of(exporter):
    return [int(result["global_step"]) for _, _, result, _ in exporter.calls]


def test_each_checkpoint_is_evaluated_and_exported_and_one_is_the_last(tmp_path):
    model, exporter = Model(), RecordingExporter()
    estimator = an_estimator(tmp_path, model)
    outcome = eb.train_and_evaluate(
        estimator, eb.TrainSpec(ones, max_steps=22), an_eval_spec(exporters=exporter)
    )
    assert steps_of(exporter) == [10, 20, 22]
    assert [final for *_, final in exporter.calls] == [False, False, True]
    folder, path = os.path.join(str(tmp_path), "export", "recorded"), str(tmp_path)
    assert [call[:2] for call in exporter.calls] == [
        (folder, os.path.join(path, f"model.ckpt-{step}")) for step in (10, 20, 22)
    ]
    assert outcome == (
        {"weight": np.float32(22), "loss": np.float32(44), "global_step": 22},
        ["export 3"],
    )
    assert sorted(read_eval_metrics(estimator.eval_dir())) == [10, 20, 22]
    # One graph to train, one that all evaluations share.
    assert model.modes == ["train", "eval"]


def test_end_of_the_input_ends_both(tmp_path):
    exporter = RecordingExporter()
    spec = eb.TrainSpec(lambda: ones(13))
    metrics, _ = eb.train_and_evaluate(
        an_estimator(tmp_path), spec, an_eval_spec(exporters=exporter)
    )
    assert metrics["global_step"] == 13
    assert [final for *_, final in exporter.calls] == [False, False]  # no step is the last


def test_nothing_is_left_to_train(tmp_path):
    exporter = RecordingExporter()
    estimator = an_estimator(tmp_path)
    estimator.train(ones, steps=5)
    spec = eb.TrainSpec(ones, max_steps=5)
    assert eb.train_and_evaluate(estimator, spec, an_eval_spec(exporters=exporter)) == (None, None)
    assert exporter.calls == []


def test_evaluations_are_throttled_but_the_last(tmp_path):
    exporter = RecordingExporter()
    executor = TrainingExecutor(
        an_estimator(tmp_path, every=2),
        eb.TrainSpec(ones, max_steps=9),
        an_eval_spec(exporters=exporter, throttle_secs=15),
        clock=Times(step=10),
    )
    executor.run()
    # Checkpoints at 2, 4, 6, 8, 9. The clock moves when it is read: at each check, each evaluation.
    assert steps_of(exporter) == [2, 6, 9]


def test_listeners_and_hooks_of_the_specs_are_called(tmp_path):
    class Listener(v1.train.CheckpointSaverListener):
        def __init__(self):
            self.steps = []

        def after_save(self, session, global_step_value):
            self.steps.append(int(global_step_value))

    class Hook(v1.train.SessionRunHook):
        ends = 0

        def end(self, session):
            self.ends += 1

    listener, train_hook, eval_hook = Listener(), Hook(), Hook()
    eb.train_and_evaluate(
        an_estimator(tmp_path),
        eb.TrainSpec(ones, 12, [train_hook], [listener]),
        an_eval_spec(hooks=[eval_hook], name="dev"),
    )
    assert listener.steps == [0, 10, 12]
    assert (train_hook.ends, eval_hook.ends) == (1, 2)
    assert sorted(read_eval_metrics(tmp_path / "eval_dev")) == [10, 12]


@pytest.mark.parametrize(("answers", "evaluated"), [("before", []), ("after", [10])])
def test_evaluation_listener_stops_training(tmp_path, answers, evaluated):
    class Stop(ContinuousEvalListener):
        def before_eval(self):
            return answers != "before"

        def after_eval(self, eval_result):
            return answers != "after"

    exporter = RecordingExporter()
    executor = TrainingExecutor(
        an_estimator(tmp_path),
        eb.TrainSpec(ones, max_steps=3000),
        an_eval_spec(exporters=exporter),
        continuous_eval_listener=Stop(),
    )
    executor.run()
    assert executor.estimator.latest_checkpoint().endswith("model.ckpt-10")
    assert steps_of(exporter) == evaluated


def test_config_without_checkpoints_is_refused(tmp_path):
    estimator = an_estimator(tmp_path, every=None)
    with pytest.raises(ValueError, match=r"There should be a CheckpointSaverHook .*save_check"):
        eb.train_and_evaluate(estimator, eb.TrainSpec(ones, 3), an_eval_spec())


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        ({}, ValueError, "`Estimator.evaluate` should never return empty metrics"),
        (123, TypeError, "`Estimator.evaluate` should return dict. Given <class 'int'>: 123"),
        ({"loss": 1}, ValueError, "result should have `global_step` in result. Given {'loss': 1}"),
    ],
)
def test_evaluate_that_returns_no_metrics(tmp_path, monkeypatch, returned, error, message):
    estimator = an_estimator(tmp_path, every=2)
    monkeypatch.setattr(estimator, "evaluate", lambda **_: returned)
    with pytest.raises(error, match=message):
        eb.train_and_evaluate(estimator, eb.TrainSpec(ones, 4), an_eval_spec())


def test_checkpoints_that_disappear(tmp_path, monkeypatch):
    estimator = an_estimator(tmp_path, every=2)
    monkeypatch.setattr(estimator, "latest_checkpoint", lambda: None)
    with pytest.raises(RuntimeError, match=r"There was no new checkpoint after the training.*2"):
        eb.train_and_evaluate(estimator, eb.TrainSpec(ones, 4), an_eval_spec())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"estimator": 1}, "`estimator` must have type `tf.estimator.Estimator`. Got: <class 'int"),
        ({"train_spec": 1}, "`train_spec` must have type `tf.estimator.TrainSpec`"),
        ({"eval_spec": None}, "`eval_spec` must have type `tf.estimator.EvalSpec`"),
    ],
)
def test_wrong_arguments(tmp_path, wrong, message):
    arguments = {
        "estimator": an_estimator(tmp_path),
        "train_spec": eb.TrainSpec(ones, 4),
        "eval_spec": an_eval_spec(),
    }
    with pytest.raises(TypeError, match=message):
        eb.train_and_evaluate(**{**arguments, **wrong})


def test_exporters_write_models_that_serve(tmp_path):
    def serving_input_receiver_fn():
        x = v1.placeholder(tf.float32, [None], name="x")
        return eb.export.TensorServingInputReceiver(x, x)

    exporters = [
        eb.LatestExporter("latest", serving_input_receiver_fn, exports_to_keep=1),
        eb.FinalExporter("final", serving_input_receiver_fn),
    ]
    _, exported = eb.train_and_evaluate(
        an_estimator(tmp_path), eb.TrainSpec(ones, 12), an_eval_spec(exporters=exporters)
    )
    assert [len(os.listdir(tmp_path / "export" / name)) for name in ("latest", "final")] == [1, 1]
    for folder in exported:
        served = tf.saved_model.load(os.fsdecode(folder)).signatures["serving_default"]
        (output,) = served(tf.constant([1.0])).values()
        np.testing.assert_allclose(output, [13.0])


def test_tpu_estimator(tmp_path):
    def model_fn(features, labels, mode, params):
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        loss = tf.reduce_mean((weight - features) ** 2)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        metrics = (lambda x: {"mean": v1.metrics.mean(x)}, [features])
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)

    def examples(params):
        return tf.data.Dataset.from_tensors(tf.ones([params["batch_size"]])).repeat(20)

    config = eb.tpu.RunConfig(
        master="emulated:2",
        model_dir=str(tmp_path),
        save_checkpoints_steps=4,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4, eval_batch_size=4)
    exporter = RecordingExporter()
    metrics, _ = eb.train_and_evaluate(
        estimator,
        eb.TrainSpec(examples, max_steps=8),
        eb.EvalSpec(examples, exporters=exporter, throttle_secs=0),
    )
    assert (metrics["mean"], metrics["global_step"]) == (1, 8)
    assert steps_of(exporter) == [4, 8]
