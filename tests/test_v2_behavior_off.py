"""Programs that call disable_v2_behavior(), before or after this library is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
before = sys.argv[1] == "before"
if before:
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
import estimator_bridge as eb
if not before:
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
import numpy as np

def input_fn(params):
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], np.int64([0, 1])), -1)
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "b", "a"] * 5)
    words = words.map(lambda word: (tf.one_hot(table.lookup(word), 2), table.lookup(word)))
    return words.repeat().batch(4, drop_remainder=True)

def eval_input_fn(params):
    data = (np.eye(2, dtype="f")[[0, 1, 1, 0, 1, 1, 1]], np.int64([0, 1, 1, 0, 1, 1, 1]))
    return tf.data.Dataset.from_tensor_slices(data).batch(4)

def metric_fn(labels, logits):
    return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}

def model_fn(features, labels, mode, params):
    assert features.shape[0].value == params["batch_size"] or not params["use_tpu"]
    logits = tf.layers.dense(features, 2, kernel_initializer=tf.glorot_uniform_initializer(1))
    scale = tf.Variable(1.0, use_resource=False, name="scale")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits * scale)
    if mode == eb.ModeKeys.EVAL:
        return eb.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))
    optimizer = eb.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

weights = []
for cores in (2, 0):
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=eb.tpu.RunConfig(master="emulated:2"), use_tpu=bool(cores),
        train_batch_size=4, eval_batch_size=4)
    estimator.train(input_fn, steps=30)
    result = estimator.evaluate(eval_input_fn)
    assert result["accuracy"] == 1.0, result
    weights.append(estimator.get_variable_value("dense/kernel"))
np.testing.assert_allclose(*weights, atol=1e-5)
print("trained")
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_v2_behavior_off(order):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order],
        capture_output=True,
        text=True,
        cwd=root,
        timeout=300,
        check=False,
    )
    assert done.stdout.strip().endswith("trained"), done.stderr[-3000:]
