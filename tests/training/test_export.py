"""A trained model, exported and loaded as by a server."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def data():
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4)


def receiver():
    x = v1.placeholder(tf.float32, [None, 3])
    return eb.export.TensorServingInputReceiver(x, {"x": x})


def training_input():
    return data().repeat()


def model_fn(features, labels, mode, params):
    y = v1.layers.dense(features, 1)
    if mode == eb.ModeKeys.PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.1))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def make(kind, model_dir):
    if kind == "Estimator":
        return eb.Estimator(model_fn, str(model_dir))
    config = eb.tpu.RunConfig(master="emulated:2", model_dir=str(model_dir))
    return eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4, predict_batch_size=4)


@pytest.mark.parametrize("kind", ["Estimator", "TPUEstimator"])
def test_exported_model_predicts_as_the_estimator_does(kind, tmp_path):
    estimator = make(kind, tmp_path / "model")

    def train_input(params):
        batches = data().unbatch().repeat()
        return batches.batch(4, drop_remainder=True)

    estimator.train(train_input, steps=5)
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    assert isinstance(path, bytes)
    served = tf.saved_model.load(path.decode()).signatures["serving_default"]
    for count in (1, 4):  # batches of any size
        x = np.arange(12, dtype=np.float32).reshape(4, 3)[:count]
        got = served(x=tf.constant(x))["y"].numpy()
        expected = [p["y"] for p in estimator.predict(lambda params: data())][:count]
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_export_without_a_checkpoint(tmp_path):
    with pytest.raises(ValueError, match=r"Couldn.t find trained model at .*Call train"):
        make("Estimator", tmp_path).export_saved_model(str(tmp_path / "export"), receiver)


def test_old_name_says_the_new_one(tmp_path):
    with pytest.raises(AttributeError, match="use `export_saved_model`"):
        _ = make("Estimator", tmp_path).export_savedmodel


def test_features_may_have_numbers_for_names(tmp_path):
    def of_numbers(features, mode):
        return eb.EstimatorSpec(mode, {"y": features["a"] + features[42]})

    def numbered():
        features = {name: v1.placeholder(tf.float32, [None]) for name in ("a", 42)}
        return eb.export.ServingInputReceiver(features, {"a": features["a"], "b": features[42]})

    make("Estimator", tmp_path / "model").train(training_input, steps=1)
    estimator = eb.Estimator(of_numbers, str(tmp_path / "model"))
    path = estimator.export_saved_model(tmp_path, numbered).decode()
    served = tf.saved_model.load(path).signatures["serving_default"]
    assert served(a=tf.constant([1.0]), b=tf.constant([2.0]))["y"].numpy().tolist() == [3.0]


def test_before_training_a_warm_started_model_is_exported(tmp_path):
    before = make("Estimator", tmp_path / "model").train(training_input, steps=2)
    after = eb.Estimator(
        model_fn, str(tmp_path / "new"), warm_start_from=before.model_dir, params={}
    )
    path = after.export_saved_model(tmp_path, receiver).decode()
    x = np.ones([2, 3], np.float32)
    served = tf.saved_model.load(path).signatures["serving_default"](x=tf.constant(x))["y"]
    kernel, bias = map(before.get_variable_value, ("dense/kernel", "dense/bias"))
    np.testing.assert_allclose(served.numpy(), x @ kernel + bias, rtol=1e-6)


def test_the_checkpoint_to_export_can_be_named(tmp_path):
    estimator = make("Estimator", tmp_path / "model")
    estimator.train(training_input, steps=1)
    first, bias = estimator.latest_checkpoint(), estimator.get_variable_value("dense/bias")
    estimator.train(training_input, steps=3)
    path = estimator.export_saved_model(tmp_path, receiver, checkpoint_path=first).decode()
    saved = tf.train.load_variable(path + "/variables/variables", "dense/bias")
    np.testing.assert_array_equal(saved, bias)
    assert bias != estimator.get_variable_value("dense/bias")


def test_an_export_needs_no_strategy_of_the_configuration(tmp_path):
    trained = make("Estimator", tmp_path / "model").train(training_input, steps=1)
    strategy = tf.distribute.OneDeviceStrategy("cpu:0")
    config = eb.RunConfig(train_distribute=strategy, eval_distribute=strategy)
    estimator = eb.Estimator(model_fn, trained.model_dir, config)
    assert estimator.export_saved_model(tmp_path, receiver)
