"""Effects of branches and loops run in a step, even if nobody reads their results."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from engine import initialize_all, lifted_session, v1

from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import Step, StepLoop, default_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

STEPS = 7


def every_third(step, total):
    """Gradient accumulation's shape: the update stands in a branch, and is fetched as one op."""
    update = tf.cond(tf.equal(step % 3, 0), lambda: tf.group(total.assign_add(1)), tf.no_op)
    return tf.group(update)


def on_the_way_to_a_constant(step, total):
    def change():
        with tf.control_dependencies([total.assign_add(step)]):
            return tf.constant(1.0)

    return tf.cond(step > 3, change, lambda: tf.constant(0.0)).op


def in_a_branch_of_a_branch(step, total):
    def inner():
        return tf.cond(step > 4, lambda: total.assign_add(100), lambda: total.assign_add(1))

    return tf.group(tf.cond(step > 2, inner, lambda: total.assign_sub(7)))


def in_a_loop(step, total):
    def body(i):
        with tf.control_dependencies([total.assign_add(i)]):
            return i + 1

    (end,) = tf.while_loop(lambda i: i < step, body, [tf.constant(0)])
    return end.op


def in_a_branch_of_a_function(step, total):
    @tf.function(autograph=False)
    def function(now):
        return tf.cond(now > 2, lambda: total.assign_add(now), total.read_value)

    return tf.group(function(step))


def one_of_several(step, total):
    cases = [lambda by=by: total.assign_add(by) for by in (1, 10, 100)]
    return tf.group(tf.switch_case(step % 3, cases))


def made_and_not_waited_for(step, total):
    """In a session the assignment would not run, for the branch's result does not need it."""

    def change():
        total.assign_add(1)
        return tf.constant(1)

    return tf.cond(step > 0, change, lambda: tf.constant(0)).op


PROGRAMS = [
    every_third,
    on_the_way_to_a_constant,
    in_a_branch_of_a_branch,
    in_a_loop,
    in_a_branch_of_a_function,
    one_of_several,
    made_and_not_waited_for,
]


def traced(program):
    with trace_graph() as graph:
        step = v1.placeholder(tf.int32, [], name="step")
        total = v1.get_variable("total", initializer=0)
        return graph, step, total, program(step, total)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_loop_of_steps_changes_what_a_session_does(program):
    graph, step, total, operation = traced(program)
    with v1.Session(graph=graph) as session:
        initialize_all(session)
        for i in range(STEPS):
            session.run(operation, {step: i})
        expected = session.run(total)

    graph, step, total, operation = traced(program)
    session = lifted_session(graph)
    loop = StepLoop(session, default_strategy(), Step([step.name], ["^" + operation.name]))
    with eager_mode():
        numbers = tf.data.Dataset.from_tensor_slices(np.arange(STEPS, dtype=np.int32))
        loop(iter(numbers), STEPS)
    assert session.run(total) == expected
    session.run(operation, {step: 6})  # an op alone, in a call of its own
    again = session.run(total)
    assert (again == expected) == (program is made_and_not_waited_for)
