"""Strategies in a program that turned TF2's behavior off, and around a call of train."""

import numpy as np
from distributed_models import batches, estimator, mirrored, model, weights
from engine import run_program

PROGRAM = """
import sys, tempfile
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
import estimator_bridge as eb
eb.runtime.emulate_cores(2)
import numpy as np

def input_fn():
    data = (np.arange(20).reshape(10, 2) % 7, np.arange(10, dtype="f"))
    return tf.data.Dataset.from_tensor_slices(data).batch(2)

def model_fn(features, labels, mode):
    table = tf.get_variable("table", [20, 2], initializer=tf.ones_initializer())
    x = tf.reduce_sum(tf.nn.embedding_lookup(table, features), [1, 2])
    x = tf.layers.batch_normalization(x[:, None], training=mode == "train", name="norm")[:, 0]
    loss = tf.losses.mean_squared_error(labels, x)
    if mode == "eval":
        metrics = {"count": tf.metrics.true_positives(labels > -1, labels > -1)}
        return eb.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
config = eb.RunConfig(train_distribute=strategy, eval_distribute=strategy)
estimator = eb.Estimator(model_fn, tempfile.mkdtemp(), config).train(input_fn)
results = estimator.evaluate(input_fn)
print(int(results["global_step"]), results["count"])
print(*estimator.get_variable_value("norm/moving_mean"))
"""


def test_v2_behavior_off():
    counts, mean = run_program(PROGRAM)[-2:]
    assert counts == "2 10.0"
    assert float(mean) != 0


def test_train_below_the_strategys_own_scope(tmp_path):
    strategy = mirrored(2)
    with strategy.scope():
        inside = estimator(model(), tmp_path / "inside", strategy, strategy)
        inside.train(batches(4), steps=2)
        assert inside.evaluate(batches(4))["count"] == 48
    outside = estimator(model(), tmp_path / "outside", strategy).train(batches(4), steps=2)
    np.testing.assert_allclose(weights(inside)["out/kernel"], weights(outside)["out/kernel"])
