"""Makes NodeDefs that are added to a traced graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["NodeMaker", "set_attribute"]


class NodeMaker:
    """Collects new nodes, and the functions that they call.

    Attributes:
      nodes: the nodes.
      functions: the FunctionDefs by name.
    """

    def __init__(self) -> None:
        self.nodes: list[tf.compat.v1.NodeDef] = []
        self.functions: dict[str, Any] = {}

    def add(self, name: str, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Adds a node.

        Args:
          name: its name; a node of the graph with this name is replaced.
          op: its type.
          inputs: references.
          **attributes: see ``set_attribute``.

        Returns:
          The reference of its first output.
        """
        node = tf.compat.v1.NodeDef(name=name, op=op, input=inputs)
        for key, value in attributes.items():
            set_attribute(node, key, value)
        self.nodes.append(node)
        return name + ":0"

    def constant(self, name: str, value: Any, kind: tf.DType = tf.int64) -> str:
        """Adds a constant, and returns its reference."""
        proto = tf.make_tensor_proto(np.asarray(value), kind)
        return self.add(name, "Const", [], dtype=kind, value=proto)

    def copy(self, node: tf.compat.v1.NodeDef, name: str, first: str, **attributes: Any) -> str:
        """Adds a copy of a node.

        Args:
          node: the node.
          name: the name of the copy.
          first: replaces the first input.
          **attributes: replaced attributes.

        Returns:
          The reference of its first output.
        """
        self.add(name, node.op, [first, *node.input[1:]])
        node_copy = self.nodes[-1]
        for key, value in node.attr.items():
            node_copy.attr[key].CopyFrom(value)
        for key, value in attributes.items():
            set_attribute(node_copy, key, value)
        return name + ":0"


def set_attribute(node: tf.compat.v1.NodeDef, key: str, value: Any) -> None:
    """Sets an attribute of a node.

    Args:
      node: the node.
      key: the name of the attribute.
      value: a bool, an int, a type, a TensorProto, the name of a function (str), or a list of
        types or of shapes, which may be empty.
    """
    attribute = node.attr[key]
    attribute.Clear()
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    elif isinstance(value, str):
        attribute.func.name = value
    elif isinstance(value, tf.DType):
        attribute.type = value.as_datatype_enum
    elif isinstance(value, list) and not value:
        attribute.list.SetInParent()
    elif isinstance(value, list) and isinstance(value[0], tf.DType):
        attribute.list.type.extend(kind.as_datatype_enum for kind in value)
    elif isinstance(value, list):
        attribute.list.shape.extend(shape.as_proto() for shape in value)
    else:
        attribute.tensor.CopyFrom(value)
