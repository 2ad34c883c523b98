"""Large constants of a graph, taken out of its GraphDef and kept as eager tensors.

An ``input_fn`` that slices an array puts the array into the graph. Each GraphDef, each function
that is made of a part of it, and each pass of the optimizer over such a function would copy it
again: for 25 MB that took longer than the evaluation. So snapshots hold such a node without its
value, and who imports it supplies the value, which one buffer holds for all.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private import eager_mode, host_address

__all__ = ["take_large_constants", "with_value"]

_LARGE = 1 << 18  # bytes; below, a captured tensor is no better than a constant

_taken: weakref.WeakKeyDictionary[tf.Graph, dict[str, tf.Tensor]] = weakref.WeakKeyDictionary()


def take_large_constants(
    graph: tf.Graph, graph_def: tf.compat.v1.GraphDef
) -> tuple[tf.compat.v1.GraphDef, dict[str, tf.Tensor]]:
    """A GraphDef without the values of its large constants, and these by reference ('a:0').

    Args:
      graph: whose values are kept, so that the next GraphDef of it finds them.
      graph_def: of the graph; it is changed.
    """
    known = _taken.setdefault(graph, {})
    found = {}
    for node in graph_def.node:
        if node.op == "Const" and _may_be_large(node.attr["value"].tensor):
            ref, proto = node.name + ":0", node.attr["value"].tensor
            if ref not in known:
                content = proto.tensor_content  # a copy, each time
                if len(content) <= _LARGE:
                    continue
                known[ref] = _value(proto, content)
            found[ref] = known[ref]
            # Without a value the node cannot be imported, so that nobody forgets to supply it.
            node.attr["value"].ClearField("tensor")
    if not found:
        return graph_def, found
    small = tf.compat.v1.GraphDef()
    small.CopyFrom(graph_def)  # a message frees what was cleared with the message itself
    return small, found


def with_value(node: tf.compat.v1.NodeDef, value: tf.Tensor) -> tf.compat.v1.NodeDef:
    """A copy of a constant's node that has its value again."""
    copy = tf.compat.v1.NodeDef()
    copy.CopyFrom(node)
    copy.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value.numpy(), value.dtype))
    return copy


def _may_be_large(proto: Any) -> bool:
    """Whether a constant has so many elements; the message's own size takes a serialization."""
    dtype = tf.as_dtype(proto.dtype)
    elements = math.prod(size.size for size in proto.tensor_shape.dim)
    return bool(dtype.size) and elements * dtype.size > _LARGE


def _value(proto: Any, content: bytes) -> tf.Tensor:
    dtype = tf.as_dtype(proto.dtype)
    shape = [size.size for size in proto.tensor_shape.dim]
    array = np.frombuffer(content, dtype.as_numpy_dtype)
    # A constant that repeats one value to its end has fewer of them.
    if array.size < np.prod(shape, dtype=np.int64):
        array = tf.make_ndarray(proto)
    with eager_mode(), tf.device(host_address() + "/device:CPU:0"):
        return tf.constant(array.reshape(shape), dtype)
