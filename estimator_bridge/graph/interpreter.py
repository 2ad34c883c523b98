"""Runs nodes one by one, eagerly.

To compile a function takes ten times as long as to run the few nodes of an initialization or of a
saver, which most programs run a few times.
"""

from __future__ import annotations

import collections
import functools
import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.snapshot import node_name, tensor_ref
from estimator_bridge.tensorflow_private.names import op_def

__all__ = ["RUNS_ALONE", "Interpreter"]

# Operations that compute the same bits alone as in a function, where TensorFlow may join products
# and sums, or multiply by a reciprocal. Their attributes have the types of `_value`.
RUNS_ALONE = frozenset([
    "AddV2", "AssignVariableOp", "BitwiseXor", "Cast", "ConcatV2", "Const", "DivNoNan", "Equal",
    "Fill", "GatherV2", "Greater", "Identity", "IdentityN", "LogicalAnd", "LogicalNot",
    "LookupTableExportV2", "LookupTableImportV2", "Maximum", "MergeV2Checkpoints", "Mul", "NoOp",
    "Pack", "PlaceholderWithDefault", "Prod", "Range", "ReadVariableOp", "Reshape", "RestoreV2",
    "SaveV2", "Select", "SelectV2", "Shape", "ShardedFilename", "StatelessRandomGetKeyCounter",
    "StatelessRandomNormalV2", "StatelessRandomUniformIntV2", "StatelessRandomUniformV2",
    "StatelessTruncatedNormalV2", "StaticRegexFullMatch", "StridedSlice", "StringJoin", "Sub",
    "VarIsInitializedOp", "Where", "ZerosLike",
])  # fmt: skip
# Of a constant, by type, where its values are unless they are bytes.
_FIELDS = {
    tf.bool: "bool_val", tf.float32: "float_val", tf.float64: "double_val", tf.int32: "int_val",
    tf.int64: "int64_val", tf.string: "string_val",
}  # fmt: skip
# Of inputs, where the operation has others.
_NAMES_IN_PYTHON = {
    "Prod": ["input", "axis"], "Select": ["condition", "x", "y"], "Where": ["condition"],
}  # fmt: skip


class Interpreter:
    """The nodes of a GraphDef, each as a call.

    Args:
      nodes: the nodes, all of ``RUNS_ALONE``. They run in this order, but each after its inputs.
      outputs: references that a run returns.
    """

    def __init__(self, nodes: Iterable[tf.compat.v1.NodeDef], outputs: Sequence[str]):
        self._outputs = [ref if ref.startswith("^") else tensor_ref(ref) for ref in outputs]
        # By node: the call, the references of its inputs, and those that no later node needs.
        self._steps: list[tuple[str, Callable[..., Any], list[str], list[str]]] = []
        steps = [(n.name, *_call_of(n)) for n in _in_order(list(nodes)) if n.op != "NoOp"]
        last = {ref: i for i, (_, _, refs) in enumerate(steps) for ref in refs}
        unused_after = collections.defaultdict(list)
        for ref, i in last.items():
            if ref not in self._outputs:
                unused_after[i].append(ref)
        for i, (name, call, refs) in enumerate(steps):
            self._steps.append((name, call, refs, unused_after[i]))

    def __call__(self, values: Mapping[str, tf.Tensor]) -> list[Any]:
        """Runs the nodes.

        Args:
          values: eager tensors that the nodes take from outside, by reference.

        Returns:
          The outputs: eager tensors, and None for '^a'.

        Raises:
          OpError: of an operation; the message names the node as TensorFlow's do.
        """
        values = dict(values)
        for name, call, refs, unused in self._steps:
            try:
                results = call([values[ref] for ref in refs])
            except tf.errors.OpError as error:
                text = error.message.rsplit(" [Op:", 1)[0]
                message = f"{text}\n\t [[{{{{node {name}}}}}]]"
                raise type(error)(error.node_def, error.op, message) from None
            for i, result in enumerate(results):
                values[f"{name}:{i}"] = result
            for ref in unused:  # frees the memory of large values
                del values[ref]
        return [None if ref.startswith("^") else values[ref] for ref in self._outputs]


def _in_order(nodes: Sequence[tf.compat.v1.NodeDef]) -> list[tf.compat.v1.NodeDef]:
    """Returns the nodes in the order in which TensorFlow would import them."""
    positions = {node.name: i for i, node in enumerate(nodes)}
    waits_for = [{node_name(ref) for ref in n.input} & positions.keys() for n in nodes]
    users = collections.defaultdict(list)
    for i, inputs in enumerate(waits_for):
        for name in inputs:
            users[name].append(i)
    ready, ordered = [i for i, inputs in enumerate(waits_for) if not inputs], []
    while ready:
        node = nodes[heapq.heappop(ready)]
        ordered.append(node)
        for user in users[node.name]:
            waits_for[user].remove(node.name)
            if not waits_for[user]:
                heapq.heappush(ready, user)
    return ordered


