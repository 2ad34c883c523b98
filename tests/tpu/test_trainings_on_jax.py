"""Whole trainings on JAX beside emulated cores: resumed, ended, fed, evaluated, exported."""

import os
import signal

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.training import AsyncCheckpoints, CheckpointInputPipelineHook

import tensorflow as tf  # isort: skip

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

v1 = tf.compat.v1
CORES, JAX = "emulated:2", "jax:cpu:2"
_random = np.random.RandomState(0)
X = _random.randn(40, 5).astype(np.float32)


def model_fn(features, labels, mode, params):
    """Dropout, normal noise, and a factor that hooks may feed."""
    del labels
    training = mode == eb.ModeKeys.TRAIN
    factor = v1.placeholder_with_default(tf.constant(1.0), [], name="factor")
    hidden = v1.layers.dense(features, 4, tf.nn.tanh, name="hidden")
    if training:
        hidden = v1.nn.dropout(hidden, rate=0.3, seed=5)
        hidden += v1.random_normal(hidden.shape, stddev=0.1, seed=7)
    out = factor * v1.layers.dense(hidden, 1, name="out")
    if mode == eb.ModeKeys.PREDICT:
        outputs = {"out": eb.export.PredictOutput({"out": out})}
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"out": out}, export_outputs=outputs)
    loss = tf.reduce_mean(tf.square(out - tf.reduce_sum(features, 1, keepdims=True)))
    v1.summary.scalar("twice", 2 * loss)
    metrics = (lambda out: {"mean": v1.metrics.mean(out)}, [out])
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.05))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    scaffold_fn = params.get("scaffold_fn")
    return eb.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metrics=metrics, scaffold_fn=scaffold_fn
    )


def batches(params):
    data = tf.data.Dataset.from_tensor_slices(X).shuffle(16, seed=3).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


def few(params):
    return tf.data.Dataset.from_tensor_slices(X[:10]).batch(params["batch_size"])


def make(master, folder, warm_start_from=None, **params):
    config = eb.tpu.RunConfig(
        master=master, model_dir=str(folder), tf_random_seed=11, save_checkpoints_steps=3,
        save_summary_steps=2, tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )  # fmt: skip
    return eb.tpu.TPUEstimator(
        model_fn, config=config, params=params, train_batch_size=4, eval_batch_size=4,
        predict_batch_size=4, warm_start_from=warm_start_from,
    )  # fmt: skip


def train(estimator, steps, *hooks):
    position = CheckpointInputPipelineHook(estimator)
    estimator.train(batches, hooks=[position, *hooks], max_steps=steps)
    return estimator


def values(prefix):
    reader = tf.train.load_checkpoint(str(prefix))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def checkpoints(folder):
    names = sorted(path.stem for path in folder.glob("model.ckpt-*.index"))
    assert len(names) > 3
    return names


def check_near(actual, expected):
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, atol=1e-5, err_msg=name)


