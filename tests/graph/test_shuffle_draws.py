"""Shuffles by ordinary operations, beside TensorFlow's kernel."""

import numpy as np
import pytest
import tensorflow as tf
from engine import v1

from estimator_bridge.graph.arithmetic_draws import BY_ARITHMETIC, arithmetic_nodes
from estimator_bridge.graph.function_library import register_functions
from estimator_bridge.graph.random_nodes import REPLICA_KEY, RNG_STEP

RUNS, SEEDS = 3, (7, 2**40 + 5)


def of_kernel(rows):
    with tf.Graph().as_default(), v1.Session() as session:
        shuffled = tf.raw_ops.RandomShuffle(value=rows, seed=SEEDS[0], seed2=SEEDS[1])
        return [session.run(shuffled) for _ in range(RUNS)], shuffled.op.node_def


def of_nodes(node, rows):
    """Returns the shuffled rows of several steps, compiled by XLA."""
    graph_def = tf.compat.v1.GraphDef()
    nodes, functions = arithmetic_nodes(node, *SEEDS)
    graph_def.node.extend(nodes)
    graph_def.library.function.extend(functions)
    register_functions(graph_def.library)

    @tf.function(jit_compile=True, autograph=False)
    def compiled(step):
        inputs = {
            node.input[0]: tf.constant(rows),
            RNG_STEP: step,
            REPLICA_KEY: tf.constant([0], tf.uint64),
        }
        return tf.graph_util.import_graph_def(graph_def, inputs, [f"{node.name}:0"], name="")[0]

    return [compiled(tf.constant(i, tf.int64)).numpy() for i in range(RUNS)]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_])
@pytest.mark.parametrize(
    "shape", [(0,), (1,), (2,), (5,), (301,), (1, 4), (6, 3), (33, 2, 2), (3, 0)]
)
def test_the_order_is_that_of_the_kernel(shape, dtype):
    rows = (np.arange(np.prod(shape)) % 97).reshape(shape).astype(dtype)
    expected, node = of_kernel(rows)
    assert node.op in BY_ARITHMETIC
    for shuffled, kernel_rows in zip(of_nodes(node, rows), expected):
        np.testing.assert_array_equal(shuffled, kernel_rows)
        assert shuffled.dtype == kernel_rows.dtype


def test_its_functions_have_the_same_names_in_each_process_and_graph():
    _, node = of_kernel(np.arange(3.0))
    first, again, other = (arithmetic_nodes(node, *seeds) for seeds in (SEEDS, SEEDS, (1, 2)))
    names = [[function.signature.name for function in functions] for _, functions in (first, again)]
    assert sorted(names[0]) == sorted(names[1])
    assert len(set(names[0])) == 3  # the draw, the loop's condition and its body
    assert set(names[0]).isdisjoint(function.signature.name for function in other[1])
