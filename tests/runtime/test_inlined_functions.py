"""A program's functions that contain cross-replica sums are inlined."""

import numpy as np
import tensorflow as tf
from engine import Replicas, lifted_session, v1

from estimator_bridge.graph import Snapshot, trace_graph

cross_replica_sum = v1.tpu.cross_replica_sum


def run(build, cores=2, batch=(1.0, 5.0), steps=1):
    with trace_graph(seed=1, shards=cores) as graph:
        x = v1.placeholder(tf.float32, [len(batch) // cores])
        values = build(x)
    replicas = Replicas(graph, cores, values, [], [x])
    for i in range(steps):
        got = replicas(list(batch), rng_step=i)
    return [np.squeeze(value).tolist() for value in got]


def test_a_sum_in_a_function():
    @tf.function
    def mean(x):
        return cross_replica_sum(x) / 2.0, x * 10.0

    def build(x):
        average, ten_times = mean(x)
        return [average, ten_times, average + ten_times]

    assert run(build) == [[3, 3], [10, 50], [13, 53]]


def test_a_function_in_a_function():
    @tf.function
    def mean(x):
        return cross_replica_sum(x) / 2.0

    @tf.function
    def variance(x):
        first, second = tf.split(tf.stack([x, x + 1.0], 0), 2)
        center = mean(tf.squeeze(first, 0))
        return {"variance": mean((second[0] - 1.0 - center) ** 2), "center": center}

    assert run(lambda x: [variance(x)["variance"], variance(x)["center"]]) == [[4, 4], [3, 3]]


def test_its_gradient():
    @tf.function
    def centered(x):
        return x - cross_replica_sum(x) / 2.0

    def build(x):
        y = centered(x)
        return [y, *tf.gradients(tf.reduce_sum(y * y), x)]

    y, gradient = run(build)
    assert y == [-2, 2]
    # dy: 2y summed over both replicas is 0, so what comes back through the mean vanishes.
    assert gradient == [-4, 4]


def test_variables_are_accessed_in_order():
    def build(x):
        w = v1.get_variable("w", initializer=[0.0])

        @tf.function
        def step(x):
            before = w.read_value()
            w.assign(cross_replica_sum(x + before))
            return before, w.read_value()

        first = w.assign_add([1.0])
        with tf.control_dependencies([first]):
            before, after = step(x)
        with tf.control_dependencies([after]):
            return [before, after, w.read_value() * 2.0]

    assert run(build) == [[1, 1], [8, 8], [16, 16]]
    assert run(build, steps=2) == [[9, 9], [24, 24], [48, 48]]


def test_random_numbers_inside_of_it():
    @tf.function
    def noisy(x):
        noise = tf.random.uniform([1], seed=3)
        return noise, cross_replica_sum(noise), x

    noise, total, _ = run(noisy)
    assert noise[0] != noise[1]
    np.testing.assert_allclose(total, [sum(noise)] * 2, rtol=1e-6)


def test_a_function_without_results():
    def build(x):
        w = v1.get_variable("w", initializer=[0.0])

        @tf.function
        def store(x):
            w.assign(cross_replica_sum(x))

        store(x)
        (call,) = (op for op in x.graph.get_operations() if op.type == "StatefulPartitionedCall")
        with tf.control_dependencies([call]):
            return [w.read_value()]

    assert run(build) == [[6, 6]]


def test_functions_without_a_sum_stay_calls():
    @tf.function
    def double(x):
        return x * 2.0

    with trace_graph() as graph:
        double(tf.constant(1.0))
        types = {node.op for node in Snapshot.of(graph).nodes.values()}
    assert "PartitionedCall" in types
    assert "IdentityN" not in types


def test_the_same_in_a_session_of_one_replica():
    @tf.function
    def mean(x):
        return cross_replica_sum(x)

    with trace_graph(shards=1) as graph:
        y = mean(tf.constant([3.0]))
    np.testing.assert_array_equal(lifted_session(graph).run(y), [3.0])
