"""Cross-replica sums: places, values, and the order of the operations between them."""

import numpy as np
import pytest
import tensorflow as tf
from engine import Replicas, lifted_session, v1
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.graph import trace_graph

cross_replica_sum = v1.tpu.cross_replica_sum


def on_replicas(cores, build, batch, shape=()):
    """The values of a function of each replica's part of a batch."""
    with trace_graph(shards=cores) as graph:
        x = v1.placeholder(tf.as_dtype(batch.dtype), [len(batch) // cores, *shape])
        values = build(x)
    replicas = Replicas(graph, cores, values, [], [x])
    return replicas(batch)


@pytest.mark.parametrize("cores", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16", "float16", "float64"])
def test_the_sum_of_all(cores, dtype):
    batch = np.arange(8).astype(tf.as_dtype(dtype).as_numpy_dtype)
    (totals,) = on_replicas(cores, lambda x: [cross_replica_sum(x)], batch)
    for total in totals:
        assert total.dtype == batch.dtype
        np.testing.assert_array_equal(total, batch.reshape(cores, -1).sum(axis=0))


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_sums_of_groups(dtype):
    batch = np.array([1, 2, 3, 4], tf.as_dtype(dtype).as_numpy_dtype)
    together, pairs, crossed, alone = on_replicas(
        4,
        lambda x: [
            cross_replica_sum(x, [[0, 1, 2, 3]]),
            cross_replica_sum(x, [[0, 1], [2, 3]]),
            cross_replica_sum(x, [[3, 0], [1, 2]]),
            cross_replica_sum(x, [[0], [1], [2], [3]]),
        ],
        batch,
    )
    assert np.ravel(together).tolist() == [10, 10, 10, 10]
    assert np.ravel(pairs).tolist() == [3, 3, 7, 7]
    assert np.ravel(crossed).tolist() == [5, 5, 5, 5]
    assert np.ravel(alone).tolist() == [1, 2, 3, 4]


def test_a_nan_stays_in_its_group():
    batch = np.array([1, 2, np.nan, 4], np.float32)
    (sums,) = on_replicas(4, lambda x: [cross_replica_sum(x, [[0, 1], [2, 3]])], batch)
    np.testing.assert_array_equal(np.ravel(sums), [3, 3, np.nan, np.nan])


def test_a_scalar_in_groups_of_unknown_shape():
    def build(x):
        scalar = v1.placeholder_with_default(tf.reduce_sum(x), None)
        return [cross_replica_sum(scalar, [[0, 1], [2, 3]])]

    (sums,) = on_replicas(4, build, np.array([1, 2, 3, 4], np.float32))
    assert sums == [3, 3, 7, 7]


def test_groups_that_leave_a_replica_out():
    with pytest.raises(ValueError, match=r"group_assignment .* must name each of the 4 replicas"):
        on_replicas(4, lambda x: [cross_replica_sum(x, [[0, 1], [1, 3]])], np.zeros(4, np.float32))


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_statistics_of_statistics(cores):
    """As batch norm over replicas does it: mean, then variance, then what is normalized by both."""

    def mean(value):
        return cross_replica_sum(tf.reduce_mean(value, axis=0)) / cores

    def build(x):
        center = mean(x)
        variance = mean((x - center) ** 2)
        normal = (x - center) / tf.sqrt(variance + 1e-3)
        skew = mean(normal**3)
        (gradient,) = tf.gradients(tf.reduce_sum(normal * x), x)
        return [center, variance, skew, normal, gradient]

    batch = np.random.RandomState(0).randn(16, 3).astype(np.float32)
    center, variance, skew, normal, gradient = on_replicas(cores, build, batch, [3])
    expected = (batch - batch.mean(0)) / np.sqrt(batch.var(0) + 1e-3)
    for replica in range(cores):
        np.testing.assert_allclose(center[replica], batch.mean(0), atol=1e-6)
        np.testing.assert_allclose(variance[replica], batch.var(0), atol=1e-5)
        np.testing.assert_allclose(skew[replica], (expected**3).mean(0), atol=1e-4)
    np.testing.assert_allclose(np.concatenate(normal), expected, atol=1e-5)
    (alone,) = on_replicas(1, gradient_through_the_whole_batch, batch, [3])
    np.testing.assert_allclose(np.concatenate(gradient), alone[0], atol=1e-4)


def gradient_through_the_whole_batch(x):
    center = tf.reduce_mean(x, axis=0)
    variance = tf.reduce_mean((x - center) ** 2, axis=0)
    normal = (x - center) / tf.sqrt(variance + 1e-3)
    return tf.gradients(tf.reduce_sum(normal * x), x)


def test_a_sum_of_what_needs_control_edges_only():
    with trace_graph(shards=2) as graph:
        x = v1.placeholder(tf.float32, [1])
        w = v1.get_variable("w", initializer=[0.0])
        total = cross_replica_sum(x)
        with tf.control_dependencies([total]):
            add = w.assign_add(x)
        with tf.control_dependencies([add]):
            again = cross_replica_sum(w.read_value())
    replicas = Replicas(graph, 2, [again], [add.op], [x])
    assert np.ravel(replicas([1.0, 5.0])[0]).tolist() == [6.0, 6.0]
    assert np.ravel(replicas([1.0, 5.0])[0]).tolist() == [12.0, 12.0]


# A little program: steps on two variables `a` and `b` and a running value, all scalars.
STEPS = ("read", "assign", "add", "sum", "sum pairs", "multiply", "keep")
PROGRAMS = st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from("ab")), max_size=9)


class Numbers:
    """Computes the program's meaning, with the values of all replicas as one array."""

    def __init__(self, x):
        self.variables = {"a": np.ones_like(x), "b": np.full_like(x, 2.0)}

    def run(self, program, x):
        value, fetches = x, []
        for step, name in program:
            if step == "read":
                value = value + self.variables[name]
            elif step == "assign":
                self.variables[name] = value
            elif step == "add":
                self.variables[name] = value = self.variables[name] + value
            elif step == "sum":
                value = np.full_like(value, value.sum())
            elif step == "sum pairs":
                value = value.reshape(-1, min(2, len(value))).sum(1).repeat(min(2, len(value)))
            elif step == "multiply":
                value = value * 0.5
            else:
                fetches.append(value)
        return [*fetches, value]


def as_graph(program, x, cores):
    variables = {
        name: v1.get_variable(name, initializer=initial)
        for name, initial in (("a", 1.0), ("b", 2.0))
    }
    pairs = [[i, i + 1] for i in range(0, cores, 2)] if cores > 1 else [[0]]
    value, fetches, writes = x, [], []
    for step, name in program:
        if step == "read":
            value = value + variables[name].read_value()
        elif step == "assign":
            writes.append(variables[name].assign(value).op)
        elif step == "add":
            written = variables[name].assign_add(value)
            writes.append(written.op)
            value = written.read_value()
        elif step == "sum":
            value = cross_replica_sum(value)
        elif step == "sum pairs":
            value = cross_replica_sum(value, pairs)
        elif step == "multiply":
            value = value * 0.5
        else:
            fetches.append(tf.identity(value))
    return [*fetches, value], writes, variables


@settings(max_examples=25, deadline=None, derandomize=True)
@given(PROGRAMS, st.sampled_from([1, 2, 4]))
def test_any_program_means_what_its_order_says(program, cores):
    first = np.arange(1, cores + 1, dtype=np.float32)
    with trace_graph(shards=cores) as graph:
        x = v1.placeholder(tf.float32, [1])
        values, writes, variables = as_graph(program, x[0], cores)
    replicas = Replicas(graph, cores, values, writes, [x])
    model = Numbers(first)
    for batch in (first, first * 0.25):
        expected = model.run(program, batch)
        np.testing.assert_allclose(replicas(batch), expected, rtol=1e-5)
        for name, variable in variables.items():
            np.testing.assert_allclose(replicas.copies(variable), model.variables[name], rtol=1e-5)


def test_in_a_branch_it_is_refused():
    with trace_graph(shards=2) as graph:
        x = v1.placeholder(tf.float32, [1])
        y = tf.cond(x[0] > 0.0, lambda: cross_replica_sum(x), lambda: x, name="choice")
    with pytest.raises(NotImplementedError, match=r"'choice'.*outside it"):
        Replicas(graph, 2, [y], [], [x])


def test_in_a_branch_below_a_function_it_is_refused():
    @tf.function
    def outer(x):
        return tf.cond(x[0] > 0.0, lambda: cross_replica_sum(x), lambda: x)

    with trace_graph(shards=2) as graph:
        x = v1.placeholder(tf.float32, [1])
        y = outer(x)
    with pytest.raises(NotImplementedError, match="cross-replica sum is inside the function"):
        Replicas(graph, 2, [y], [], [x])


def test_beside_v1_control_flow_it_is_refused():
    with trace_graph(shards=2) as graph:
        v1.disable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [1])
            y = tf.cond(x[0] > 0.0, lambda: x + 1.0, lambda: x)
        finally:
            v1.enable_control_flow_v2()
        total = cross_replica_sum(y)
    with pytest.raises(NotImplementedError, match="disable_control_flow_v2"):
        Replicas(graph, 2, [total], [], [x])


def test_groups_that_are_no_constant():
    with trace_graph(shards=2) as graph:
        groups = v1.placeholder_with_default([[0, 1]], [1, 2], name="groups")
        total = tf.raw_ops.CrossReplicaSum(input=[1.0], group_assignment=groups)
    with pytest.raises(ValueError, match=r"must be a constant.*'groups'"):
        lifted_session(graph).run(total)
