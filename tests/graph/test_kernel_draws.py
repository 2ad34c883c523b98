"""Random numbers by ordinary operations, beside TensorFlow's CPU kernels and compiled by XLA."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.graph.kernel_draws import draw_nodes, has_kernel_draws
from estimator_bridge.graph.op_kinds import DRAWS

KEY, COUNTER = np.array([(7 << 32) + 9], np.uint64), np.array([2**40 + 3, 2**63 + 5], np.uint64)


def of_nodes(op, dtype, shape):
    node = tf.compat.v1.NodeDef(name="draw", op=op)
    node.attr["T"].type = tf.int32.as_datatype_enum
    graph_def = tf.compat.v1.GraphDef()
    graph_def.node.extend(draw_nodes(node, dtype, "draw", ["shape", "key", "counter"]))
    for name, value in (("shape", np.int32(shape)), ("key", KEY), ("counter", COUNTER)):
        constant = graph_def.node.add(name=name, op="Const")
        constant.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))

    @tf.function(jit_compile=True, autograph=False)
    def compiled():
        return tf.graph_util.import_graph_def(graph_def, return_elements=["draw:0"])[0]

    return compiled().numpy()


@pytest.mark.parametrize("shape", [[], [3], [2, 5, 7], [10_001], [0, 4]])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
@pytest.mark.parametrize("op", ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"])
def test_the_numbers_are_those_of_the_kernel(op, dtype, shape):
    kernel = getattr(tf.raw_ops, DRAWS[op])
    expected = kernel(shape=shape, key=KEY, counter=COUNTER, alg=1, dtype=dtype).numpy()
    numbers = of_nodes(op, dtype, shape)
    assert has_kernel_draws(op, dtype)
    assert numbers.shape == tuple(shape)
    assert numbers.dtype == expected.dtype
    rounding = {tf.float64: 1e-14, tf.float32: 2e-6, tf.float16: 2e-3, tf.bfloat16: 2e-2}[dtype]
    if op == "RandomUniform":
        rounding = 0
    np.testing.assert_allclose(
        numbers.astype(np.float64), expected.astype(np.float64), rtol=rounding, atol=rounding
    )


def test_other_draws_have_no_such_nodes():
    assert not has_kernel_draws("RandomUniformInt", tf.int32)
    assert not has_kernel_draws("Multinomial", tf.float32)
