"""A program: traces a training loop under a TPUStrategy in train_distribute, and counts its ops.

The TPU is described, not present (see runtime/described_tpu.py). It writes one line of JSON.
"""

import collections
import json
import pathlib
import runpy
import sys

import tensorflow as tf
from tensorflow.python.distribute import tpu_strategy

import estimator_bridge as eb
from estimator_bridge.model import ModeKeys
from estimator_bridge.training.distribution import DistributedExecution
from estimator_bridge.training.program import trace_program

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


def main(described, cores):
    resolver = runpy.run_path(described, run_name="described")["DescribedResolver"](cores)
    strategy = tpu_strategy.TPUStrategyV2(resolver)
    execution = DistributedExecution(strategy, eb.RunConfig(model_dir="none"))
    program = trace_program(execution, model_fn, input_fn, ModeKeys.TRAIN, {})
    data = tf.data.Dataset.from_tensors((tf.zeros([8, 5], tf.int64), tf.zeros([8], tf.int64)))
    graph_def = program.make_loop()._function(iter(data)).graph.as_graph_def()
    nodes = list(graph_def.node)
    nodes += [n for function in graph_def.library.function for n in function.node_def]
    on_tpu = collections.Counter(n.op for n in nodes if "_tpu_replicate" in n.attr)
    print(json.dumps({"replicas": strategy.num_replicas_in_sync, "on_tpu": on_tpu}))


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1])), int(sys.argv[2]))
