"""What XLA has no kernel of, by other operations, beside TensorFlow's kernels."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge.graph.compilable import find_obstacles
from estimator_bridge.graph.snapshot import tensor_ref
from estimator_bridge.graph.xla_lacks import LACKING, as_compiled

v1 = tf.compat.v1
RESIZED = "ResizeNearestNeighborGrad"


def compiled(node, graph_def, values):
    """Returns what XLA computes in the place of a node."""
    node.input[:] = [tensor_ref(ref) for ref in node.input]
    others = [n for n in graph_def.node if n.op not in (RESIZED, "Placeholder")]
    nodes = v1.GraphDef(versions=graph_def.versions, node=[*others, *as_compiled(node)])

    @tf.function(jit_compile=True)
    def run(x):
        return tf.import_graph_def(nodes, {"x:0": x}, [f"{node.name}:0"], name="")[0]

    return run(values)


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("sizes", [(8, 4, 6, 3), (7, 3, 5, 5), (3, 7, 4, 9), (1, 4, 31, 17)])
@pytest.mark.parametrize(
    ("kind", "tolerance"), [(tf.float32, 1e-6), (tf.float64, 1e-14), (tf.bfloat16, 2e-2)]
)
def test_the_gradient_of_copied_pixels_is_the_kernels(flags, sizes, kind, tolerance):
    (from_height, height, from_width, width), (aligned, half) = sizes, flags
    values = tf.cast(np.random.RandomState(0).randn(2, from_height, from_width, 3), kind)
    options = {"align_corners": aligned, "half_pixel_centers": half}
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(kind, values.shape, name="x")
        tf.raw_ops.ResizeNearestNeighborGrad(grads=x, size=[height, width], **options)
    graph_def = graph.as_graph_def()
    (node,) = (one for one in graph_def.node if one.op == RESIZED)
    result = compiled(node, graph_def, values)
    kernels = tf.raw_ops.ResizeNearestNeighborGrad(grads=values, size=[height, width], **options)
    assert result.dtype == kind
    one, other = (np.float64(tf.cast(numbers, tf.float64)) for numbers in (result, kernels))
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())


def test_other_nodes_are_as_they_were():
    node = v1.NodeDef(name="a", op="Add", input=["b:0", "c:0"])
    assert as_compiled(node) == [node]


def test_inside_a_function_it_is_still_an_obstacle():
    """Only the step's own nodes are replaced."""

    @tf.function
    def resized(x):
        return tf.raw_ops.ResizeNearestNeighborGrad(grads=x, size=[2, 2])

    with tf.Graph().as_default() as graph:
        tf.raw_ops.ResizeNearestNeighborGrad(grads=tf.ones([1, 4, 4, 1]), size=[2, 2], name="own")
        resized(tf.ones([1, 4, 4, 1]))
        (call,) = (op.name for op in graph.get_operations() if "PartitionedCall" in op.type)
    for exempt, count in (((), 2), (LACKING, 1)):
        obstacles = find_obstacles(graph, ["own", call], for_tpu=False, exempt_ops=exempt)
        assert [one.op for one in obstacles] == [RESIZED] * count
    assert call in obstacles[-1].name