def _call_of(
    node: tf.compat.v1.NodeDef,
) -> tuple[Callable[[list[tf.Tensor]], list[tf.Tensor]], list[str]]:
    """Returns what runs a node with the values of references, and these references."""
    refs = [tensor_ref(ref) for ref in node.input if not ref.startswith("^")]
    if node.op == "Const":
        constant = _constant(node.attr["value"].tensor)
        return lambda _: [constant], refs
    function, (arguments, names, options) = getattr(tf.raw_ops, node.op), _signature(node.op)
    sizes = [_size(node, argument) for argument in arguments]
    attributes = {name: _value(node.attr[name]) for name in options if name in node.attr}

    def call(inputs: list[tf.Tensor]) -> list[tf.Tensor]:
        passed_on = _PASSED_ON.get(node.op, _none)(inputs)
        if passed_on is not None:
            return [passed_on]
        values, start = {}, 0
        for name, size in zip(names, sizes):
            if size is None:
                values[name], start = inputs[start], start + 1
            else:
                values[name], start = inputs[start : start + size], start + size
        result = function(**values, **attributes)
        return [] if result is None else tf.nest.flatten(result)

    return call, refs


def _none(inputs: Sequence[tf.Tensor]) -> None:
    del inputs


def _same(inputs: Sequence[tf.Tensor]) -> tf.Tensor | None:
    (value,) = inputs
    return value if _is_on_host(value) else None


def _selected(inputs: Sequence[tf.Tensor]) -> tf.Tensor | None:
    condition, value, other = inputs
    if condition.shape.rank or value.shape != other.shape:
        return None
    return _same([value if condition.numpy() else other])


def _is_on_host(value: tf.Tensor) -> bool:
    return value.dtype != tf.resource and value.device.endswith("/device:CPU:0")


# What these return is an input of theirs, which is on the host as they would be. For each type
# TensorFlow would prepare an operation, which takes a millisecond or two.
_PASSED_ON: dict[str, Callable[[Sequence[tf.Tensor]], tf.Tensor | None]] = {
    "Identity": _same,
    "Select": _selected,
}


def _constant(proto: Any) -> tf.Tensor:
    """Returns a constant of the same bits; ``tf.make_ndarray`` takes ten times as long.

    Most are numbers and names of an initialization or a saver. For each type TensorFlow would
    prepare the operation that parses it, which takes a millisecond or two.
    """
    dtype = tf.as_dtype(proto.dtype)
    array = _array(proto, dtype)
    if array is None:
        return tf.io.parse_tensor(proto.SerializeToString(), dtype)
    return tf.constant(array, dtype)


def _array(proto: Any, dtype: tf.DType) -> np.ndarray | None:
    """Returns the values of a constant; None of a rare type, or where NumPy may change a bit."""
    sizes = [dim.size for dim in proto.tensor_shape.dim]
    field = _FIELDS.get(dtype)
    if field is None:
        return None
    if proto.tensor_content:
        array = np.frombuffer(proto.tensor_content, dtype.as_numpy_dtype)
    else:
        array = np.array(list(getattr(proto, field)), dtype.as_numpy_dtype)
    if array.size == 1:  # which stands for all elements
        array = np.broadcast_to(array, math.prod(sizes))
    is_whole = array.size == math.prod(sizes)
    has_nan = array.dtype.kind == "f" and bool(np.isnan(array).any())
    return array.reshape(sizes) if is_whole and not has_nan else None


@functools.cache
def _signature(op: str) -> tuple[list[Any], list[str], list[str]]:
    """Returns a type's inputs, their names in Python, and its attributes' names."""
    definition = op_def(op)
    arguments = list(definition.input_arg)
    names = _NAMES_IN_PYTHON.get(op) or [argument.name for argument in arguments]
    inferred = {
        name
        for argument in arguments
        for name in (argument.type_attr, argument.number_attr, argument.type_list_attr)
    }
    options = [a.name for a in definition.attr if a.name not in inferred]
    return arguments, names, options


def _size(node: tf.compat.v1.NodeDef, argument: Any) -> int | None:
    """Returns the length of a list of inputs; None for a single input."""
    if argument.number_attr:
        return node.attr[argument.number_attr].i
    if argument.type_list_attr:
        return len(node.attr[argument.type_list_attr].list.type)
    return None


def _value(attribute: Any) -> Any:
    """Returns an attribute as raw_ops take it: a type, shape, list of types, number or text."""
    kind = attribute.WhichOneof("value")
    if kind == "type":
        return tf.as_dtype(attribute.type)
    if kind == "shape":
        return tf.TensorShape(attribute.shape)
    if kind == "list":
        return [*map(tf.as_dtype, attribute.list.type)] or list(attribute.list.i)
    return attribute.s.decode() if kind == "s" else getattr(attribute, kind)
