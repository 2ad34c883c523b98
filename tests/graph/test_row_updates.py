"""Sparse updates as operations on rows: the numbers of TensorFlow's own kernels."""

import numpy as np
import pytest
import tensorflow as tf
from engine import lifted_session

from estimator_bridge.graph import Lifted, Snapshot, trace_graph

v1 = tf.compat.v1
ROWS, STEPS = 50, 12
OPTIMIZERS = {
    "adagrad": lambda: v1.train.AdagradOptimizer(0.3),
    "momentum": lambda: v1.train.MomentumOptimizer(0.3, 0.9),
    "nesterov": lambda: v1.train.MomentumOptimizer(0.3, 0.9, use_nesterov=True),
    "ftrl": lambda: v1.train.FtrlOptimizer(0.3),
}
REPLACED = {"adagrad": "ResourceSparseApplyAdagrad", "momentum": "ResourceSparseApplyMomentum"}


def train_table(make, dtype, ids, width):
    """Makes a table of which each step updates the rows of ids, which repeat some."""
    table = v1.get_variable(
        "table", [ROWS, width], dtype, v1.random_normal_initializer(seed=1, dtype=dtype)
    )
    rows = tf.gather(table, ids)
    loss = tf.reduce_sum((rows - 1) ** 2 * tf.cast(tf.range(1, 1 + width), dtype)) / 20
    return make().minimize(loss, v1.train.get_or_create_global_step())


def op_types(graph, train_op):
    resources = [op.name for op in graph.get_operations() if op.type == "VarHandleOp"]
    lifted = Lifted(
        Snapshot.of(graph), [f"^{train_op.name}"], [f"{n}:0" for n in resources], resources
    )
    return {node.op for part in lifted.graph_defs for node in part.node}


@pytest.mark.parametrize(
    ("dtype", "index_type", "width"),
    [
        (tf.float32, np.int32, 8),
        (tf.float32, np.int64, 16),
        (tf.float32, np.int64, 5),
        (tf.float64, np.int64, 8),
    ],
)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rows_have_the_bits_of_the_kernels(name, dtype, index_type, width):
    steps = np.random.RandomState(0).randint(0, ROWS, [STEPS, 30]).astype(index_type)
    with trace_graph(seed=1) as graph:
        ids = v1.placeholder(index_type, [30])
        train_op = train_table(OPTIMIZERS[name], dtype, ids, width)
    session = lifted_session(graph)
    for step in steps:
        session.run(train_op, {ids: step})
    with v1.Session(graph=graph) as real, graph.as_default():
        real.run(v1.global_variables_initializer())
        for step in steps:
            real.run(train_op, {ids: step})
        for variable in v1.global_variables():
            np.testing.assert_array_equal(
                session.run(variable), real.run(variable), err_msg=variable.name
            )
    types = op_types(graph, train_op)
    is_replaced = name in REPLACED and dtype == tf.float32 and width % 8 == 0
    assert ("ResourceScatterUpdate" in types) == is_replaced
    assert (REPLACED.get(name) in types) == (name in REPLACED and not is_replaced)


def test_rows_that_may_repeat_stay_with_the_kernel():
    with trace_graph(seed=1) as graph:
        table, total = (v1.get_variable(n, [4, 8], initializer=v1.ones_initializer()) for n in "ab")
        update = tf.raw_ops.ResourceSparseApplyAdagrad(
            var=table.handle, accum=total.handle, lr=0.5, grad=tf.ones([3, 8]), indices=[1, 1, 2]
        )
    session = lifted_session(graph)
    session.run(update)
    np.testing.assert_array_equal(session.run(total)[:, 0], [1, 3, 2, 1])
    assert "ResourceSparseApplyAdagrad" in op_types(graph, update)
