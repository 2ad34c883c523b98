"""Loops, branches and functions of a program give the numbers that a v1.Session gives."""

import numpy as np
import pytest
import tensorflow as tf
from engine import Replicas, lifted_session, ref, same_as_v1, v1

from estimator_bridge.graph import Lifted, Snapshot, trace_graph

KINDS = ["v1", "v2"]


@pytest.fixture(params=KINDS)
def control_flow(request):
    """Turns v1 control flow on inside of a trace, or leaves v2's."""
    if request.param == "v2":
        yield tf.no_op
        return
    yield v1.disable_control_flow_v2
    v1.enable_control_flow_v2()


def op_types(graph):
    return {op.type for op in graph.get_operations()}


def test_the_kinds_are_what_they_say(control_flow):
    with trace_graph() as graph:
        control_flow()
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    assert ("Enter" in op_types(graph)) == (control_flow is v1.disable_control_flow_v2)


def test_branches_that_assign(control_flow):
    def build():
        control_flow()
        x = v1.placeholder(tf.float32, [], name="x")
        w = v1.get_variable("w", initializer=1.0)
        u = v1.get_variable("u", initializer=10.0)
        result = tf.cond(x > 0.0, lambda: w.assign_add(x), lambda: u.assign_sub(w * 2.0))
        with tf.control_dependencies([result]):
            return result, w.read_value(), u.read_value()

    same_as_v1(build, runs=4, feeds=[{"x:0": 2.0}, {"x:0": -1.0}])


def test_a_loop_that_assigns(control_flow):
    def build():
        control_flow()
        w = v1.get_variable("w", initializer=1.0)

        def body(i, total):
            with tf.control_dependencies([w.assign(w * 2.0)]):
                return i + 1, total + w.read_value()

        _, total = tf.while_loop(
            lambda i, _: i < 4, body, [0, 0.0], parallel_iterations=1, back_prop=False
        )
        with tf.control_dependencies([total]):
            return total, w.read_value()

    got = same_as_v1(build, runs=2)
    assert got[0] == (30.0, 16.0)


def test_a_branch_in_a_loop_in_a_branch(control_flow):
    def build():
        control_flow()
        x = v1.placeholder(tf.int32, [], name="x")
        seen = v1.get_variable("seen", initializer=0)

        def body(i, total):
            step = tf.cond(tf.equal(i % 2, 0), lambda: seen.assign_add(i), lambda: i * 10)
            return i + 1, total + step

        def loop():
            return tf.while_loop(lambda i, _: i < x, body, [0, 0], parallel_iterations=1)[1]

        total = tf.cond(x > 2, loop, lambda: -x)
        with tf.control_dependencies([total]):
            return total, seen.read_value()

    same_as_v1(build, runs=4, feeds=[{"x:0": 5}, {"x:0": 1}])


def test_gradients_through_a_loop_and_a_branch(control_flow):
    def build():
        control_flow()
        w = v1.get_variable("w", initializer=[0.5, -0.3])
        x = tf.constant([1.0, 2.0])
        y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y * w) + y), [0, x])[1]
        y = tf.cond(tf.reduce_sum(y) > 0.0, lambda: y * w, lambda: y - w)
        loss = tf.reduce_sum(y * y)
        train = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        with tf.control_dependencies([train]):
            return loss, w.read_value()

    same_as_v1(build, runs=4, rtol=1e-5)


def test_a_loop_reads_before_what_is_assigned_after_it():
    """Gradients add stacks to a loop after its making; it still reads what stood there then."""

    def build():
        w = v1.get_variable("w", initializer=2.0)
        y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y * w), [0, 1.0])[1]
        late = w.assign(100.0)
        (gradient,) = tf.gradients(y, w)
        return y, gradient, late

    with trace_graph() as graph:
        fetches = build()
    got = lifted_session(graph).run(fetches)
    assert got[:2] == (4.0, 4.0)


