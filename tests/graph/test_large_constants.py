"""Functions capture large constants and do not copy them."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session, v1

from estimator_bridge.graph import Lifted, Snapshot, trace_graph
from estimator_bridge.runtime import LoopRequest, ReplicaStep, Step, default_strategy

LARGE = np.arange(100_000, dtype=np.float32).reshape([100, 1000])


@pytest.fixture
def graph():
    with trace_graph() as graph:
        v1.placeholder_with_default(tf.constant(LARGE, name="large"), LARGE.shape, name="given")
        tf.reduce_sum(graph.get_tensor_by_name("given:0"), 0, name="sum")
    return graph


def test_a_session_computes_with_them(graph):
    session = lifted_session(graph, initialize=False)
    np.testing.assert_array_equal(session.run("sum:0"), LARGE.sum(0))
    np.testing.assert_array_equal(session.run("large:0"), LARGE)


def test_a_feed_takes_their_place(graph):
    session = lifted_session(graph, initialize=False)
    np.testing.assert_array_equal(session.run("sum:0", {"large:0": LARGE * 0}), LARGE[0] * 0)


def test_snapshots_and_functions_do_not_hold_them(graph):
    snapshot = Snapshot.of(graph)
    assert sum(node.ByteSize() for node in snapshot.nodes.values()) < 10_000
    lifted = Lifted(snapshot, ["sum:0"])
    function = tf.function(lambda: lifted({}, None)[0]).get_concrete_function()
    assert function.graph.as_graph_def().ByteSize() < 10_000
    np.testing.assert_array_equal(function(), LARGE.sum(0))


def test_a_larger_graph_takes_the_same_buffer(graph):
    before = Snapshot.of(graph).constants["large:0"]
    with graph.as_default():
        tf.constant(1.0)
    assert Snapshot.of(graph).constants["large:0"] is before


def test_a_step_on_a_replica_holds_them(graph):
    session = lifted_session(graph, initialize=False)
    step = ReplicaStep(session, default_strategy(), Step(), request=LoopRequest(["sum:0"]))
    value = tf.function(lambda: step([], tf.constant(0, tf.int64))["sum:0"])()
    np.testing.assert_array_equal(value, LARGE.sum(0))


@pytest.mark.parametrize("dtype", [tf.bool, tf.float64, tf.int8, tf.bfloat16, tf.complex64])
def test_any_dtype(dtype):
    array = tf.cast(np.arange(400_000) % 2, dtype).numpy()
    with trace_graph() as graph:
        tf.constant(array, name="large")
    got = lifted_session(graph, initialize=False).run("large:0")
    assert got.dtype == dtype.as_numpy_dtype
    np.testing.assert_array_equal(got, array)
