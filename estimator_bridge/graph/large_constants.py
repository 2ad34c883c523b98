"""Moves large constants out of a graph's GraphDef into eager tensors.

An ``input_fn`` that slices an array puts the array into the graph. Each GraphDef, each function
made from a part of it, and each optimizer pass over such a function would copy the array again:
for 25 MB that took longer than the evaluation. So snapshots hold such nodes without their values,
and the importer supplies each value from one shared buffer.

``arrays_outside`` does not let an array into the graph: before a snapshot, a constant is copied ten
times. The graph's operation returns the value from the shared buffer, so it can still run anywhere.
"""

from __future__ import annotations

import contextlib
import math
import weakref
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.eager import host_address
from estimator_bridge.tensorflow_private.graphs import constants_made_otherwise
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["arrays_outside", "free_arrays", "free_rows", "take_large_constants", "with_value"]

_OUTSIDE = "PyFuncStateless"  # the type of the operation that returns an array
_LARGE = 1 << 18  # bytes; below this, a captured tensor has no advantage over a constant

_ALIGNMENT = 64  # bytes; kernels may expect this of a tensor's memory

_arrays_by_graph: weakref.WeakKeyDictionary[tf.Graph, dict[str, tf.Tensor]] = (
    weakref.WeakKeyDictionary()
)


@contextlib.contextmanager
def arrays_outside(graph: tf.Graph) -> Iterator[None]:
    """Within this context, a large array that becomes a constant of the graph is copied once.

    The operation has another type than a constant's, so this suits graphs that no file will hold.

    Args:
      graph: the graph; graphs of functions in it keep their constants.
    """
    arrays = _arrays_by_graph.setdefault(graph, {})

    def make(value: Any, name: str | None) -> tf.Tensor | None:
        if tf.compat.v1.get_default_graph() is not graph or not _is_large_array(value):
            return None
        with eager_mode(), tf.device(host_address() + "/device:CPU:0"):
            array = _copied_once(value)

        def read() -> np.ndarray:
            return arrays[tensor.name].numpy()

        tensor = tf.numpy_function(read, [], array.dtype, stateful=False, name=name or "Const")
        tensor.set_shape(array.shape)
        arrays[tensor.name] = array
        return tensor

    with constants_made_otherwise(make):
        yield


def free_arrays(graph: tf.Graph) -> None:
    """Frees the values of a graph that is not used again; the graph itself may be freed late."""
    _arrays_by_graph.pop(graph, {}).clear()


def free_rows(graph: tf.Graph, captured_refs: Collection[str]) -> list[str]:
    """Frees the arrays outside of a graph that only its datasets read, once these are not used.

    Args:
      graph: the graph; the rest of it is used again.
      captured_refs: references of arrays that functions have captured, which are kept.

    Returns:
      The references of the freed arrays.
    """
    arrays = _arrays_by_graph.get(graph, {})
    freed_refs = [ref for ref in arrays if ref not in captured_refs and _feeds_datasets(graph, ref)]
    for ref in freed_refs:
        del arrays[ref]
    return freed_refs


def _feeds_datasets(graph: tf.Graph, ref: str) -> bool:
    """Returns whether a tensor is an array outside of the graph that only datasets use."""
    tensor = graph.get_tensor_by_name(ref)
    readers = tensor.consumers()
    return tensor.op.type == _OUTSIDE and all("Dataset" in reader.type for reader in readers)


def take_large_constants(
    graph: tf.Graph, graph_def: tf.compat.v1.GraphDef
) -> tuple[tf.compat.v1.GraphDef, dict[str, tf.Tensor]]:
    """Returns a GraphDef without its large constants' values, and the values by reference ('a:0').

    Args:
      graph: the graph; its values are cached for its next GraphDef.
      graph_def: the graph's GraphDef; it is changed.
    """
    arrays = _arrays_by_graph.setdefault(graph, {})
    values = {}
    for node in graph_def.node:
        if node.op == _OUTSIDE and node.name + ":0" in arrays:
            values[node.name + ":0"] = arrays[node.name + ":0"]
            node.op = "Const"
            dtype = node.attr["Tout"].list.type[0]
            node.attr.clear()
            node.attr["dtype"].type = dtype
        elif node.op == "Const" and _may_be_large(node.attr["value"].tensor):
            ref, proto = node.name + ":0", node.attr["value"].tensor
            if ref not in arrays:
                content = proto.tensor_content  # copies on each access
                if len(content) <= _LARGE:
                    continue
                arrays[ref] = _value(proto, content)
            values[ref] = arrays[ref]
            # The import fails for a node without a value, so a missing value cannot go unnoticed.
            node.attr["value"].ClearField("tensor")
    if not values:
        return graph_def, values
    small = tf.compat.v1.GraphDef()
    small.CopyFrom(graph_def)  # cleared memory is only freed together with the message
    return small, values


def with_value(node: tf.compat.v1.NodeDef, value: tf.Tensor) -> tf.compat.v1.NodeDef:
    """Returns a copy of a constant's node with its value restored."""
    copy = tf.compat.v1.NodeDef()
    copy.CopyFrom(node)
    copy.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value.numpy(), value.dtype))
    return copy


def _copied_once(value: np.ndarray) -> tf.Tensor:
    """Returns a copy of an array as an eager tensor; ``tf.constant`` copies most types twice."""
    if value.dtype.kind not in "iuf" or not value.dtype.isnative:
        return tf.constant(value)
    buffer = np.empty(value.nbytes + _ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % _ALIGNMENT
    copy = buffer[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    copy[...] = value
    return tf.experimental.dlpack.from_dlpack(copy.__dlpack__())


def _is_large_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "biufc" and value.nbytes > _LARGE


def _may_be_large(proto: Any) -> bool:
    """Estimates a constant's size by its shape; ByteSize() would serialize the message."""
    dtype = tf.as_dtype(proto.dtype)
    elements = math.prod(size.size for size in proto.tensor_shape.dim)
    return bool(dtype.size) and elements * dtype.size > _LARGE


def _value(proto: Any, content: bytes) -> tf.Tensor:
    dtype = tf.as_dtype(proto.dtype)
    shape = [size.size for size in proto.tensor_shape.dim]
    array = np.frombuffer(content, dtype.as_numpy_dtype)
    # A constant may omit trailing repetitions of its last value.
    if array.size < np.prod(shape, dtype=np.int64):
        array = tf.make_ndarray(proto)
    with eager_mode(), tf.device(host_address() + "/device:CPU:0"):
        return tf.constant(array.reshape(shape), dtype)
