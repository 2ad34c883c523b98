"""Rewrites a function of one example to a function of a batch that gives the same bits."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from estimator_bridge.graph.batch_rules import RULES, FunctionNodes, NotBatchableError, Single
from estimator_bridge.graph.row_pipelines import row_bytes
from estimator_bridge.tensorflow_private.names import function_def_to_graph

__all__ = ["BATCHED", "batched_function"]

BATCHED = "estimator_bridge_batched_"  # the start of the names of the functions
_LARGE = 1 << 16  # bytes; many such values leave the processor's caches
_PURE = frozenset({"Const", "NoOp", "Placeholder"})
_SIZE = "examples"

_Shapes: TypeAlias = "tuple[tuple[int | None, ...] | None, ...]"


def batched_function(
    function: Any,
    components: Sequence[tf.TensorShape],
    captured: Sequence[tf.TensorShape],
    results: Sequence[tf.TensorShape],
) -> Any:
    """Returns the FunctionDef of a batch; None if an operation has no form that is known.

    Args:
      function: the FunctionDef of one example: its components, then what was captured.
      components: the shapes of the components of one example.
      captured: the shapes of what was captured, which are the same in the new function.
      results: the shapes of the results for one example.
    """
    content = type(function)()
    content.CopyFrom(function)
    content.signature.name = ""  # TensorFlow numbers the functions of a process
    shapes = map(_key, (components, captured, results))
    return _batched(content.SerializeToString(deterministic=True), *shapes)


def _key(shapes: Sequence[tf.TensorShape]) -> _Shapes:
    return tuple(None if s.rank is None else tuple(s.as_list()) for s in shapes)


@functools.lru_cache(64)
def _batched(content: bytes, components: _Shapes, captured: _Shapes, results: _Shapes) -> Any:
    function = tf.compat.v1.GraphDef().library.function.add()
    function.ParseFromString(content)
    node_types = {*RULES, *_PURE}
    if not components or any(node.op not in node_types for node in function.node_def):
        return None
    key = repr((content, components, captured, results)).encode()
    function.signature.name = BATCHED + hashlib.sha256(key).hexdigest()[:16]
    graph = function_def_to_graph(
        function, input_shapes=[*map(tf.TensorShape, (*components, *captured))]
    )
    try:
        return _rewritten(function, graph, len(components), results)
    except NotBatchableError:
        return None


def _rewritten(function: Any, graph: tf.Graph, components: int, results: _Shapes) -> Any:
    arguments = [argument.name for argument in function.signature.input_arg]
    batched = set(arguments[:components])
    body = FunctionNodes(_SIZE + ":output:0")
    _add_size(body, function.signature.input_arg[0])
    nodes = {node.name: node for node in function.node_def}
    for operation in graph.get_operations():  # inputs first
        if operation.name not in nodes or operation.type == "NoOp":
            continue
        node = tf.compat.v1.NodeDef()
        node.CopyFrom(nodes[operation.name])
        node.input[:] = [ref for ref in node.input if not ref.startswith("^")]
        is_batched = [_owner(ref) in batched for ref in node.input]
        if any(is_batched):
            sizes = [row_bytes(t.shape, t.dtype) for t in operation.outputs]
            # A complex product or sum is several of floats, in an order of its own.
            if max(sizes) > _LARGE or any(t.dtype.is_complex for t in operation.outputs):
                raise NotBatchableError
            RULES[node.op](Single(operation, node, is_batched, body))
            batched.add(node.name)
        node.attr.pop("_output_shapes", None)
        body.nodes.append(node)
    return _assembled(function, results, body, batched)


def _assembled(function: Any, results: _Shapes, body: FunctionNodes, batched: set[str]) -> Any:
    """Returns the FunctionDef of these nodes, with a value for each example in each result."""
    result = type(function)()
    result.signature.CopyFrom(function.signature)
    del result.signature.control_output[:]
    for argument, shape in zip(function.signature.output_arg, results):
        ref = function.ret[argument.name]
        sizes = [size for size in shape or () if size is not None]
        if shape is None or len(sizes) < len(shape):
            raise NotBatchableError
        if _owner(ref) not in batched:
            kind = tf.as_dtype(argument.type)
            ref = body.repeated(argument.name + "/of_batch", ref, kind, sizes)
        result.ret[argument.name] = ref
    result.node_def.extend(body.nodes)
    return result


def _add_size(body: FunctionNodes, first: Any) -> None:
    """Adds the number of examples, by the first component."""
    shape = body.add(
        _SIZE + "/shape", "Shape", [first.name], T=tf.as_dtype(first.type), out_type=tf.int64
    )
    ends = [body.constant(f"{_SIZE}/{name}", [i]) for i, name in ((0, "begin"), (1, "end"))]
    step = body.constant(_SIZE + "/step", [1])
    inputs = [shape, *ends, step]
    body.add(_SIZE, "StridedSlice", inputs, T=tf.int64, Index=tf.int64)


def _owner(ref: str) -> str:
    """Returns the node or argument of a reference in a function's body."""
    return ref.split(":", maxsplit=1)[0]
