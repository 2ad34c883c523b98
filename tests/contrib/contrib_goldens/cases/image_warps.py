"""tf.contrib.image: warps, splines and connected components."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case

image = tf.contrib.image
PICTURE = np.array([[1, 1, 0, 2, 0], [0, 1, 0, 2, 2], [3, 0, 1, 1, 2], [3, 3, 0, 1, 0]])
BLOCKS = np.stack([PICTURE, PICTURE[::-1], 0 * PICTURE])


def images(*shape, **options):
    return tf.constant(array(*shape), options.get("dtype", tf.float32), name="input")


def dense(scale=1.0, dtype=tf.float32):
    flow = tf.constant(array(2, 4, 5, 2) * scale, dtype, name="input_flow")
    return image.dense_image_warp(images(2, 4, 5, 3), flow)


def whole():
    """Offsets of whole pixels, where the interpolation has corners."""
    flow = np.round(array(1, 4, 5, 2) * 2.0)
    return image.dense_image_warp(images(1, 4, 5, 1), tf.constant(flow, tf.float32, name="input_b"))


def unknown_shape():
    free = tf.placeholder_with_default(array(2, 4, 5, 3), [None, None, None, 3])
    return image.dense_image_warp(free, tf.constant(array(2, 4, 5, 2)))


def sparse(**options):
    sources = tf.constant(array(2, 3, 2) + [[[1.0, 1.0], [2.0, 4.0], [3.0, 1.0]]], tf.float32)
    targets = tf.constant([[[0.5, 1.5], [2.5, 3.0], [2.0, 0.0]]] * 2, name="input_targets")
    return image.sparse_image_warp(images(2, 5, 6, 2), sources, targets, **options)


def spline(order, weight=0.0, dtype=tf.float32):
    points = tf.constant(array(2, 6, 2) * 3.0, dtype, name="input_points")
    values = tf.constant(array(2, 6, 3), dtype, name="input_values")
    queries = tf.constant(array(2, 4, 2), dtype, name="input_queries")
    return image.interpolate_spline(points, values, queries, order, weight)


def unknown_size():
    free = tf.placeholder_with_default(array(2, 6, 2), [None, None, None])
    return image.interpolate_spline(free, free, free, 1)


def components(values, dtype):
    return Case(lambda: image.connected_components(tf.constant(values, dtype)), has_gradients=False)


CASES = {
    "image.dense_image_warp": dense,
    "image.dense_image_warp: far": lambda: dense(20.0),
    "image.dense_image_warp: half": lambda: dense(1.0, tf.float16),
    "image.dense_image_warp: whole pixels": whole,
    "image.dense_image_warp: unknown shape": unknown_shape,
    "image.dense_image_warp: rank": lambda: image.dense_image_warp(
        images(4, 5, 1), tf.zeros([4, 5, 2])
    ),
    "image.dense_image_warp: low": lambda: image.dense_image_warp(
        images(1, 1, 5, 1), tf.zeros([1, 1, 5, 2])
    ),
    "image.sparse_image_warp": sparse,
    "image.sparse_image_warp: border": lambda: sparse(num_boundary_points=1),
    # Its gradients are those of a system whose rounding errors are large.
    "image.sparse_image_warp: edges": Case(
        lambda: sparse(num_boundary_points=3, interpolation_order=3, regularization_weight=0.1),
        has_gradients=False,
    ),
    "image.interpolate_spline: 1": lambda: spline(1, dtype=tf.float64),
    "image.interpolate_spline: 2": lambda: spline(2),
    "image.interpolate_spline: 3": lambda: spline(3, dtype=tf.float64),
    "image.interpolate_spline: 4": lambda: spline(4, dtype=tf.float64),
    "image.interpolate_spline: 6": lambda: spline(6, dtype=tf.float64),
    "image.interpolate_spline: smooth": lambda: spline(2, 0.05),
    "image.interpolate_spline: unknown size": unknown_size,
    "image.connected_components": components(PICTURE > 0, tf.bool),
    "image.connected_components: numbers": components(BLOCKS, tf.float32),
    "image.connected_components: bytes": components(PICTURE, tf.uint8),
    "image.connected_components: words": components(
        [[b"a", b"a", b""], [b"b", b"", b"a"]], tf.string
    ),
    "image.connected_components: full": components(np.ones([3, 4]), tf.int32),
    "image.connected_components: rank": components(np.ones([3, 4, 1, 1]), tf.int32),
}
