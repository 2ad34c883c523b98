"""A core's number inside a model, with which SimCLR gathers its batch over the cores."""

from tests.engine import run_program

PROGRAM = """
import estimator_bridge
estimator_bridge.install()
import tensorflow.compat.v1 as tf
from tensorflow.compiler.tf2xla.python import xla

def input_fn(params):
    data = tf.data.Dataset.from_tensors(tf.zeros([1])).repeat(4)
    return data.batch(params["batch_size"], drop_remainder=True)

def model_fn(features, labels, mode, params):
    weight = tf.get_variable("weight", [2], initializer=tf.zeros_initializer())
    mine = tf.one_hot(xla.replica_id(), 2) * (10.0 + tf.cast(xla.replica_id(), tf.float32))
    loss = tf.reduce_sum(weight * tf.tpu.cross_replica_sum(mine))
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(1.0))
    step = tf.train.get_global_step()
    train_op = optimizer.minimize(loss, step)
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

config = tf.estimator.tpu.RunConfig(master="emulated:2")
estimator = tf.estimator.tpu.TPUEstimator(model_fn, config=config, train_batch_size=2)
estimator.train(input_fn, steps=1)
print(estimator.get_variable_value("weight").tolist())
"""


def test_each_core_knows_its_number():
    assert "[-10.0, -11.0]" in run_program(PROGRAM)