def test_a_dynamic_rnn(control_flow):
    def build():
        control_flow()
        x = v1.placeholder(tf.float32, [None, 5, 2], name="x")
        cell = v1.nn.rnn_cell.LSTMCell(3, initializer=v1.glorot_uniform_initializer(seed=2))
        outputs, state = v1.nn.dynamic_rnn(
            cell, x, dtype=tf.float32, sequence_length=tf.constant([5, 3])
        )
        loss = tf.reduce_sum(outputs * outputs) + tf.reduce_sum(state.h)
        train = v1.train.AdamOptimizer(0.01).minimize(loss)
        with tf.control_dependencies([train]):
            return tf.identity(loss), [v.read_value() for v in v1.trainable_variables()]

    x = np.linspace(-1, 1, 20, dtype=np.float32).reshape(2, 5, 2)
    same_as_v1(build, runs=3, seed=1, feeds=[{"x:0": x}], rtol=1e-5)


def test_a_dynamic_rnn_on_two_replicas():
    with trace_graph(seed=1, shards=2) as graph:
        x = v1.placeholder(tf.float32, [2, 5, 2])
        cell = v1.nn.rnn_cell.GRUCell(3, kernel_initializer=v1.glorot_uniform_initializer(seed=2))
        outputs, _ = v1.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        loss = tf.reduce_mean(outputs * outputs)
        optimizer = v1.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.5))
        train = optimizer.minimize(loss)
        weights = v1.trainable_variables()
    replicas = Replicas(graph, 2, [loss], [train], [x])
    batch = np.linspace(-1, 1, 40, dtype=np.float32).reshape(4, 5, 2)
    first = np.mean(replicas(batch))
    for _ in range(5):
        last = np.mean(replicas(batch))
    assert last < first
    for weight in weights:
        one, two = replicas.copies(weight)
        np.testing.assert_array_equal(one, two)


def test_functions_in_the_graph():
    @tf.function
    def inner(x, w):
        return x * w

    @tf.function
    def outer(x, w):
        if tf.reduce_sum(x) > 0:
            w.assign_add(inner(x, w))
        return inner(x, w) + 1.0

    def build():
        w = v1.get_variable("w", initializer=3.0)
        y = outer(tf.constant(2.0), w)
        (gradient,) = tf.gradients(inner(tf.constant(2.0), w), w)
        with tf.control_dependencies([y]):
            return y, gradient, w.read_value()

    same_as_v1(build, runs=2)


def test_map_scan_and_foldl(control_flow):
    def build():
        control_flow()
        x = tf.reshape(tf.range(6.0), [3, 2])
        w = v1.get_variable("w", initializer=2.0)
        return (
            tf.map_fn(lambda row: row * w, x),
            tf.scan(lambda total, row: total + row * w, x),
            tf.foldl(lambda total, row: total + row, x),
            tf.TensorArray(tf.float32, 3).unstack(x).stack(),
        )

    same_as_v1(build)


def test_v1_control_flow_on_replicas_without_a_sum():
    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [1])
        v1.disable_control_flow_v2()
        try:
            w = v1.get_variable("w", initializer=[1.0])
            y = tf.cond(x[0] > 0.0, lambda: w.assign_add(x), lambda: w.assign_sub(x))
        finally:
            v1.enable_control_flow_v2()
    replicas = Replicas(graph, 2, [y], [], [x])
    assert replicas([5.0, -3.0]) == [[6.0, 4.0]]
    assert replicas([5.0, -3.0]) == [[11.0, 7.0]]


def test_only_what_is_fetched_is_lifted_and_run():
    with trace_graph() as graph:
        w = v1.get_variable("w", initializer=1.0)
        fetched = w * 2.0
        v1.Print(fetched, ["never"])
        other = w.assign(7.0)
        lifted = Lifted(Snapshot.of(graph), [ref(fetched)], [ref(w.handle)], {"w"})
        session = lifted_session(graph)
        assert session.run(fetched) == 2.0
        assert session.run(w) == 1.0
    assert lifted.input_refs == {"w:0"}
    assert fetched.op.name in lifted.names
    assert other.op.name not in lifted.names
    assert not {n for n in lifted.names if "Print" in n}
    assert not lifted.writes
