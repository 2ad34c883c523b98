"""Finds in the graph the variables that would differ between replicas."""

import pytest
import tensorflow as tf
from engine import ref, v1

from estimator_bridge.graph import Resources, diverging_variables, trace_graph

N = 2


def total(x):
    return v1.tpu.cross_replica_sum(x, [[0, 1]])


def variables(*names):
    return [v1.get_variable(name, [3], initializer=v1.zeros_initializer()) for name in names]


def joined(batch):
    (a,) = variables("a")
    return [a.assign_sub(0.1 * total(batch))]


def own_batch(batch):
    (a,) = variables("a")
    return [a.assign_sub(0.1 * batch)]


def through_another_variable(batch):
    a, moment, unused = variables("a", "moment", "unused")
    return [a.assign_sub(moment), moment.assign(batch), unused.assign(a * total(batch))]


def sum_of_a_differing_variable(batch):
    a, total_of_batches = variables("a", "kept")
    with tf.control_dependencies([total_of_batches.assign_add(batch)]):
        return [a.assign_sub(total(total_of_batches.read_value()))]


def random_numbers(batch):
    a, b = variables("a", "b")
    return [a.assign_add(tf.random.normal([3])), b.assign_add(total(tf.random.normal([3])))]


def inside_a_loop(batch):
    a, b = variables("a", "b")

    def add(i):
        with tf.control_dependencies([a.assign_add(batch)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 2, add, [0])
    return [loop[0], b.assign_add(total(batch))]


def a_branch_that_the_batch_decides(batch):
    (a,) = variables("a")
    return [tf.cond(batch[0] > 0, lambda: a.assign_add([1.0, 1.0, 1.0]), lambda: tf.identity(a))]


def constants_and_shapes(batch):
    (a,) = variables("a")
    return [a.assign_add(tf.fill([3], 2.0)), a.assign(tf.zeros([3]))]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (joined, set()),
        (own_batch, {"a"}),
        (through_another_variable, {"a", "moment", "unused"}),
        (sum_of_a_differing_variable, {"kept"}),
        (random_numbers, {"a"}),
        (inside_a_loop, {"a"}),
        (a_branch_that_the_batch_decides, {"a"}),
        (constants_and_shapes, set()),
    ],
)
def test_variables_that_come_to_differ(program, expected):
    with trace_graph(seed=1) as graph:
        batch = v1.placeholder(tf.float32, [3])
        fetches = [ref(element) for element in program(batch)]
    operations = diverging_variables(graph, fetches, Resources.owners_in(graph))
    assert set(operations) == expected
    assert all(name in {op.name for op in graph.get_operations()} for name in operations.values())
