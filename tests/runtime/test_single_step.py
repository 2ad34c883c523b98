"""A step that is called alone: no branch for the input's end, and compiled once for all inputs."""

import types

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, ref, v1

from estimator_bridge.graph import trace_graph
from estimator_bridge.runtime import BatchLayout, LoopRequest, Step, StepLoop, default_strategy
from estimator_bridge.runtime import single_step as module
from estimator_bridge.tensorflow_private.names import eager_mode

_BRANCHES = {"If", "StatelessIf", "StatefulIf"}


@pytest.fixture
def compiled(monkeypatch):
    """The functions that single steps compile."""
    functions, flat_call = [], module.flat_call

    def recorded(function):
        functions.append(function)
        return flat_call(function)

    monkeypatch.setattr(module, "flat_call", recorded)
    return functions


def summing(sum_of):
    """A step that adds ``sum_of`` of its batch to a variable and counts the steps."""
    step = v1.train.get_or_create_global_step()
    total = v1.get_variable("total", initializer=0.0)
    add = total.assign_add(sum_of).op
    with tf.control_dependencies([add]):
        train = step.assign_add(1).op

    return types.SimpleNamespace(**locals())


def loop_of():
    with trace_graph(seed=1) as graph:
        x = v1.placeholder(tf.float32, [None], name="x")
        p = summing(tf.reduce_sum(x))
    session = lifted_session(graph)
    named = Step([ref(x)], [ref(p.train)], counter=p.step.op.name)
    loop = StepLoop(session, default_strategy(), named, BatchLayout(), LoopRequest())
    return loop, session, p


def of(*rows):
    with eager_mode():
        return iter(tf.data.Dataset.from_generator(lambda: rows, tf.float32, [None]))


def test_it_has_no_branch_and_stops_before_a_step_without_a_batch(compiled):
    loop, session, p = loop_of()
    iterator = of([1.0, 2.0], [4.0])
    results = [loop(iterator, 1, rng_step=i) for i in range(4)]
    assert [(r.steps, r.input_ended) for r in results] == [(1, False)] * 2 + [(0, True)] * 2
    assert [r.limit_value for r in results] == [1, 2, None, None]
    assert session.run([p.step, p.total]) == [2, 7.0]
    (function,) = compiled
    assert _BRANCHES.isdisjoint(op.type for op in function.graph.get_operations())


def test_another_input_of_the_same_kind_is_not_compiled_again(compiled):
    loop, session, p = loop_of()
    for rows in ([1.0], [2.0, 3.0]):
        assert loop(of(rows), 1).steps == 1
    assert session.run(p.total) == 6.0
    assert len(compiled) == 1


def test_batches_that_are_no_plain_tensors(compiled):
    with trace_graph(seed=1) as graph:
        x = v1.sparse_placeholder(tf.float32, [2, 3])
        p = summing(tf.reduce_sum(x.values))
    session = lifted_session(graph)
    refs = [ref(part) for part in (x.indices, x.values, x.dense_shape)]
    loop = StepLoop(session, default_strategy(), Step(refs, [ref(p.train)]))
    with eager_mode():
        sparse = tf.sparse.from_dense(np.array([[0, 2, 0], [3, 0, 0]], np.float32))
        iterator = iter(tf.data.Dataset.from_tensors(sparse))
    assert [loop(iterator, 1).steps for _ in range(2)] == [1, 0]
    assert session.run(p.total) == 5.0
    assert len(compiled) == 1


def test_an_error_of_the_input_is_raised_and_nothing_runs():
    loop, session, p = loop_of()

    def rows():
        yield [1.0]
        raise RuntimeError("the file is gone")

    with eager_mode():
        iterator = iter(tf.data.Dataset.from_generator(rows, tf.float32, [None]))
    assert loop(iterator, 1).steps == 1
    with pytest.raises(tf.errors.OpError, match="the file is gone"):
        loop(iterator, 1)
    assert session.run(p.step) == 1
