"""Values of variables are read without compiling a function; other fetches are computed."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.graph.variable_fetches import fetched_variables
from estimator_bridge.runtime import default_strategy
from estimator_bridge.tensorflow_private.names import global_step_read

v1 = tf.compat.v1


@pytest.fixture(name="traced")
def _traced():
    with trace_graph(seed=1) as graph:
        step = v1.train.create_global_step()
        read = global_step_read(graph)
        weight = v1.get_variable("weight", initializer=tf.constant([1.0, 2.0]))
        change = v1.assign_add(weight, [1.0, 1.0])
        with tf.control_dependencies([change]):
            after = weight.read_value()
        doubled = weight.read_value() * 2
        count = v1.assign_add(step, 1)
        init = v1.global_variables_initializer()
    session = LiftedSession(graph, default_strategy())
    with graph.as_default():
        yield session, {
            "step": step, "read": read, "weight": weight, "after": after, "doubled": doubled,
            "count": count, "init": init,
        }  # fmt: skip
    session.close()


def test_what_is_a_plain_read(traced):
    session, parts = traced

    def variables(*tensors):
        return fetched_variables(session.graph, [tensor.name for tensor in tensors])

    assert variables(parts["read"]) == ["global_step"]
    assert variables(parts["read"], parts["weight"].value()) == ["global_step", "weight"]
    assert variables(parts["after"]) is None  # it is to see the change
    assert variables(parts["doubled"]) is None
    assert variables(parts["read"], parts["doubled"]) is None
    assert fetched_variables(session.graph, ["^" + parts["init"].name]) is None
    assert fetched_variables(session.graph, ["of/the/engine:0"]) is None


def test_reads_see_what_ran_before_and_need_no_function(traced):
    session, parts = traced
    session.run(parts["init"])
    compiled = len(session._functions)
    assert session.run([parts["read"], parts["step"]]) == [0, 0]
    before = session.run(parts["weight"])
    assert len(session._functions) == compiled
    session.run([parts["count"], parts["doubled"]])
    np.testing.assert_array_equal(session.run(parts["after"]), [2, 3])
    np.testing.assert_array_equal(session.run(parts["weight"]), [2, 3])
    np.testing.assert_array_equal(before, [1, 2])  # a value of its own
    assert session.run(parts["read"]) == 1
    assert session.run(parts["read"]).dtype == np.int64


def test_a_variable_without_a_value_is_read_as_in_tf1(traced):
    session, parts = traced
    assert session.run(parts["read"]) == 0  # it is to be its initial value then
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value 'weight'"):
        session.run(parts["weight"])


def test_a_value_that_is_fed_is_not_read(traced):
    session, parts = traced
    session.run(parts["init"])
    assert session.run(parts["read"], {parts["read"]: 7}) == 7