def summaries(folder):
    result = {}
    for path in sorted(folder.glob("events*")):
        for event in v1.train.summary_iterator(str(path)):
            for value in event.summary.value:
                if value.tag in ("twice", "loss"):
                    result[value.tag, event.step] = value.simple_value
    return result


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns the folders of undisturbed trainings of twelve steps on both runtimes."""
    folders = {}
    for master in (CORES, JAX):
        folders[master] = tmp_path_factory.mktemp("model")
        train(make(master, folders[master]), 12)
    return folders


def test_each_checkpoint_and_each_summary_is_that_of_emulated_cores(trained):
    assert checkpoints(trained[JAX]) == checkpoints(trained[CORES])
    for name in checkpoints(trained[CORES]):
        check_near(*(values(folder / name) for folder in trained.values()))
    here, there = summaries(trained[JAX]), summaries(trained[CORES])
    assert len(there) == 6
    check_near(here, there)


def test_a_resumed_training_goes_on_bit_for_bit(trained, tmp_path):
    train(make(JAX, tmp_path), 5)
    train(make(JAX, tmp_path), 12)
    expected = values(trained[JAX] / "model.ckpt-12")
    for name, value in values(tmp_path / "model.ckpt-12").items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_asynchronous_checkpoints_are_the_same(trained, tmp_path):
    train(make(JAX, tmp_path), 12, AsyncCheckpoints())
    assert checkpoints(tmp_path) == checkpoints(trained[JAX])
    for prefix in checkpoints(tmp_path):
        expected = values(trained[JAX] / prefix)
        for name, value in values(tmp_path / prefix).items():
            np.testing.assert_array_equal(value, expected[name], err_msg=name)


class Terminates(v1.train.SessionRunHook):
    """Sends SIGTERM to its process at the end of the first loop."""

    def after_run(self, run_context, run_values):
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_ends_with_a_checkpoint_from_which_training_goes_on(trained, tmp_path):
    with pytest.raises(SystemExit) as ended:
        train(make(JAX, tmp_path), 12, Terminates())
    assert ended.value.code == 143
    assert 0 < make(JAX, tmp_path).get_variable_value("global_step") < 12
    train(make(JAX, tmp_path), 12)
    check_near(values(tmp_path / "model.ckpt-12"), values(trained[JAX] / "model.ckpt-12"))


class Looks(v1.train.SessionRunHook):
    """Fetches a tensor of the step and a variable, at each call."""

    def __init__(self):
        self.results = []

    def before_run(self, run_context):
        graph = run_context.session.graph
        return v1.train.SessionRunArgs([graph.get_tensor_by_name("out/bias:0"), "hidden/Tanh:0"])

    def after_run(self, run_context, run_values):
        self.results.append(run_values.results)


def test_fed_and_fetched_values_of_hooks(tmp_path):
    results = []
    for master in (CORES, JAX):
        factors = iter(np.linspace(0.5, 1.5, 20).astype(np.float32))
        feeds = v1.train.FeedFnHook(lambda factors=factors: {"factor:0": next(factors)})
        looks = Looks()
        folder = tmp_path / master.replace(":", "_")
        train(make(master, folder), 8, feeds, looks)
        results.append((looks.results, values(folder / "model.ckpt-8")))
    (there, expected), (here, actual) = results
    check_near(actual, expected)
    assert len(here) == len(there)
    for mine, other in zip(here, there):
        for a, b in zip(mine, other):
            np.testing.assert_allclose(a, b, atol=1e-5)


def test_a_warm_start_and_a_scaffold_of_the_program(trained, tmp_path):
    calls = []

    def scaffold_fn():
        def init_fn(scaffold, session):
            del scaffold
            calls.append(session.run("global_step:0"))

        return v1.train.Scaffold(init_fn=init_fn)

    weights = []
    for master in (CORES, JAX):
        folder = tmp_path / master.replace(":", "_")
        settings = eb.WarmStartSettings(str(trained[CORES]), vars_to_warm_start="hidden.*")
        train(make(master, folder, settings, scaffold_fn=scaffold_fn), 3)
        weights.append(values(folder / "model.ckpt-3"))
        hidden = values(folder / "model.ckpt-0")["hidden/kernel"]
        source = values(trained[CORES] / "model.ckpt-12")["hidden/kernel"]
        np.testing.assert_array_equal(hidden, source)
    assert calls == [0, 0]
    check_near(*weights)


def receiver():
    features = v1.placeholder(tf.float32, [None, 5])
    return eb.export.TensorServingInputReceiver(features, features)


def test_train_and_evaluate_with_an_export(tmp_path):
    metrics, served = [], []
    for master in (CORES, JAX):
        folder = tmp_path / master.replace(":", "_")
        exporter = eb.FinalExporter("final", receiver)
        evaluation = eb.EvalSpec(few, steps=None, exporters=exporter, throttle_secs=0)
        results, exports = eb.train_and_evaluate(
            make(master, folder), eb.TrainSpec(batches, max_steps=7), evaluation
        )
        metrics.append(results)
        function = tf.saved_model.load(os.fsdecode(exports[0])).signatures["serving_default"]
        served.append({name: out.numpy() for name, out in function(tf.constant(X[:3])).items()})
    check_near(*metrics)
    check_near(*served)


def test_predictions_are_those_of_emulated_cores(trained):
    rows = [list(make(master, folder).predict(few)) for master, folder in trained.items()]
    assert [len(each) for each in rows] == [10, 10]
    for there, here in zip(*rows):
        check_near(here, there)


def recurrent_model_fn(features, labels, mode, params):
    """A recurrent net with dropout in its loop, as long as the longest row, and in a branch."""
    del labels
    x = features[:, :4, None] * tf.ones([1, 1, 2])
    lengths = None
    if params["has_lengths"]:
        lengths = 1 + tf.cast(tf.abs(features[:, 4]) > 0.5, tf.int32)
    cell = v1.nn.rnn_cell.DropoutWrapper(
        v1.nn.rnn_cell.BasicLSTMCell(3), state_keep_prob=0.6, output_keep_prob=0.7
    )
    outputs, state = v1.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    hidden = tf.reduce_mean(outputs, 1) + state.h
    if params["has_lengths"]:
        hidden = tf.cond(features[0, 0] > 0.0, lambda: tf.nn.dropout(hidden, 0.3), lambda: hidden)
    loss = tf.reduce_mean(tf.square(v1.layers.dense(hidden, 1) - features[:, :1]))
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.MomentumOptimizer(0.1, 0.9))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def recurrent(master, folder, **params):
    config = eb.tpu.RunConfig(
        master=master, model_dir=str(folder), tf_random_seed=11,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=2),
    )  # fmt: skip
    return eb.tpu.TPUEstimator(recurrent_model_fn, config=config, params=params, train_batch_size=4)


def test_dropout_in_a_recurrent_net_is_that_of_emulated_cores(tmp_path):
    trained = []
    for number, master in enumerate((CORES, JAX)):
        estimator = recurrent(master, tmp_path / str(number), has_lengths=True)
        trained.append(values(train(estimator, 6).latest_checkpoint()))
    check_near(trained[1], trained[0])


@pytest.mark.parametrize("master", [CORES, JAX])
def test_dropout_in_a_recurrent_net_goes_on_after_a_resume(tmp_path, master):
    whole = train(recurrent(master, tmp_path / "whole", has_lengths=False), 6)
    for steps in (2, 6):
        resumed = train(recurrent(master, tmp_path / "resumed", has_lengths=False), steps)
    expected, actual = (values(one.latest_checkpoint()) for one in (whole, resumed))
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)
