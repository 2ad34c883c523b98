"""Operations that XLA has no kernel of, by operations that it compiles.

``ResizeNearestNeighborGrad`` is the gradient of ``tf.image.resize_nearest_neighbor`` and of Keras'
``UpSampling2D``. Each pixel of the larger picture was copied from one of the smaller, so the
gradient of that is a sum. It is computed along one axis after the other. The rows are divided as
TensorFlow's kernel does, in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

import tensorflow as tf

from estimator_bridge.graph.draw_nodes import Kind, nodes_of

__all__ = ["LACKING", "as_compiled"]


def as_compiled(node: tf.compat.v1.NodeDef) -> Sequence[tf.compat.v1.NodeDef]:
    """Returns the nodes that replace a node for XLA; the last has its name.

    Args:
      node: any node, whose inputs are references.

    Returns:
      The node alone if its type is not one of ``LACKING``.
    """
    make = _MAKERS.get(node.op)
    return make(node) if make else [node]


def _resize_gradient(node: tf.compat.v1.NodeDef) -> Sequence[tf.compat.v1.NodeDef]:
    aligned, half = node.attr["align_corners"].b, node.attr["half_pixel_centers"].b
    kind = tf.as_dtype(node.attr["T"].type)

    def gradient(gradients: tf.Tensor, sizes: tf.Tensor) -> tf.Tensor:
        sums = tf.cast(gradients, tf.float32) if kind.size < tf.float32.size else gradients
        for axis in (1, 2):
            size, first = sizes[axis - 1], _swapped(axis)
            rows = _sources(tf.shape(sums)[axis], size, aligned, half)
            by_row = tf.math.unsorted_segment_sum(tf.transpose(sums, first), rows, size)
            sums = tf.transpose(by_row, first)
        return tf.cast(sums, kind)

    inputs = [ref for ref in node.input if not ref.startswith("^")]
    kinds: list[Kind] = [(kind, [None] * 4), (tf.int32, [2])]
    nodes, _ = nodes_of(node, gradient, kinds, node.name, inputs)
    return nodes


def _swapped(axis: int) -> list[int]:
    """Returns the axes of a picture with one in the first place."""
    axes = [0, 1, 2, 3]
    axes[0], axes[axis] = axis, 0
    return axes


def _sources(count: tf.Tensor, size: tf.Tensor, aligned: bool, half: bool) -> tf.Tensor:
    """Returns from which row of a picture each row of the resized one was copied.

    Args:
      count: the number of rows of the resized picture.
      size: the number of rows of the picture.
      aligned: whether the centers of the corners are at the same places.
      half: whether a pixel's place is its center.
    """
    rows = tf.cast(tf.range(count), tf.float32)
    numerator, denominator = tf.cast(size, tf.float32), tf.cast(count, tf.float32)
    if aligned:
        is_one = tf.equal(count, 1)
        numerator = tf.where(is_one, numerator, numerator - 1.0)
        denominator = tf.where(is_one, denominator, denominator - 1.0)
    places = (rows + 0.5 if half else rows) * (numerator / denominator)
    # Halves are rounded away from zero, as roundf does.
    whole = tf.floor(places + 0.5 if aligned else places)
    return tf.minimum(tf.cast(whole, tf.int32), size - 1)


_MAKERS: dict[str, Callable[[tf.compat.v1.NodeDef], Sequence[tf.compat.v1.NodeDef]]] = {
    "ResizeNearestNeighborGrad": _resize_gradient,
}
LACKING: Set[str] = _MAKERS.keys()
