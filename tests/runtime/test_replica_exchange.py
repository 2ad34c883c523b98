"""Values that replicas send to each other."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.runtime import Step, StepLoop, tpu_strategy

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def exchanged(function, cores, values):
    """Returns each replica's value after a step: [cores, ...]."""
    strategy = tpu_strategy(master=f"emulated:{cores}")
    values = np.asarray(values, np.float32)
    with trace_graph(shards=cores) as graph:
        x = v1.placeholder(tf.float32, [1, *values.shape[1:]])
        got = function(x[0])
        shape = [cores, *got.shape.as_list()]
        variable = v1.get_variable("kept", shape, initializer=v1.zeros_initializer())
        number = v1.placeholder(tf.int32, [1])
        row = tf.one_hot(number[0], cores)
        everyone = eb.tpu.cross_replica_sum(tf.tensordot(row, got, axes=0))
        operation = v1.assign(variable, everyone)
        init = v1.global_variables_initializer()
    session = LiftedSession(graph, strategy)
    session.run(init)
    loop = StepLoop(session, strategy, Step([x.name, number.name], ["^" + operation.op.name]))
    batch = (values, np.arange(cores, dtype=np.int32))
    loop(iter(tf.data.Dataset.from_tensors(batch)), 1)
    return session.run(variable)


def test_collective_permute():
    values = np.arange(1, 5).reshape(4, 1) * [[1, 10]]
    got = exchanged(lambda x: eb.tpu.collective_permute(x, [[0, 1], [1, 2], [2, 0]]), 4, values)
    np.testing.assert_array_equal(got, [[3, 30], [1, 10], [2, 20], [0, 0]])


@pytest.mark.parametrize("cores", [2, 4])
def test_all_to_all_of_all(cores):
    values = np.arange(cores * cores * 3).reshape(cores, cores, 3)
    got = exchanged(lambda x: eb.tpu.all_to_all(x, 1, 0, cores), cores, values)
    expected = [
        np.concatenate([values[j, i : i + 1] for j in range(cores)], 1) for i in range(cores)
    ]
    np.testing.assert_array_equal(got, expected)


def test_all_to_all_in_groups():
    values = np.arange(8).reshape(4, 2)
    groups = [[0, 2], [3, 1]]
    got = exchanged(lambda x: eb.tpu.all_to_all(x, 0, 0, 2, groups), 4, values)
    np.testing.assert_array_equal(got, [[0, 4], [7, 3], [1, 5], [6, 2]])


def test_a_value_that_is_no_number_stays_where_it_is():
    values = [[np.nan], [1.0]]
    got = exchanged(lambda x: eb.tpu.collective_permute(x, [[1, 1]]), 2, values)
    np.testing.assert_array_equal(got, [[0], [1]])


def test_gradients_go_the_way_back():
    def function(x):
        sent = eb.tpu.collective_permute(x, [[0, 1], [1, 0]])
        (gradient,) = tf.gradients(tf.reduce_sum(sent * sent), x)
        return gradient

    got = exchanged(function, 2, [[1.0], [5.0]])
    np.testing.assert_array_equal(got, [[2], [10]])


def test_outside_of_tpu_mode_there_is_one_replica():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        both = eb.tpu.all_to_all(x, 0, 0, 8), eb.tpu.collective_permute(x, [[0, 1]])
        np.testing.assert_array_equal(session.run(both), [[1, 2], [1, 2]])


def test_wrong_arguments():
    with trace_graph(shards=2):
        with pytest.raises(ValueError, match="split_count 3 must equal the size"):
            eb.tpu.all_to_all(tf.ones([3]), 0, 0, 3)
        with pytest.raises(ValueError, match="more than one value to a replica"):
            eb.tpu.collective_permute(tf.ones([3]), [[0, 1], [1, 1]])
