"""Rewrites one-shot iterators, whose dataset is a function of the graph's library.

Their kernel keeps the iterator to itself and has no shared name for it. So each becomes an ordinary
iterator that is initialized with the dataset that the function makes.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.inline import inline_call
from estimator_bridge.graph.snapshot import Snapshot

__all__ = ["as_initialized", "dataset_call", "dataset_nodes"]

_CONSTANT = ("Const", "PyFuncStateless")  # arrays outside of the graph are of the second type
_DATASET = re.compile(r"\w+Dataset(V\d+)?")


def dataset_call(iterator: Any) -> Any:
    """Returns the node that makes a one-shot iterator's dataset.

    Args:
      iterator: a NodeDef of type OneShotIterator.
    """
    call = tf.compat.v1.NodeDef(name="dataset_of_" + iterator.name, op="PartitionedCall")
    call.attr["f"].func.CopyFrom(iterator.attr["dataset_factory"].func)
    call.attr["Tin"].list.SetInParent()
    call.attr["Tout"].list.type.append(tf.variant.as_datatype_enum)
    return call


def dataset_nodes(iterator: Any, snapshot: Snapshot, graph: tf.Graph) -> list[Any]:
    """Returns the nodes that make a one-shot iterator's dataset; the last one returns it.

    Args:
      iterator: a NodeDef of type OneShotIterator.
      snapshot: the snapshot of its graph.
      graph: the graph.
    """
    call = dataset_call(iterator)
    (function,) = (
        f for f in snapshot.library.function if f.signature.name == call.attr["f"].func.name
    )
    if not all(_is_plain(node) for node in function.node_def):
        return [call]
    # TensorFlow has copied the graph's large arrays into the function.
    return [
        _outer(node, node.name[len(call.name) + 1 :], snapshot, graph)
        for node in inline_call(call, snapshot.library)
    ]


def _is_plain(node: Any) -> bool:
    """Returns whether a node does the same in the graph as in a function: it draws no numbers."""
    return node.op in _CONSTANT or bool(_DATASET.fullmatch(node.op))


def _outer(node: Any, name: str, snapshot: Snapshot, graph: tf.Graph) -> Any:
    """Returns the graph's own array instead of a node that has a copy of it."""
    array = snapshot.constants.get(name + ":0")
    if array is None or node.op not in _CONSTANT or not _is_copy(node, name, array, graph):
        return node
    identity = tf.compat.v1.NodeDef(name=node.name, op="Identity", input=[name + ":0"])
    identity.attr["T"].type = array.dtype.as_datatype_enum
    return identity


def _is_copy(node: Any, name: str, array: tf.Tensor, graph: tf.Graph) -> bool:
    operation = graph.get_operation_by_name(name)
    if node.op != operation.type:
        return False
    if node.op != "Const":
        return node.attr["token"].s == operation.get_attr("token")
    value = tf.make_ndarray(node.attr["value"].tensor)
    return value.dtype == array.dtype and np.array_equal(value, array.numpy())


def as_initialized(iterator: Any) -> list[Any]:
    """Returns an iterator of the same name, its dataset, and its initializer."""
    plain = tf.compat.v1.NodeDef(name=iterator.name, op="IteratorV2")
    for attribute in ("container", "output_shapes", "output_types", "shared_name"):
        plain.attr[attribute].CopyFrom(iterator.attr[attribute])
    call = dataset_call(iterator)
    make = tf.compat.v1.NodeDef(name="initializer_of_" + iterator.name, op="MakeIterator")
    make.input[:] = [call.name, plain.name]
    return [plain, call, make]
