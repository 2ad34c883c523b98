"""Loops whose replicas use their own elements of the input."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, ref, v1

from estimator_bridge.graph import REPLICA_ID, trace_graph
from estimator_bridge.runtime import BatchLayout, LoopRequest, Step, StepLoop, tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode


def make_loop(cores):
    with trace_graph(seed=1, shards=cores) as graph:
        x = v1.placeholder(tf.float32, [None])
        number = v1.placeholder(tf.int32, [], name=REPLICA_ID[: -len(":0")])
        seen = v1.get_variable("seen", [cores], initializer=v1.zeros_initializer())
        mine = tf.one_hot(number, cores) * tf.reduce_sum(x)
        add = seen.assign_add(v1.tpu.cross_replica_sum(mine))
        size = tf.size(x)
    strategy = tpu_strategy(master=f"emulated:{cores}")
    session = lifted_session(graph, strategy)
    loop = StepLoop(
        session,
        strategy,
        Step([ref(x)], [ref(add.op)]),
        BatchLayout(elements=cores),
        LoopRequest([ref(size), ref(number)]),
    )
    return loop, lambda: session.run(seen)


def elements(*lengths):
    """Ragged elements: so many ones each."""
    with eager_mode():
        data = tf.data.Dataset.from_tensor_slices(list(lengths))
        return iter(data.map(lambda n: tf.ones([n])))


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_each_replica_takes_its_own(cores):
    loop, seen = make_loop(cores)
    iterator = elements(*range(1, 2 * cores + 1))
    result = loop(iterator, 2)
    assert (result.steps, result.left_over) == (2, [])
    np.testing.assert_array_equal(seen(), np.arange(1, cores + 1) * 2 + cores)
    # These are the first step's.
    assert [value.numpy() for value in result.fetch_values.values()] == [cores + 1, 0]
    assert loop(iterator, 1).input_ended


@pytest.mark.parametrize("count", [4, 5, 6, 7, 8])
def test_what_is_left_over_is_handed_back(count):
    loop, seen = make_loop(4)
    result = loop(elements(*range(1, count + 1)), 10)
    assert (result.steps, result.input_ended) == (count // 4, True)
    rest = [[part.numpy().tolist() for part in element] for element in result.left_over]
    assert rest == [[[1.0] * n] for n in range(count - count % 4 + 1, count + 1)]
    assert sum(seen()) == sum(range(1, count - count % 4 + 1))


def test_no_element_is_drawn_that_no_step_takes():
    loop, _ = make_loop(2)
    iterator = elements(*range(7))
    loop(iterator, 2)
    with eager_mode():
        assert len(next(iterator)) == 4
