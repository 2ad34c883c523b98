"""Inlines function calls in which replicas exchange values.

A CrossReplicaSum cuts the graph into stages, and a function's body cannot be cut. So a call of a
tf.function that contains a sum is replaced by the body's nodes, named below the call. The call
itself becomes the IdentityN of the results, so that references to it stay valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.function_library import functions_where
from estimator_bridge.graph.op_kinds import MEETINGS
from estimator_bridge.tensorflow_private.names import op_def

__all__ = ["inline_call", "inline_sums"]

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def inline_sums(graph_def: tf.compat.v1.GraphDef) -> Iterator[tf.compat.v1.NodeDef]:
    """Yields the nodes of a graph in order, with calls of functions that contain a sum inlined."""
    hiding = functions_where(graph_def.library, lambda node: node.op in MEETINGS)
    functions = {f.signature.name: f for f in graph_def.library.function}
    for node in graph_def.node:
        yield from _expand(node, functions, hiding)


def inline_call(call: tf.compat.v1.NodeDef, library: Any) -> list[tf.compat.v1.NodeDef]:
    """Returns the nodes that replace a call of a function of a library."""
    functions = {f.signature.name: f for f in library.function}
    return list(_expand(call, functions, {call.attr["f"].func.name}))


def _expand(
    node: tf.compat.v1.NodeDef, functions: Mapping[str, Any], hiding: Set[str]
) -> Iterator[tf.compat.v1.NodeDef]:
    function_name = node.attr["f"].func.name if node.op in _CALLS else node.op
    if function_name not in hiding:
        yield node
        return
    function = functions[function_name]
    controls = [ref for ref in node.input if ref.startswith("^")]
    arguments = (ref for ref in node.input if not ref.startswith("^"))
    argument_refs = dict(zip((arg.name for arg in function.signature.input_arg), arguments))
    bodies = {inner.name: inner for inner in function.node_def}

    def outer(ref: str) -> str:
        """Translates a reference of the body ('arg', 'node:output:1', '^node') to the graph."""
        if ref.startswith("^"):
            return f"^{node.name}/{ref[1:]}"
        if ref in argument_refs:
            return argument_refs[ref]
        name, output, index = ref.split(":")
        position = _position(bodies[name], output, functions) + int(index)
        return f"{node.name}/{name}:{position}"

    for inner in function.node_def:
        copy = tf.compat.v1.NodeDef()
        copy.CopyFrom(inner)
        copy.name = f"{node.name}/{inner.name}"
        copy.input[:] = [*map(outer, inner.input), *controls]
        yield from _expand(copy, functions, hiding)

    results = function.signature.output_arg
    call = tf.compat.v1.NodeDef(name=node.name, op="IdentityN" if results else "NoOp")
    call.input.extend(outer(function.ret[result.name]) for result in results)
    call.input.extend(outer(f"^{name}") for name in function.control_ret.values())
    call.input.extend(controls)
    if results:
        call.attr["T"].list.type.extend(result.type for result in results)
    yield call


def _position(node: tf.compat.v1.NodeDef, output: str, functions: Mapping[str, Any]) -> int:
    """Returns the number of flat outputs of a node before its output of this name."""
    signature = functions[node.op].signature if node.op in functions else op_def(node.op)
    before = 0
    for arg in signature.output_arg:
        if arg.name == output:
            break
        if arg.number_attr:
            before += node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            before += len(node.attr[arg.type_list_attr].list.type)
        else:
            before += 1
    return before
