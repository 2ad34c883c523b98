"""TPUEstimator on emulated cores: the same numbers on any number of them."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
EXAMPLES = 1003  # not divisible by a batch of 16, and its rest (11) by no number of replicas


def data(count=EXAMPLES):
    rng = np.random.RandomState(1)
    x = rng.randn(count, 5).astype(np.float32)
    return x, (x[:, 0] > 0).astype(np.int64)


def train_input(params):
    return (
        tf.data.Dataset.from_tensor_slices(data(64))
        .repeat()
        .batch(params["batch_size"], drop_remainder=True)
    )


def test_input(params):
    return tf.data.Dataset.from_tensor_slices(data()).batch(params["batch_size"])


test_input.__test__ = False


def model_fn(features, labels, mode, params):
    start = v1.glorot_uniform_initializer  # seeded, as the graphs with and without TPU differ
    hidden = v1.layers.dense(features, 7, tf.tanh, kernel_initializer=start(1), name="hidden")
    logits = v1.layers.dense(hidden, 2, kernel_initializer=start(2), name="logits")
    if mode == eb.ModeKeys.PREDICT:
        return eb.tpu.TPUEstimatorSpec(
            mode, predictions={"class": tf.argmax(logits, 1), "x": features}
        )
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == eb.ModeKeys.EVAL:
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metrics, [labels, logits]))
    optimizer = v1.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.01))
    return eb.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step())
    )


def metrics(labels, logits):
    return {
        "accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, 1)),
        "count": v1.metrics.mean(tf.cast(tf.size(labels), tf.float32)),
    }


def estimator(model_dir, cores, **kwargs):
    config = eb.tpu.RunConfig(
        master=f"emulated:{cores}",
        model_dir=str(model_dir),
        tf_random_seed=3,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )
    arguments = {"train_batch_size": 16, "eval_batch_size": 16, "predict_batch_size": 16}
    return eb.tpu.TPUEstimator(model_fn, config=config, **{**arguments, **kwargs})


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """By number of cores, with 0 for use_tpu=False: estimator, evaluation, predictions."""
    result = {}
    for cores in (0, 1, 2, 4, 8):
        est = estimator(tmp_path_factory.mktemp("m"), cores or 1, use_tpu=bool(cores))
        est.train(train_input, steps=10)
        result[cores] = est, est.evaluate(test_input), list(est.predict(test_input))
    return result


@pytest.mark.parametrize("cores", [1, 2, 4, 8])
def test_weights_are_the_same_on_any_number_of_cores(runs, cores):
    one, many = runs[0][0], runs[cores][0]
    assert one.get_variable_names() == many.get_variable_names()
    for name in one.get_variable_names():
        np.testing.assert_allclose(
            one.get_variable_value(name), many.get_variable_value(name), atol=1e-5, err_msg=name
        )


@pytest.mark.parametrize("cores", [1, 2, 4, 8])
def test_evaluation_sees_every_example_once(runs, cores):
    expected, got = runs[0][1], runs[cores][1]
    assert got["global_step"] == 10
    assert sorted(got) == sorted(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(got[key], value, atol=1e-6, err_msg=key)
    np.testing.assert_allclose(got["count"], (62 * 16 + 11) / 63, rtol=1e-6)


@pytest.mark.parametrize("cores", [1, 2, 4, 8])
def test_prediction_gives_every_example_once(runs, cores):
    _, _, predictions = runs[cores]
    assert len(predictions) == EXAMPLES
    np.testing.assert_array_equal([p["x"] for p in predictions], data()[0])
    assert [p["class"] for p in predictions] == [p["class"] for p in runs[0][2]]
