"""Draws of tf.random.categorical by ordinary operations, beside TensorFlow's kernel."""

import math

import numpy as np
import pytest
import tensorflow as tf
from engine import v1
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge.graph.arithmetic_draws import BY_ARITHMETIC, arithmetic_nodes
from estimator_bridge.graph.function_library import register_functions
from estimator_bridge.graph.random_nodes import REPLICA_KEY, RNG_STEP

RUNS = 3


def in_one_thread(rows, classes, samples):
    """Returns whether the kernel leaves a batch to one thread."""
    return rows * 50 * (samples * math.log2(max(classes, 2)) + classes) < 10_000


@st.composite
def batches(draw):
    rows, classes, samples = draw(
        st.tuples(st.integers(1, 5), st.integers(1, 60), st.integers(1, 9)).filter(
            lambda sizes: in_one_thread(*sizes)
        )
    )
    numbers = st.one_of(st.floats(-30, 30, width=16), st.sampled_from([-np.inf, np.nan, np.inf]))
    row = st.lists(numbers, min_size=classes - 1, max_size=classes - 1)
    first = draw(st.floats(-30, 30, width=16))  # a row of no probability at all draws no class
    logits = [[first, *draw(row)] for _ in range(rows)]
    dtype = draw(st.sampled_from([np.float32, np.float64, np.float16]))
    return np.array(logits, dtype), samples, draw(st.sampled_from([tf.int32, tf.int64]))


def of_kernel(logits, samples, dtype, seed, seed2):
    with tf.Graph().as_default(), v1.Session() as session:
        draw = tf.raw_ops.Multinomial(
            logits=logits, num_samples=samples, seed=seed, seed2=seed2, output_dtype=dtype
        )
        return [session.run(draw) for _ in range(RUNS)], draw.op.node_def


def of_nodes(node, logits, samples, seed, seed2, replica_key=0):
    """Returns the draws of several steps, compiled by XLA."""
    graph_def = tf.compat.v1.GraphDef()
    nodes, functions = arithmetic_nodes(node, seed, seed2)
    graph_def.node.extend(nodes)
    graph_def.library.function.extend(functions)
    register_functions(graph_def.library)
    assert graph_def.node[-1].name == node.name

    @tf.function(jit_compile=True, autograph=False)
    def compiled(step):
        values = [tf.constant(logits), tf.constant(samples), step]
        refs = [*node.input[:2], RNG_STEP]
        inputs = {**dict(zip(refs, values)), REPLICA_KEY: tf.constant([replica_key], tf.uint64)}
        return tf.graph_util.import_graph_def(graph_def, inputs, [f"{node.name}:0"], name="")[0]

    return [compiled(tf.constant(i, tf.int64)).numpy() for i in range(RUNS)]


@given(batches(), st.integers(1, 2**31 - 1), st.integers(1, 2**62))
@settings(max_examples=15, deadline=None)
def test_the_draws_are_those_of_the_kernel(batch, seed, seed2):
    logits, samples, dtype = batch
    expected, node = of_kernel(logits, samples, dtype, seed, seed2)
    assert node.op in BY_ARITHMETIC
    for draws, kernel_draws in zip(of_nodes(node, logits, samples, seed, seed2), expected):
        assert draws.dtype == kernel_draws.dtype
        np.testing.assert_array_equal(draws, kernel_draws)


@pytest.mark.parametrize("rows", [200, 2000])
def test_large_batches_draw_what_one_thread_draws(rows):
    logits = np.random.RandomState(1).randn(rows, 7).astype(np.float32)
    with tf.Graph().as_default():
        node = tf.raw_ops.Multinomial(logits=logits, num_samples=3, seed=5, seed2=9).op.node_def
    whole = of_nodes(node, logits, 3, 5, 9)[0]
    first = of_nodes(node, logits[:4], 3, 5, 9)[0]  # a part that one thread draws
    np.testing.assert_array_equal(whole[:4], first)
    shares = np.bincount(whole.reshape(-1), minlength=7) / whole.size
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(shares, expected.mean(0), atol=4 / math.sqrt(whole.size))
