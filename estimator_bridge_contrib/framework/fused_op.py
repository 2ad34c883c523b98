"""The replacement of a part of a GraphDef by one operation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["fuse_op"]


def fuse_op(
    graph_def: Any,
    input_nodes: Sequence[str],
    output_nodes: Sequence[str],
    output_dtypes: Sequence[int],
    output_quantized: bool,
    op_name: str,
    op_type: str,
) -> Any:
    """Replaces the nodes between inputs and outputs by one operation.

    Args:
      graph_def: the GraphDef.
      input_nodes: names of the nodes that the operation reads.
      output_nodes: names of the nodes that read the operation; each has one input, which becomes
        the operation's output of its position.
      output_dtypes: enum values of the operation's output types.
      output_quantized: the value of the attribute "_output_quantized".
      op_name: the operation's name.
      op_type: the operation's type.

    Returns:
      A new GraphDef.

    Raises:
      TypeError: graph_def is no GraphDef, names are one string, or a node in between reads another
        node than the inputs.
      AssertionError: a named node is not in the graph, or an output node has not one input.
    """
    if not isinstance(graph_def, tf.compat.v1.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    for what, names in (("input_nodes", input_nodes), ("output_nodes", output_nodes)):
        if isinstance(names, str):
            raise TypeError(f"{what} must be a list: [{names!r}].")
    nodes = {node.name: node for node in graph_def.node}
    for name in [*input_nodes, *output_nodes]:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    before, until = _needed(nodes, input_nodes), _needed(nodes, output_nodes)
    between = until - before - set(output_nodes)
    for name in sorted(between):
        for input_name in _inputs(nodes[name]):
            if input_name in before and input_name not in input_nodes:
                raise TypeError(f"Node {name} uses input {input_name} not in input_nodes.")
    result = tf.compat.v1.GraphDef()
    result.node.extend(node for node in graph_def.node if node.name in before)
    fused = result.node.add(name=op_name, op=op_type, input=input_nodes)
    fused.attr["_output_types"].list.type[:] = output_dtypes
    fused.attr["_output_quantized"].b = output_quantized
    for position, name in enumerate(output_nodes):
        if len(nodes[name].input) != 1:
            raise AssertionError(f"{name} has {len(nodes[name].input)} inputs; an output has one.")
        node = result.node.add()
        node.CopyFrom(nodes[name])
        node.input[:] = [f"{op_name}:{position}" if position else op_name]
    result.node.extend(node for node in graph_def.node if node.name not in before | until)
    result.library.CopyFrom(graph_def.library)
    result.versions.CopyFrom(graph_def.versions)
    return result


def _inputs(node: Any) -> list[str]:
    return [name.lstrip("^").partition(":")[0] for name in node.input]


def _needed(nodes: dict[str, Any], names: Iterable[str]) -> set[str]:
    """Returns the names of these nodes, and of all that they are computed from."""
    ancestors: set[str] = set()
    open_ = list(names)
    while open_:
        name = open_.pop()
        if name not in ancestors:
            ancestors.add(name)
            open_ += _inputs(nodes[name])
    return ancestors
