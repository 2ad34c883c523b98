"""tpu.rewrite and related functions in a program's own session, without a TPU."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.runtime import strategies
from estimator_bridge.runtime.topology import topology_of

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
tpu = eb.tpu


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        v1.set_random_seed(1)  # of all initial values
        yield session


def initialized(session, fetches):
    session.run(v1.global_variables_initializer())
    return session.run(fetches)


@pytest.mark.parametrize(
    "name",
    ["batch_parallel", "initialize_system", "replicate", "rewrite", "shard", "shutdown_system"],
)
def test_signatures_are_tensorflows_own(name):
    own, original = (inspect.signature(getattr(m, name)) for m in (tpu, v1.tpu))
    assert [(p.name, p.default) for p in own.parameters.values()] == [
        (p.name, p.default) for p in original.parameters.values()
    ]


@pytest.mark.parametrize(
    ("computation", "expected"),
    [
        (lambda: None, None),
        (tf.no_op, None),
        (lambda: tf.constant(1.0), [1.0]),
        (lambda: (tf.constant(1.0), 2.0, tf.no_op()), [1.0, 2.0]),
        (lambda: {"a": tf.constant(1.0), "b": [3.0]}, {"a": 1.0, "b": [3.0]}),
    ],
)
def test_what_rewrite_returns(session, computation, expected):
    assert session.run(tpu.rewrite(computation)) == expected


def test_an_operation_in_a_nested_structure(session):
    with pytest.raises(ValueError, match="does not support Operation as return value"):
        tpu.rewrite(lambda: {"a": tf.no_op()})


def test_operations_run_with_the_tensors_beside_them(session):
    def count():
        calls = v1.get_variable("calls", [], initializer=v1.zeros_initializer())
        return tf.constant(7.0), calls.assign_add(1.0).op

    (seven,) = tpu.rewrite(count)
    initialized(session, seven)
    assert session.run(seven) == 7
    assert session.run(v1.global_variables()) == [2.0]


def test_training_by_a_loop_of_sessions(session):
    """As programs without an Estimator did; the loss is (w - 3)^2, its gradient 2 (w - 3)."""

    def step(target):
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = tf.square(w - target)
        optimizer = v1.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        return loss, optimizer.minimize(loss)

    (loss,) = tpu.rewrite(step, [tf.constant(3.0)])
    expected = [(-2 * 0.8**i) ** 2 for i in range(3)]
    losses = [initialized(session, loss), session.run(loss), session.run(loss)]
    np.testing.assert_allclose(losses, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [(None, [10, 10, 10, 10]), ([[0, 1], [2, 3]], [3, 3, 7, 7])],
)
def test_sums_over_replicas(session, groups, expected):
    inputs = [[tf.constant(float(i))] for i in (1, 2, 3, 4)]
    outputs = tpu.replicate(lambda x: v1.tpu.cross_replica_sum(x, groups), inputs)
    assert session.run(outputs) == [[x] for x in expected]


def test_gradients_of_sums_are_sums(session):
    """y_i = s^2 / 2 with s = x_1 + x_2: each replica's own gradient, summed, is 2 s."""

    def gradient(x):
        y = tf.square(v1.tpu.cross_replica_sum(x)) / 2.0
        return tf.gradients(y, x)

    outputs = tpu.replicate(gradient, [[tf.constant(1.0)], [tf.constant(2.0)]])
    assert session.run(outputs) == [[6.0], [6.0]]


def test_sums_that_are_waited_for(session):
    def waiting(x):
        total = v1.tpu.cross_replica_sum(x)
        with tf.control_dependencies([total]):
            return tf.identity(x)

    outputs = tpu.replicate(waiting, [[tf.constant(1.0)], [tf.constant(2.0)]])
    assert session.run(outputs) == [[1.0], [2.0]]


def test_batch_parallel_is_the_whole_batch_at_once(session):
    x = np.random.RandomState(0).randn(8, 3).astype(np.float32)

    def model(x):
        hidden = v1.layers.dense(x, 4, tf.nn.relu)
        return v1.layers.dense(hidden, 2), tf.reduce_sum(x)

    outputs, sums = tpu.batch_parallel(model, [x], num_shards=4)
    assert len(v1.trainable_variables()) == 4  # all cores share them
    with v1.variable_scope("", reuse=True):
        whole, _ = model(tf.constant(x))
    got, expected, sums = initialized(session, [outputs, whole, sums])
    # Parts of a batch are summed in another order than the whole: near 0 no digit need agree.
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums, x.reshape([4, -1]).sum(axis=1), rtol=1e-4)


