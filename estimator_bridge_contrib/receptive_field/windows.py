"""The window that an operation of a convolutional network moves over each axis of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = ["Window", "windows_of"]

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_POOLS = ("AvgPool", "MaxPool", "MaxPoolV2")
# Operations whose output at a place depends on the input at that place.
_POINTWISE = """
    Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm FusedBatchNormV2
    FusedBatchNormV3 GreaterEqual Identity LRN Log Mul Pow RealDiv Relu Relu6 Round Rsqrt SelectV2
    Softplus Sub VariableV2
"""
_DEPENDS_ON_SIZE = (
    "Padding depends on input size, which means that the effective padding may be different "
    "depending on the input image dimensionality. In this case, alignment check will be skipped. "
    "If you know the input resolution, please set it."
)


class Window(NamedTuple):
    """A window on one axis.

    Attributes:
      size: its length.
      stride: the distance between two of its places.
      padding: the number of elements that are added at the start of the axis; None if it depends on
        the image's size, which is not known.
      total_padding: the number that is added at both ends, or None.
    """

    size: int
    stride: int
    padding: int | None
    total_padding: int | None

    def places(self, length: int | None) -> int | None:
        """Returns the number of its places on an axis; None if it depends on what is not known."""
        if length is None or self.total_padding is None:
            return None
        return -((self.size - 1 - length - self.total_padding) // self.stride)


_POINT = Window(1, 1, 0, 0)


def windows_of(
    node: Any, nodes: Mapping[str, Any], resolution: Sequence[int | None] | None = None
) -> tuple[Window, Window] | None:
    """Returns the windows of an operation, the horizontal one first.

    Args:
      node: the operation's NodeDef.
      nodes: all NodeDefs by name.
      resolution: the height and width of the operation's input; None if they are not known.

    Returns:
      The windows, or None if the type of operation is unknown.

    Raises:
      ValueError: the operation's sizes cannot be read.
    """
    height, width = resolution or (None, None)
    if node.op in _POINTWISE.split():
        return _POINT, _POINT
    if node.op == "Pad":
        rows, columns = _paddings(node, nodes)
        return _padded(*columns), _padded(*rows)
    if node.op not in (*_CONVOLUTIONS, *_POOLS):
        return None
    size = _kernel_size if node.op in _CONVOLUTIONS else _pool_size
    size_y, size_x = size(node, nodes)
    stride_y, stride_x = _strides(node, nodes)
    return _moved(node, size_x, stride_x, width), _moved(node, size_y, stride_y, height)


def _padded(before: int, after: int) -> Window:
    return Window(1, 1, before, before + after)


def _moved(node: Any, size: int, stride: int, length: int | None) -> Window:
    """Returns the window of a convolution or pool, with TensorFlow's padding."""
    mode = node.attr["padding"].s
    if mode == b"VALID":
        return Window(size, stride, 0, 0)
    if mode != b"SAME":
        raise ValueError(f"Invalid padding operation {mode}")
    if length is not None:
        total = max(size - (length % stride or stride), 0)
        return Window(size, stride, total // 2, total)
    if size == 1:
        return Window(size, stride, 0, 0)
    if stride == 1:
        return Window(size, stride, (size - 1) // 2, size - 1)
    if stride == 2 and size % 2 == 0:  # the total is even or odd, and half of it the same
        return Window(size, stride, (size - 1) // 2, None)
    logging.warning(_DEPENDS_ON_SIZE)
    return Window(size, stride, None, None)


def _strides(node: Any, nodes: Mapping[str, Any]) -> tuple[int, int]:
    if node.op == "MaxPoolV2":
        strides = _argument(node, 2, "/strides", "Strides name", nodes)
    else:
        strides = node.attr["strides"].list.i
    return int(strides[1]), int(strides[2])


def _kernel_size(node: Any, nodes: Mapping[str, Any]) -> tuple[int, int]:
    name = node.input[1]
    if name.endswith("/read"):
        name = name[: -len("/read")]
    elif name in nodes and nodes[name].op == "ReadVariableOp":
        name = nodes[name].input[0]
    else:
        raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
    weights = nodes[name]
    if weights.op in ("VariableV2", "VarHandleOp"):
        sizes = weights.attr["shape"].shape.dim
    elif weights.op == "Const":
        sizes = weights.attr["value"].tensor.tensor_shape.dim
    else:
        raise ValueError(f"Weight layer {name} is not of type VariableV2 or Const: {weights.op}")
    if len(sizes) != 4:
        raise ValueError(f"Weight layer {name} does not have rank 4. Instead, it has: {len(sizes)}")
    return sizes[0].size, sizes[1].size


def _pool_size(node: Any, nodes: Mapping[str, Any]) -> tuple[int, int]:
    if node.op == "MaxPoolV2":
        sizes = _argument(node, 1, "/ksize", "Kernel size name", nodes)
    else:
        sizes = node.attr["ksize"].list.i
    for axis, place in ((0, "first"), (3, "last")):
        if sizes[axis] != 1:
            raise ValueError(f"pool ksize for {place} dim is not 1")
    return int(sizes[1]), int(sizes[2])


def _paddings(node: Any, nodes: Mapping[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    pairs = _argument(node, 1, "/paddings", "Padding layer name", nodes, "Padding op is not Const")
    for axis, place in ((0, "first"), (3, "last")):
        if pairs[axis].any():
            raise ValueError(f"padding is not zero for {place} tensor dim")
    (top, bottom), (left, right) = pairs[1].tolist(), pairs[2].tolist()
    return (top, bottom), (left, right)


def _argument(
    node: Any,
    index: int,
    end: str,
    subject: str,
    nodes: Mapping[str, Any],
    not_constant: str | None = None,
) -> Any:
    """Returns an operation's constant argument as an array; its name must have a given end."""
    name = node.input[index]
    if not name.endswith(end):
        raise ValueError(f"{subject} does not end with '{end}'")
    if not_constant and nodes[name].op != "Const":
        raise ValueError(not_constant)
    return tf.make_ndarray(nodes[name].attr["value"].tensor)
