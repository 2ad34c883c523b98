"""Loops and branches of a model for TPUs: XLA compiles them, and emulated cores run them quickly.

TensorFlow builds them otherwise where XLA compiles what is traced: lists have fixed sizes then, and
tf.slice has another gradient. A model that is traced without would fail on a TPU alone.
"""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.graph import Snapshot, trace_graph
from estimator_bridge.testing import check_model_fn

v1 = tf.compat.v1
STEPS, SIZE = 5, 4


def by_dynamic_rnn(x):
    _, state = v1.nn.dynamic_rnn(v1.nn.rnn_cell.LSTMCell(6), x, dtype=tf.float32)
    return state.h


def by_dynamic_rnn_of_lengths(x):
    lengths = tf.fill([x.shape[0]], 3)
    cell = v1.nn.rnn_cell.GRUCell(6)
    return v1.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)[1]


def by_keras(x):
    import tf_keras

    return tf_keras.layers.LSTM(6)(x)


def by_while_loop(x):
    def turn(i, h):
        return i + 1, tf.tanh(v1.layers.dense(h, SIZE, name="turn", reuse=v1.AUTO_REUSE))

    return tf.while_loop(lambda i, _: i < 3, turn, (0, x[:, 0]), maximum_iterations=3)[1]


def by_a_branch(x):
    h = v1.layers.dense(x[:, 0], 6)
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: h * 2.0, lambda: h)


def by_a_slice_within_a_loop(x):
    h = v1.layers.dense(x[:, 0], 6)

    def turn(i, total):
        return i + 1, total + tf.slice(h, [0, 1], [h.shape[0], 3])

    start = tf.zeros([h.shape[0], 3])
    return tf.while_loop(lambda i, _: i < 2, turn, (0, start), maximum_iterations=2)[1]


WAYS = [
    by_dynamic_rnn, by_dynamic_rnn_of_lengths, by_keras, by_while_loop, by_a_branch,
    by_a_slice_within_a_loop,
]  # fmt: skip


def input_fn(params):
    x = np.random.RandomState(0).rand(32, STEPS, SIZE).astype(np.float32)
    rows = tf.data.Dataset.from_tensor_slices(x).repeat()
    return rows.batch(params["batch_size"], drop_remainder=True)


def model_of(hidden):
    def model_fn(features, labels, mode, params):
        loss = tf.reduce_mean(tf.square(v1.layers.dense(hidden(features), 1) - 1.0))
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        if params["use_tpu"]:
            optimizer = v1.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


@pytest.mark.parametrize("hidden", WAYS)
def test_xla_compiles_the_training_step(hidden):
    report = check_model_fn(model_of(hidden), input_fn, modes=["train"])
    assert report.tpu["train"]


@pytest.mark.parametrize("hidden", WAYS)
def test_cores_compute_what_one_cpu_does(hidden):
    def trained(use_tpu):
        config = eb.tpu.RunConfig(master="emulated:2" if use_tpu else "", tf_random_seed=1)
        estimator = eb.tpu.TPUEstimator(
            model_of(hidden), config=config, use_tpu=use_tpu, train_batch_size=8
        )
        estimator.train(input_fn, steps=4)
        names = estimator.get_variable_names()
        return {name: estimator.get_variable_value(name) for name in names}

    alone = trained(use_tpu=False)
    for name, value in trained(use_tpu=True).items():
        np.testing.assert_allclose(value, alone[name], atol=1e-6, err_msg=name)


def test_a_slice_from_a_place_that_is_computed():
    def moving(x):
        h = v1.layers.dense(x[:, 0], 6)
        return tf.slice(h, [0, tf.cast(tf.reduce_sum(x) * 0.0, tf.int32) + 2], [h.shape[0], 3])

    estimator = eb.tpu.TPUEstimator(
        model_of(moving), config=eb.tpu.RunConfig(master="emulated:2", tf_random_seed=1),
        train_batch_size=8,
    )  # fmt: skip
    first = eb.tpu.TPUEstimator(
        model_of(lambda x: v1.layers.dense(x[:, 0], 6)[:, 2:5]),
        config=eb.tpu.RunConfig(tf_random_seed=1), use_tpu=False, train_batch_size=8,
    )  # fmt: skip
    kernels = []
    for each in (estimator, first):
        each.train(input_fn, steps=3)
        kernels.append(each.get_variable_value("dense/kernel"))
    np.testing.assert_allclose(kernels[0], kernels[1], atol=1e-6)


def test_a_variable_may_start_from_a_tensor():
    def weighted(x):
        return x[:, 0] * tf.Variable(tf.fill([SIZE], 2.0), name="weight")

    estimator = eb.tpu.TPUEstimator(
        model_of(weighted), config=eb.tpu.RunConfig(master="emulated:2", tf_random_seed=1),
        train_batch_size=8,
    )  # fmt: skip
    estimator.train(input_fn, steps=1)
    assert estimator.get_variable_value("weight") == pytest.approx(2.0, abs=1.0)


def test_a_keras_layer_hands_out_of_its_loop_only_what_the_gradients_need():
    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [2, STEPS, SIZE])
        tf.gradients(by_keras(x), [x])
    nodes = list(Snapshot.of(graph).nodes.values())
    functions = {f.signature.name: f for f in Snapshot.of(graph).library.function}

    def count(op):
        called = [n.attr["body"].func.name for n in nodes if "body" in n.attr]
        return sum(node.op == op for name in called for node in functions[name].node_def)

    assert 0 < count("TensorListPushBack") == count("TensorListPopBack")


def test_a_variable_that_differs_from_replica_to_replica_is_an_error_that_says_what_to_use():
    from estimator_bridge.tensorflow_private.xla import xla_context

    with tf.Graph().as_default() as graph, xla_context():
        one, other = (v1.get_variable(name, [], use_resource=True) for name in "ab")
        context = graph._get_control_flow_context()
        assert context.get_replicated_var_handle("a", [one, one]) is one.handle
        assert context.get_replicated_var_handle("a", "id", vars_=[one]) is one.handle
        with pytest.raises(NotImplementedError, match=r"use_tpu=False.*PlacementMeshImpl"):
            context.get_replicated_var_handle("a", [one, other])
        assert context.HostComputeCore() == []
