"""FLOPs against counts by hand."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import Step, StepLoop, default_strategy
from estimator_bridge.training.monitoring.flops import count_flops

tf1 = tf.compat.v1


def flops_of(build):
    """Returns the count of what a function builds from a batch of 6 rows."""
    with trace_graph(seed=1) as graph:
        x = tf1.placeholder(tf.float32, [None, 8], name="x")
        built = tf.nest.flatten(build(x))
    operations = [f"^{getattr(one, 'op', one).name}" for one in built]
    strategy = default_strategy()
    loop = StepLoop(LiftedSession(graph, strategy), strategy, Step(["x:0"], operations))
    return count_flops(graph, loop.names, {"x:0": [6, 8]})


def dense(x, units, name):
    return tf.matmul(x, tf1.get_variable(name, [x.shape[-1], units]))


def test_a_dense_layer_and_its_gradients():
    def build(x):
        loss = tf.reduce_sum(dense(tf.nn.relu(dense(x, 16, "a")), 4, "b"))
        return tf1.train.GradientDescentOptimizer(0.1).minimize(loss)

    forward = 2 * 6 * 8 * 16 + 2 * 6 * 16 * 4
    backward = 2 * 6 * 8 * 16 + 2 * (2 * 6 * 16 * 4)  # no gradient of the features
    count = flops_of(build)
    assert count.total == forward + backward
    assert count.by_type == {"MatMul": forward + backward}
    assert count.dtypes == {"float32": forward + backward}
    assert not count.missing


def test_convolutions_and_their_gradients():
    def build(x):
        image = tf.reshape(x, [-1, 2, 4, 1])
        kernel = tf1.get_variable("k", [3, 3, 1, 5])
        deep = tf1.get_variable("d", [3, 3, 5, 2])
        net = tf.nn.conv2d(image, kernel, 1, "SAME")
        net = tf.nn.depthwise_conv2d(net, deep, [1, 1, 1, 1], "SAME")
        return tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(net))

    conv = 2 * 6 * 2 * 4 * 5 * 9
    depthwise = 2 * 6 * 2 * 4 * 10 * 9
    assert flops_of(build).total == 2 * conv + 3 * depthwise


@pytest.mark.parametrize(
    ("equation", "expected"),
    [("bi,ij->bj", 2 * 6 * 8 * 3), ("...i,ij->...j", 2 * 6 * 8 * 3), ("bi,ij->", 2 * 6 * 8 * 3)],
)
def test_einsum_counts_each_combination_of_indices(equation, expected):
    assert flops_of(lambda x: tf.einsum(equation, x, tf.ones([8, 3]))).total == expected


def test_batches_of_matrices_and_transposed_ones():
    def build(x):
        three = tf.reshape(x, [-1, 2, 4])
        return tf.matmul(three, three, transpose_a=True), tf.matmul(x, x, transpose_b=True)

    assert flops_of(build).total == 2 * 6 * 4 * 4 * 2 + 2 * 6 * 6 * 8


def test_products_in_a_loop_are_named_as_missing():
    def build(x):
        square = tf.ones([8, 8])
        body = lambda i, y: (i + 1, tf.matmul(y, square))  # noqa: E731
        return tf.while_loop(lambda i, y: i < 3, body, [0, x])

    count = flops_of(build)
    assert count.total == 0
    assert "products in functions, loops or branches, such as while" in count.missing


def model_fn(features, labels, mode, params):
    del labels, params
    loss = tf.reduce_mean(tf.square(dense(features, 16, "a")))
    optimizer = tf1.tpu.CrossShardOptimizer(tf1.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf1.train.get_or_create_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(np.ones([64, 8], np.float32)).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


@pytest.mark.parametrize("master", ["emulated:2", "jax:cpu:2"])
def test_replicas_add_up(master, tmp_path):
    if master.startswith("jax"):
        pytest.importorskip("jax", reason="jax is not installed: the extra [jax]")
    reports = []
    config = eb.tpu.RunConfig(
        cluster=eb.tpu.TPUClusterResolver(master),
        model_dir=str(tmp_path),
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=10),
    )
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=12)
    monitor = eb.training.Monitor(reports.append, every_secs=0.0)
    estimator.train(input_fn, steps=40, hooks=[monitor])
    last = reports[-1]
    per_step = 2 * (2 * 12 * 8 * 16)  # 12 examples on both replicas; forward, and of the weights
    assert last.use.flops_per_sec == pytest.approx(per_step * last.steps_per_sec, rel=1e-6)
    assert last.examples_per_sec == pytest.approx(12 * last.steps_per_sec)
