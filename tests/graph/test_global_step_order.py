"""Reads of the global step that no control edge orders, and its update."""

import pytest
from engine import lifted_session, same_as_v1, tf, v1

from estimator_bridge.graph import trace_graph


def minimized():
    """A program that has just made an optimizer's update."""
    w = v1.get_variable("w", initializer=1.0)
    step = v1.train.get_or_create_global_step()
    return step, v1.train.GradientDescentOptimizer(0.1).minimize(w * w, step)


def runs(build, count=3):
    with trace_graph() as graph:
        fetches = build()
    session = lifted_session(graph)
    return [session.run(fetches)[0] for _ in range(count)]


def test_behind_minimize_it_tells_the_steps_own_number():
    def build():
        step, train = minimized()
        return v1.cast(step, tf.float32) + 0.5, train

    assert runs(build) == [0.5, 1.5, 2.5]


def test_with_an_edge_it_tells_the_next_number():
    def build():
        step, train = minimized()
        with tf.control_dependencies([train]):
            return step.read_value(), train

    assert [values[0] for values in same_as_v1(build, runs=3)] == [1, 2, 3]


def test_behind_a_hand_written_update_it_tells_the_steps_own_number():
    def build():
        step = v1.train.get_or_create_global_step()
        update = step.assign(step + 1)
        return tf.identity(step), update.op

    assert runs(build) == [0, 1, 2]


@pytest.mark.parametrize("initial", [0, 7])
def test_an_update_that_waits_for_nothing_keeps_its_place(initial):
    def build():
        step = v1.get_variable("step", initializer=initial, collections=["variables"])
        v1.add_to_collection(v1.GraphKeys.GLOBAL_STEP, step)
        update = step.assign_add(1).op
        return tf.identity(step), update

    assert runs(build) == [initial + 1, initial + 2, initial + 3]


def test_a_write_that_starts_anew_is_not_passed():
    def build():
        step, train = minimized()
        anew = step.assign(100).op
        return tf.identity(step), train, anew

    assert runs(build, 2) == [100, 100]


def test_a_first_value_is_there_before_it_is_read():
    with trace_graph() as graph:
        step = v1.train.get_or_create_global_step()
        start = step.assign(v1.random_uniform([], 5, 6, tf.int64)).op
        seen = tf.identity(step)
    session = lifted_session(graph, initialize=False)
    assert session.run([seen, start])[0] == 5


def test_other_variables_keep_the_order_of_the_program():
    def build():
        _, train = minimized()
        count = v1.get_variable("count", initializer=0)
        with tf.control_dependencies([train]):
            one = tf.constant(1)
        update = count.assign_add(one).op
        return tf.identity(count), train, update

    assert runs(build) == [1, 2, 3]
