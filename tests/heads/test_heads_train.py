"""Models with heads train, evaluate, predict and export with this library's estimators."""

from __future__ import annotations

import math

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge import heads

import tensorflow as tf  # isort: skip
import tf_keras  # isort: skip

v1 = tf.compat.v1
X = np.array([[1.0, 0.5], [-1.0, 2.0], [0.25, -3.0], [2.0, 1.0]], np.float32)
Y = np.array([1, 0, 0, 1])


def batches(labels=Y, size=4, repeat=None):
    rows = tf.data.Dataset.from_tensor_slices(({"x": X}, labels)).repeat(repeat)
    return rows.batch(size, drop_remainder=True)


def logits_of(features, dimension):
    kernel = v1.get_variable("kernel", [2, dimension], initializer=v1.zeros_initializer())
    return features["x"] @ kernel


def v2_model_fn(features, labels, mode, params):
    head = params["make_head"]()
    arguments = {}
    logits = logits_of(features, head.logits_dimension)
    if mode == eb.ModeKeys.TRAIN:
        arguments = params["training"]()
    return head.create_estimator_spec(features, mode, logits, labels, **arguments)


def legacy():
    optimizer = tf_keras.optimizers.legacy.SGD(1.0)
    optimizer.iterations = v1.train.get_global_step()
    return {"optimizer": optimizer, "trainable_variables": v1.trainable_variables()}


def new():
    optimizer = tf_keras.optimizers.SGD(1.0)
    return {"optimizer": optimizer, "trainable_variables": v1.trainable_variables()}


def by_fn():
    step = v1.train.get_global_step()
    optimizer = v1.train.GradientDescentOptimizer(1.0)
    return {"train_op_fn": lambda loss: optimizer.minimize(loss, global_step=step)}


def first_kernel(labels=Y):
    """The weights after a step of length 1 from zeros on the mean sigmoid cross entropy."""
    return ((labels - 0.5)[:, None] * X).mean(axis=0)[:, None]


@pytest.mark.parametrize("training", [legacy, new, by_fn])
def test_a_v2_head_trains_with(training, tmp_path):
    params = {"make_head": eb.BinaryClassHead, "training": training}
    estimator = eb.Estimator(v2_model_fn, str(tmp_path), params=params)
    estimator.train(batches, steps=1)
    np.testing.assert_allclose(estimator.get_variable_value("kernel"), first_kernel(), rtol=1e-6)
    estimator.train(batches, steps=20)
    assert estimator.get_variable_value("global_step") == 21
    results = estimator.evaluate(lambda: batches(repeat=1))
    assert results["accuracy"] == 1.0
    assert results["accuracy_baseline"] == 0.5
    assert results["average_loss"] == results["loss"] < math.log(2)
    predicted = list(estimator.predict(lambda: batches(repeat=1)))
    assert [p["class_ids"].item() for p in predicted] == Y.tolist()
    assert [p["classes"].item() for p in predicted] == [b"1", b"0", b"0", b"1"]


def test_an_optimizer_that_counts_for_itself_is_warned_of(tmp_path, caplog):
    def training():
        return {**legacy(), "optimizer": tf_keras.optimizers.legacy.SGD(1.0)}

    params = {"make_head": eb.BinaryClassHead, "training": training}
    estimator = eb.Estimator(v2_model_fn, str(tmp_path), params=params)
    with caplog.at_level("WARNING"):
        estimator.train(lambda: batches(repeat=3), steps=1)
    assert "optimizer.iterations = tf.compat.v1.train.get_global_step()" in caplog.text
    assert estimator.get_variable_value("global_step") == 0


def test_metrics_count_every_batch(tmp_path):
    params = {"make_head": eb.BinaryClassHead, "training": by_fn}
    estimator = eb.Estimator(v2_model_fn, str(tmp_path), params=params)
    estimator.train(batches, steps=3)
    whole = estimator.evaluate(lambda: batches(repeat=1))
    in_parts = estimator.evaluate(lambda: batches(size=1, repeat=1))
    for name, value in whole.items():
        np.testing.assert_allclose(in_parts[name], value, rtol=1e-6, err_msg=name)


def test_a_head_is_exported_with_its_signatures(tmp_path):
    params = {"make_head": lambda: eb.BinaryClassHead(label_vocabulary=["no", "yes"])}
    params["training"] = by_fn
    estimator = eb.Estimator(v2_model_fn, str(tmp_path / "model"), params=params)
    words = np.array(["no", "yes"])[Y]
    estimator.train(lambda: batches(words), steps=20)
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    receiver = eb.export.build_parsing_serving_input_receiver_fn(spec)
    folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    served = tf.saved_model.load(folder.decode())
    assert set(served.signatures) == {
        "serving_default", "classification", "regression", "predict",
    }  # fmt: skip
    floats = tf.train.FloatList(value=X[1])
    feature = {"x": tf.train.Feature(float_list=floats)}
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    answer = served.signatures["predict"](tf.constant([example.SerializeToString()]))
    assert answer["classes"].numpy().tolist() == [[b"no"]]
    assert answer["all_classes"].numpy().tolist() == [[b"no", b"yes"]]


