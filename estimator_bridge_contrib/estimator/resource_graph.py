"""A MetaGraphDef of TensorFlow 1 with resource variables in the place of reference variables.

A SavedModel of a TensorFlow 1 program has reference variables, which are buffers of its graph. This
library's steps use resource variables, so each operation on a reference becomes its counterpart for
resources. All nodes keep their names: a node whose output was a reference and is used as a value
is now the read of the variable after the update.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from google.protobuf import message  # type: ignore[import-untyped]

from estimator_bridge.graph.snapshot import node_name, tensor_ref
from estimator_bridge.tensorflow_private.names import VariableDef, op_def

__all__ = ["with_resource_variables"]

_VARIABLES = frozenset({"Variable", "VariableV2"})
_COUNTERPARTS = {
    "Assign": "AssignVariableOp",
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
    "IsVariableInitialized": "VarIsInitializedOp",
}
# Operations that return the reference they get. Their counterparts return a handle in that way.
_PASSING = {
    name: name.replace("Ref", "")
    for name in (
        "RefEnter",
        "RefExit",
        "RefIdentity",
        "RefMerge",
        "RefNextIteration",
        "RefSwitch",
    )
}
_READ = "/Read/ReadVariableOp"
_RESOURCE = tf.resource.as_datatype_enum


def with_resource_variables(meta_graph: Any) -> tuple[Any, set[str]]:
    """Replaces the reference variables of a graph.

    Args:
      meta_graph: a MetaGraphDef; it stays as it is.

    Returns:
      The new MetaGraphDef, and the names of the nodes that were reference variables.

    Raises:
      NotImplementedError: an operation on a reference has no counterpart, such as a queue of
        TensorFlow 1.0.
    """
    conversion = _Conversion(meta_graph)
    result = type(meta_graph)()
    result.CopyFrom(meta_graph)
    del result.graph_def.node[:]
    for node in meta_graph.graph_def.node:
        result.graph_def.node.extend(conversion.nodes_for(node))
    for collection in result.collection_def.values():
        if collection.WhichOneof("kind") != "bytes_list":
            continue
        values = collection.bytes_list.value
        values[:] = [conversion.variable(value) for value in values]
    return result, conversion.variables


class _Conversion:
    def __init__(self, meta_graph: Any):
        self._nodes = {node.name: node for node in meta_graph.graph_def.node}
        self.variables = {name for name, node in self._nodes.items() if node.op in _VARIABLES}
        self._protos = {name + ":0" for name in self.variables}
        self._values = set(self._outputs_used(meta_graph))

    def variable(self, serialized: bytes) -> bytes:
        """Returns a variable's entry of a collection; another entry stays as it is."""
        proto = _variable_def(serialized)
        if proto is None or proto.variable_name not in self._protos:
            return serialized
        proto.is_resource = True
        proto.snapshot_name = f"{node_name(proto.variable_name)}{_READ}:0"
        return proto.SerializeToString()

    def nodes_for(self, node: Any) -> Iterator[Any]:
        """Yields the nodes that replace one."""
        if node.op in _VARIABLES:
            yield from _variable_nodes(node)
            return
        definition = op_def(node.op)
        references = _references(node, definition)
        if node.op not in _PASSING and not (references or _makes_references(definition)):
            yield self._with_values(node, ())
            return
        if node.op in _PASSING:
            replacement = self._with_values(node, references, _PASSING[node.op])
            replacement.attr["T"].type = _RESOURCE
            yield replacement
            yield from self._reads_of_passed(node)
            return
        target = _COUNTERPARTS.get(node.op, f"Resource{node.op}")
        if op_def(target) is None or not references:
            raise NotImplementedError(
                f"SavedModelEstimator cannot run the operation {node.name!r}: {node.op} works on a "
                "reference and has no counterpart for resources. Export the model again with "
                "tf.enable_resource_variables() and tables and queues of tf.data or tf.lookup."
            )
        replacement = self._with_values(node, references, target)
        _keep_attributes(replacement, node, op_def(target))
        if f"{node.name}:0" in self._values and _makes_references(definition):
            replacement.name = f"{node.name}/update"
            yield replacement
            dtype = node.attr["T"].type
            yield _read(node.name, self._handle(f"{node.name}:0"), dtype, [f"^{replacement.name}"])
        else:
            yield replacement

    def _with_values(self, node: Any, references: tuple[int, ...], op: str = "") -> Any:
        """Returns a node whose inputs are handles at some positions, and values at others."""
        replacement = type(node)()
        replacement.CopyFrom(node)
        replacement.op = op or node.op
        waits = []
        for number, input_name in enumerate(node.input):
            if input_name.startswith("^"):
                continue
            if number in references:
                replacement.input[number] = self._handle(input_name)
                waits += self._updates_before(input_name)
            else:
                replacement.input[number] = self._value(input_name)
        replacement.input.extend(
            name for name in dict.fromkeys(waits) if name not in replacement.input
        )
        if replacement.op != node.op or any(a != b for a, b in zip(replacement.input, node.input)):
            replacement.attr.pop("_output_shapes", None)
        return replacement

    def _handle(self, reference: str) -> str:
        """Returns the handle that a reference became."""
        source = self._nodes[node_name(reference)]
        if source.op in _VARIABLES or source.op in _PASSING:
            return reference
        return self._handle(source.input[_references(source, op_def(source.op))[0]])

    def _updates_before(self, reference: str) -> list[str]:
        """Returns what an operation on an update's output waits for."""
        source = self._nodes[node_name(reference)]
        return [] if source.op in _VARIABLES or source.op in _PASSING else [f"^{source.name}"]

    def _value(self, tensor_name: str) -> str:
        source = self._nodes.get(node_name(tensor_name))
        if source is None:
            return tensor_name
        if source.op in _VARIABLES:
            return source.name + _READ
        output = int(tensor_ref(tensor_name).rpartition(":")[2])
        if source.op in _PASSING and output in _referenced(source):
            return f"{source.name}/value_{output}"
        return tensor_name

    def _reads_of_passed(self, node: Any) -> Iterator[Any]:
        """Yields reads of the outputs of an operation that passes a handle on."""
        for number in _referenced(node):
            handle = f"{node.name}:{number}"
            if handle in self._values:
                yield _read(f"{node.name}/value_{number}", handle, node.attr["T"].type, [])

    def _outputs_used(self, meta_graph: Any) -> Iterator[str]:
        """Yields the tensors that are used as values."""
        for node in self._nodes.values():
            references = _references(node, op_def(node.op))
            for number, input_name in enumerate(node.input):
                if not input_name.startswith("^") and number not in references:
                    yield tensor_ref(input_name)
        for collection in meta_graph.collection_def.values():
            yield from (name for name in collection.node_list.value if ":" in name)
        for signature in meta_graph.signature_def.values():
            yield from (info.name for info in signature.outputs.values())


