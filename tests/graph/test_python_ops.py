"""py_func, py_function and numpy_function, alone and on replicas."""

import gc

import numpy as np
import tensorflow as tf
from engine import Replicas, lifted_session, same_as_v1, v1

from estimator_bridge.graph import trace_graph


def test_python_functions():
    def build():
        x = v1.placeholder(tf.float32, [2], name="x")
        w = v1.get_variable("w", initializer=[2.0, 3.0])
        y = v1.py_func(lambda a, b: a * b, [x, w], tf.float32)
        z = tf.py_function(lambda a: a + 1.0, [x], tf.float32)
        n = tf.numpy_function(lambda a: np.asarray(a.sum(), np.float32), [y], tf.float32)
        return y, z, n

    same_as_v1(build, runs=2, feeds=[{"x:0": [1.0, 2.0]}, {"x:0": [3.0, 4.0]}])


def test_a_python_function_runs_once_a_run():
    calls = []
    with trace_graph() as graph:
        operation = v1.py_func(lambda: calls.append(1) or np.int64(len(calls)), [], tf.int64)
    session = lifted_session(graph)
    assert [session.run(operation) for _ in range(3)] == [1, 2, 3]


def test_it_outlives_the_scope_that_made_it():
    def make():
        with trace_graph() as graph:
            offset = 5
            y = v1.py_func(lambda: np.int64(offset), [], tf.int64)
            z = tf.cond(
                v1.placeholder_with_default(True, []),
                lambda: tf.py_function(lambda: offset + 1, [], tf.int64),
                lambda: tf.constant(0, tf.int64),
            )
        return lifted_session(graph), [y, z]

    session, fetches = make()
    gc.collect()
    assert session.run(fetches) == [5, 6]


def test_gradients_of_a_py_function():
    def build():
        w = v1.get_variable("w", initializer=3.0)
        y = tf.py_function(lambda a: a * a, [w], tf.float32)
        return tf.gradients(y, w)

    assert same_as_v1(build)[0] == [6.0]


def test_on_replicas():
    seen = []

    def observe(x):
        seen.append(sorted(x.tolist()))
        return x * 10.0

    with trace_graph() as graph:
        x = v1.placeholder(tf.float32, [2])
        y = v1.py_func(observe, [x], tf.float32)
        z = tf.py_function(lambda a: a + 1.0, [y], tf.float32)
    replicas = Replicas(graph, 2, [z], [], [x])
    (parts,) = replicas([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(parts, [[11.0, 21.0], [31.0, 41.0]])
    assert sorted(seen) == [[1.0, 2.0], [3.0, 4.0]]