def test_a_label_out_of_range_ends_training_and_is_named(tmp_path):
    params = {"make_head": lambda: eb.MultiClassHead(3), "training": by_fn}
    estimator = eb.Estimator(v2_model_fn, str(tmp_path), params=params)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"n_classes - 1.*\[0\]?.*7"):
        estimator.train(lambda: batches(np.array([0, 1, 7, 2])), steps=1)


def v1_model_fn(features, labels, mode, params):
    head = heads.regression_head(label_dimension=1, name="size")
    optimizer = params["optimizer"]()
    make = head._create_tpu_estimator_spec if params["tpu"] else head.create_estimator_spec
    logits = logits_of(features, head.logits_dimension)
    return make(features, mode, logits, labels, optimizer)


REALS = np.array([[1.0], [-2.0], [0.5], [3.0]], np.float32)
V1_OPTIMIZERS = {
    "v1": lambda: v1.train.GradientDescentOptimizer(0.5),
    "tf_keras": lambda: tf_keras.optimizers.SGD(0.5),
    "cross shard": lambda: eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.5)),
}


@pytest.mark.parametrize("optimizer", V1_OPTIMIZERS)
def test_a_v1_head_trains_with(optimizer, tmp_path):
    params = {"optimizer": V1_OPTIMIZERS[optimizer], "tpu": False}
    estimator = eb.Estimator(v1_model_fn, str(tmp_path), params=params)
    estimator.train(lambda: batches(REALS), steps=1)
    step = (REALS * X).mean(axis=0)[:, None]  # 0.5 times the gradient of the mean square
    np.testing.assert_allclose(estimator.get_variable_value("kernel"), step, rtol=1e-6)
    results = estimator.evaluate(lambda: batches(REALS, repeat=1))
    expected = np.mean((X @ step - REALS) ** 2)
    np.testing.assert_allclose(results["average_loss/size"], expected, rtol=1e-5)
    np.testing.assert_allclose(results["label/mean/size"], REALS.mean(), rtol=1e-6)
    assert results["global_step"] == 1


def test_a_v1_head_trains_on_replicas(tmp_path):
    config = eb.tpu.RunConfig(
        master="emulated:2",
        model_dir=str(tmp_path),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=1),
    )
    estimator = eb.tpu.TPUEstimator(
        v1_model_fn,
        config=config,
        params={"optimizer": V1_OPTIMIZERS["cross shard"], "tpu": True},
        train_batch_size=4,
        eval_batch_size=4,
    )

    def input_fn(params):
        return batches(REALS, params["batch_size"])

    estimator.train(input_fn, steps=1)
    step = (REALS * X).mean(axis=0)[:, None]
    np.testing.assert_allclose(estimator.get_variable_value("kernel"), step, rtol=1e-6)
    results = estimator.evaluate(input_fn, steps=1)
    expected = np.mean((X @ step - REALS) ** 2)
    np.testing.assert_allclose(results["average_loss/size"], expected, rtol=1e-5)


@pytest.mark.parametrize("training", [legacy, by_fn])
def test_replicas_of_a_strategy_average_a_mean_loss(training, tmp_path):
    eb.runtime.emulate_cores(2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    config = eb.RunConfig(model_dir=str(tmp_path), train_distribute=strategy)
    params = {"make_head": eb.BinaryClassHead, "training": training}
    estimator = eb.Estimator(v2_model_fn, config=config, params=params)
    estimator.train(lambda: batches(size=2), steps=1)
    np.testing.assert_allclose(estimator.get_variable_value("kernel"), first_kernel(), rtol=1e-6)


def test_update_ops_run_with_training(tmp_path):
    def model_fn(features, labels, mode):
        counted = v1.get_variable("counted", initializer=0.0, trainable=False)
        head = eb.RegressionHead()
        return head.create_estimator_spec(
            features,
            mode,
            logits_of(features, 1),
            labels,
            update_ops=[v1.assign_add(counted, 1.0)],
            **legacy(),
        )

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: batches(REALS), steps=3)
    assert estimator.get_variable_value("counted") == 3


def test_a_v1_multi_head_merges_heads_and_runs_update_ops(tmp_path):
    def model_fn(features, labels, mode):
        counted = v1.get_variable("counted", initializer=0.0, trainable=False)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(counted, 1.0))
        head = heads.multi_head(
            [heads.multi_label_head(3, name="tags"), heads.regression_head(name="size")],
            head_weights=[1.0, 2.0],
        )
        logits = logits_of(features, head.logits_dimension)
        optimizer = v1.train.GradientDescentOptimizer(0.0)
        return head.create_estimator_spec(features, mode, logits, labels, optimizer)

    hot = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]])
    labels = {"tags": hot, "size": REALS}
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: batches(labels), steps=2)
    assert estimator.get_variable_value("counted") == 2
    results = estimator.evaluate(lambda: batches(labels, repeat=1))
    square = np.mean(REALS**2)
    np.testing.assert_allclose(results["loss/tags"], math.log(2), rtol=1e-6)
    np.testing.assert_allclose(results["average_loss/size"], square, rtol=1e-6)
    np.testing.assert_allclose(results["loss"], math.log(2) + 2 * square, rtol=1e-6)
    predicted = next(estimator.predict(lambda: batches(labels, repeat=1)))
    assert set(predicted) == {
        ("tags", "logits"), ("tags", "probabilities"), ("size", "predictions"),
    }  # fmt: skip