def _references(node: Any, definition: Any) -> tuple[int, ...]:
    """Returns the positions of the inputs that are references."""
    positions: list[int] = []
    start = 0
    for argument in definition.input_arg if definition is not None else ():
        width = node.attr[argument.number_attr].i if argument.number_attr else 1
        if argument.type_list_attr:
            width = len(node.attr[argument.type_list_attr].list.type)
        if argument.is_ref:
            positions += range(start, start + width)
        start += width
    return tuple(positions)


def _makes_references(definition: Any) -> bool:
    return definition is not None and any(each.is_ref for each in definition.output_arg)


def _referenced(node: Any) -> list[int]:
    """Returns the positions of the outputs that are references."""
    return [number for number, each in enumerate(op_def(node.op).output_arg) if each.is_ref]


def _variable_nodes(node: Any) -> Iterator[Any]:
    handle = type(node)(name=node.name, op="VarHandleOp", input=node.input, device=node.device)
    for name in ("dtype", "shape", "container", "_class"):
        if name in node.attr:
            handle.attr[name].CopyFrom(node.attr[name])
    handle.attr["shared_name"].s = node.attr["shared_name"].s or node.name.encode()
    yield handle
    yield _read(node.name + _READ, node.name, node.attr["dtype"].type, [])


def _read(name: str, handle: str, dtype: int, waits: list[str]) -> Any:
    node = tf.compat.v1.NodeDef(name=name, op="ReadVariableOp", input=[handle, *waits])
    node.attr["dtype"].type = dtype
    return node


def _keep_attributes(replacement: Any, node: Any, definition: Any) -> None:
    attributes = {attribute.name for attribute in definition.attr}
    if "dtype" in attributes and "T" in node.attr:
        replacement.attr["dtype"].CopyFrom(node.attr["T"])
    for name in list(replacement.attr):
        if name not in attributes and not name.startswith("_"):
            del replacement.attr[name]


def _variable_def(serialized: bytes) -> Any:
    """Parses a VariableDef; returns None for another message."""
    proto = VariableDef()
    try:
        proto.ParseFromString(serialized)
    except message.DecodeError:
        return None
    return proto if proto.variable_name else None
