"""Variables start with the values that a v1.Session would give them."""

import numpy as np
import pytest
import tensorflow as tf
from engine import initialize_all, lifted_session, same_as_v1, v1

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import default_strategy

INITIALIZERS = {
    "glorot_uniform": v1.glorot_uniform_initializer,
    "glorot_normal": v1.glorot_normal_initializer,
    "truncated": lambda: v1.truncated_normal_initializer(stddev=0.02),
    "orthogonal": v1.orthogonal_initializer,
    "uniform": lambda: v1.random_uniform_initializer(-1.0, 1.0, seed=5),
    "he": tf.keras.initializers.HeNormal,
    "identity": tf.initializers.identity,
}


@pytest.mark.parametrize("name", INITIALIZERS)
def test_the_same_initial_values_under_the_same_graph_seed(name):
    make = INITIALIZERS[name]
    first, second = same_as_v1(
        lambda: [v1.get_variable(n, [4, 4], initializer=make(), use_resource=False) for n in "ab"],
        seed=11,
    )[0]
    if name not in ("identity", "uniform"):
        assert not np.allclose(first, second)


def test_layers():
    def build():
        x = tf.ones([2, 4, 4, 1])
        x = v1.layers.conv2d(x, 3, 3)
        x = v1.layers.batch_normalization(x)
        return v1.layers.dense(v1.layers.flatten(x), 2), v1.global_variables()

    same_as_v1(build, seed=3)


def initial_values(seed, op_seed=None):
    with trace_graph(seed) as graph:
        w = v1.get_variable("w", [5], initializer=v1.random_normal_initializer(seed=op_seed))
        return lifted_session(graph).run(w)


def test_seeds_decide():
    np.testing.assert_array_equal(initial_values(1), initial_values(1))
    np.testing.assert_array_equal(initial_values(None, 4), initial_values(None, 4))
    assert not np.allclose(initial_values(1), initial_values(2))
    assert not np.allclose(initial_values(None), initial_values(None))


def keras_values(seed):
    with trace_graph(seed) as graph:
        x = tf.keras.layers.Dense(3)(v1.layers.dense(tf.ones([2, 3]), 2))
        dropped = tf.keras.layers.Dropout(0.5)(tf.ones([40]), training=True)
        session = lifted_session(graph)
        return np.concatenate([np.ravel(value) for value in session.run([x, dropped])]).tolist()


def test_the_graph_seed_reaches_keras_layers():
    assert keras_values(1) == keras_values(1)
    assert keras_values(1) != keras_values(2)
    assert keras_values(None) != keras_values(None)


def chained():
    a = v1.get_variable("a", [3], initializer=v1.random_normal_initializer())
    b = v1.get_variable("b", initializer=a.initialized_value() * 2.0)
    c = tf.Variable(lambda: b.initialized_value() + 1.0, name="c")
    return a, b, c


def test_initial_values_that_read_other_variables():
    with trace_graph(1) as graph:
        variables = chained()
        a, b, c = lifted_session(graph).run(variables)
    np.testing.assert_allclose(b, a * 2.0)
    np.testing.assert_allclose(c, b + 1.0)


def test_initialized_value_of_a_variable_that_was_changed():
    with trace_graph() as graph:
        a = v1.get_variable("a", initializer=1.0)
        value = a.initialized_value()
        session = LiftedSession(graph, default_strategy())
        assert session.run(value) == 1.0
        initialize_all(session)
        a.load(6.0, session)
        assert session.run(value) == 6.0


def test_a_second_initialization_draws_anew_as_in_a_v1_session():
    with trace_graph(1) as graph:
        w = v1.get_variable("w", [3], initializer=v1.random_uniform_initializer())
        runs = []
        for session in (v1.Session(graph=graph), LiftedSession(graph, default_strategy())):
            values = []
            for _ in range(3):
                session.run(w.initializer)
                values.append(session.run(w))
            runs.append(values)
    np.testing.assert_array_equal(*runs)
    assert not np.allclose(runs[1][0], runs[1][1])


def test_partitioned_and_typed_variables():
    def build():
        parts = v1.get_variable(
            "parts", [5, 2], partitioner=v1.fixed_size_partitioner(2), initializer=None
        )
        return (
            tf.convert_to_tensor(parts),
            v1.get_variable("flag", initializer=True),
            v1.get_variable("half", initializer=tf.constant([1.5], tf.bfloat16)),
            v1.get_variable("text", initializer="word"),
            v1.get_variable("open", initializer=tf.zeros([2]), validate_shape=False),
        )

    same_as_v1(build, seed=2)
