"""TPUStrategy in train_distribute: the graph for a TPU."""

import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.model import ModeKeys
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.testing import TPUGraph, described_tpu
from estimator_bridge.training.distribution import DistributedExecution
from estimator_bridge.training.trace_program import trace_program

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    table = v1.get_variable("table", [100, 4])
    x = tf.reduce_mean(tf.nn.embedding_lookup(table, features), axis=1)
    x = v1.layers.batch_normalization(x, training=True, name="norm")
    loss = v1.losses.sparse_softmax_cross_entropy(labels, v1.layers.dense(x, 3))
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    ids, labels = tf.zeros([64, 5], tf.int64), tf.zeros([64], tf.int64)
    return tf.data.Dataset.from_tensor_slices((ids, labels)).batch(8, drop_remainder=True)


def test_a_step_is_one_computation_of_all_cores():
    execution = DistributedExecution(described_tpu(8), eb.RunConfig(model_dir="none"))
    program = trace_program(execution, model_fn, input_fn, ModeKeys.TRAIN, {})
    with eager_mode():
        iterator = iter(input_fn())
    traced = TPUGraph.of(program.make_loop().traced(iterator), 8)
    assert traced.computations == 1
    # Four gradients, the table's rows and their numbers, and the loss.
    assert traced.on_tpu["CrossReplicaSum"] == 7
    assert traced.on_tpu["ResourceApplyAdam"] == 4
    assert traced.on_tpu["AssignSubVariableOp"] == 3  # the table, and a core's own moving averages
    assert "IteratorGetNextAsOptional" not in traced.on_tpu