def test_shard_along_other_axes(session):
    x = np.arange(8, dtype=np.float32).reshape([2, 4])
    (doubled, first) = tpu.shard(
        lambda x: (2.0 * x, x),
        [x],
        num_shards=2,
        input_shard_axes=[1],
        outputs_from_all_shards=[True, False],
        output_shard_axes=[1, 0],
    )
    doubled, first = session.run([doubled, first])
    np.testing.assert_array_equal(doubled, 2 * x)
    np.testing.assert_array_equal(first, x[:, :2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"num_shards": 0}, "num_shards must be a positive integer. Received 0"),
        ({"inputs": [1.0], "input_shard_axes": [0, 1]}, "Length of input_shard_axes must be equal"),
        ({"output_shard_axes": [0, 1]}, "Length of output_shard_axes must be equal"),
        ({"outputs_from_all_shards": [True] * 3}, "Length of outputs_from_all_shards must be"),
    ],
)
def test_arguments_of_shard(session, arguments, words):
    with pytest.raises(ValueError, match=words):
        tpu.shard(lambda *x: tf.constant(1.0), **arguments)
    with pytest.raises(TypeError, match="must be a list of Tensors or None"):
        tpu.shard(lambda x: x, tf.constant(1.0))


def test_host_work_and_cores_in_a_computation(session):
    seen = []

    def computation(x):
        with tf.device(tpu.core(0)):
            doubled = 2.0 * x
        callback = tpu.outside_compilation(lambda v: v1.py_func(seen.append, [v], []), doubled)
        with tf.control_dependencies([callback]):
            return tf.identity(doubled)

    assert session.run(tpu.rewrite(computation, [tf.constant(3.0)])) == [6.0]
    assert seen == [6.0]


@pytest.mark.parametrize(
    ("computation", "words"),
    [
        (
            lambda x: v1.tpu.cross_replica_sum(x) if x.op.inputs else x,
            "different numbers of cross-replica sums: .1, 0.",
        ),
        (
            lambda x: tf.raw_ops.CollectivePermute(input=x, source_target_pairs=[[0, 1]]),
            "CollectivePermute.*needs a TPU",
        ),
    ],
)
def test_what_replicas_in_one_graph_cannot_do(session, computation, words):
    inputs = [[tf.identity(1.0)], [tf.constant(1.0)]]
    with pytest.raises(NotImplementedError, match=words):
        tpu.replicate(computation, inputs)


def test_where_they_cannot_stand(session):
    def model_fn(features, labels, mode, params):
        return tpu.rewrite(lambda: None)

    config = tpu.RunConfig(master="emulated:1")
    estimator = tpu.TPUEstimator(model_fn, config=config, train_batch_size=1)
    with pytest.raises(NotImplementedError, match="inside a TPUEstimator's model_fn"):
        estimator.train(lambda params: tf.data.Dataset.from_tensors([1.0]), steps=1)


def test_a_graph_is_needed():
    with pytest.raises(RuntimeError, match="build a graph for a session"):
        tpu.rewrite(lambda: None)


def test_the_system_starts_and_stops_in_any_session(session):
    topology = tf.tpu.experimental.Topology(session.run(tpu.initialize_system(job="worker")))
    assert (topology.num_tasks, topology.num_tpus_per_task) == (1, 8)  # conftest's cores
    assert session.run(tpu.shutdown_system()) is None
    with pytest.raises(NotImplementedError, match="embedding_config"):
        tpu.initialize_system(embedding_config=object())


def test_with_a_tpu_the_system_is_tensorflows_own(session, monkeypatch):
    monkeypatch.setenv("TPU_NAME", "my-tpu")
    assert tpu.initialize_system().op.type == "ConfigureDistributedTPU"
    assert tpu.shutdown_system().type == "ShutdownDistributedTPU"
    assert tpu.rewrite(lambda: tf.constant(1.0))[0].op.type != "Const"


def test_a_tpu_that_an_estimator_has_started_is_not_started_again(session, monkeypatch):
    monkeypatch.setenv("TPU_NAME", "my-tpu")
    monkeypatch.setattr(strategies, "_topologies", {"grpc://10.0.0.2:8470": topology_of(16, 2)})
    topology = tf.tpu.experimental.Topology(session.run(tpu.initialize_system()))
    assert (topology.num_tasks, topology.num_tpus_per_task) == (2, 8)
    assert tpu.shutdown_system().type == "NoOp"
