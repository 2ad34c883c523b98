"""TPUEstimator(use_tpu=False) under a strategy of RunConfig, as the original ran it."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    assert params["use_tpu"] is False
    assert features.shape == [4] and params["batch_size"] == 4
    weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features - weight))
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    if params["use_tpu"]:
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    return eb.tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, v1.train.get_global_step()),
        eval_metrics=(lambda values: {"mean": v1.metrics.mean(values)}, [features]),
    )


def input_fn(params):
    numbers = tf.data.Dataset.range(24).map(lambda n: tf.cast(n, tf.float32))
    return numbers.batch(params["batch_size"], drop_remainder=True)


def make(folder, use_tpu):
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    config = eb.tpu.RunConfig(
        master="emulated:2",
        model_dir=str(folder),
        train_distribute=strategy,
        eval_distribute=strategy,
    )
    return eb.tpu.TPUEstimator(
        model_fn, config=config, use_tpu=use_tpu, train_batch_size=4, eval_batch_size=4
    )


def test_each_replica_has_a_batch(tmp_path):
    estimator = make(tmp_path, use_tpu=False).train(input_fn, steps=2)
    # What TF 2.15 printed for the same program.
    np.testing.assert_allclose(estimator.get_variable_value("weight"), 2.86, rtol=1e-6)
    results = estimator.evaluate(input_fn, steps=2)
    np.testing.assert_allclose(results["loss"], 42.779594, rtol=1e-6)
    assert results["mean"] == 7.5


def test_use_tpu_and_a_strategy_are_refused(tmp_path):
    with pytest.raises(ValueError, match="use_tpu=False to run under the strategy"):
        make(tmp_path, use_tpu=True).train(input_fn, steps=1)
