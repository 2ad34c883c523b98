"""The state of a copy of a part of a graph, and the functions that copy one element."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.graph_editor.subgraph import SubGraphView
from estimator_bridge_contrib.graph_editor.util import (
    holds,
    make_placeholder_from_tensor,
    transform_tree,
)

__all__ = [
    "Copying",
    "TransformerInfo",
    "assign_renamed_collections_handler",
    "copy_op_handler",
    "keep_t_if_possible_handler",
    "replace_t_with_placeholder_handler",
    "transform_op_if_inside_handler",
]

_v1 = tf.compat.v1


class Copying:
    """The state of a copy, which the functions of a Transformer get.

    Args:
      sgv: the view that is copied.
      dst_graph: the graph of the copy.
      dst_scope: the copy's scope.
      src_scope: the part of the names that it replaces.

    Attributes:
      sgv: the view.
      ops: its operations.
      graph: its graph.
      scope: the part of its names that is replaced.
      graph_: the graph of the copy.
      scope_: the copy's scope.
      transformed_ops: the copies of operations.
      transformed_ts: by the identity of a tensor, it and its copy.
      collections: the graph's collections.
      cycles: inputs that were not copied yet: the tensor, what was read instead, the reader.
    """

    def __init__(self, sgv: SubGraphView, dst_graph: tf.Graph, dst_scope: str, src_scope: str):
        self.sgv, self.ops, self.graph = sgv, frozenset(sgv.ops), sgv.graph
        self.scope, self.graph_, self.scope_ = src_scope, dst_graph, dst_scope
        self.transformed_ops: dict[Any, Any] = {}
        self.transformed_ts: dict[int, tuple[Any, Any]] = {}
        self.collections = {
            key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()
        }
        self.cycles: list[tuple[Any, Any, Any]] = []

    def new_name(self, name: str) -> str:
        """Returns a copy's name.

        Raises:
          ValueError: the name does not start with the scope that is replaced.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]

    def copied(self, tensor: Any) -> Any:
        """Returns the copy of a tensor; None if it has none."""
        pair = self.transformed_ts.get(id(tensor))
        return None if pair is None else pair[1]

    def close_cycles(self, replace_input: Callable[[Any, int, Any], None]) -> None:
        """Lets copies read the copies that were not there yet."""
        for tensor, instead, reader in self.cycles:
            op = self.transformed_ops[reader]
            # The reader's own place: what was read instead may be another input too.
            places = [n for n, each in enumerate(reader.inputs) if each is tensor]
            for place in places:
                if op.inputs[place] is instead:
                    replace_input(op, place, self.copied(tensor))

    def copied_view(self) -> SubGraphView:
        """Returns a view of the copy, whose ends have the order of the view's."""
        view = SubGraphView(list(self.transformed_ops.values()))
        inputs, outputs = (
            [copied for tensor in ends if (copied := self.copied(tensor)) is not None]
            for ends in (self.sgv.inputs, self.sgv.outputs)
        )
        return view.remap(
            [each for each in inputs if each in view.inputs],
            [each for each in outputs if each in view.outputs],
        )


class TransformerInfo:
    """The pairs of elements and their copies.

    Args:
      info: the state of the copy.
    """

    def __init__(self, info: Copying):
        self._info = info
        self._pairs = [
            *info.transformed_ops.items(),
            *info.transformed_ts.values(),
        ]

    def transformed(self, original: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Returns copies.

        Args:
          original: operations and tensors, in nested lists, tuples and dicts.
          missing_fn: called for an element without a copy; by default the answer is None.
        """
        return transform_tree(original, self._finder(0, missing_fn))

    def original(self, transformed: Any, missing_fn: Callable[[Any], Any] | None = None) -> Any:
        """Returns what was copied.

        Args:
          transformed: copies, in nested lists, tuples and dicts.
          missing_fn: called for an element that is no copy; by default the answer is None.
        """
        return transform_tree(transformed, self._finder(1, missing_fn))

    def _finder(self, side: int, missing_fn: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
        counterparts = {id(pair[side]): pair[1 - side] for pair in self._pairs}

        def find(element: Any) -> Any:
            if not isinstance(element, (tf.Operation, tf.Tensor)):
                raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(element)}")
            if id(element) in counterparts:
                return counterparts[id(element)]
            return None if missing_fn is None else missing_fn(element)

        return find

    def __str__(self) -> str:
        info = self._info
        lines = ["Transform result info:"]
        if info.graph is info.graph_:
            lines.append(f"  Within graph[{id(info.graph)}]{'' if info.scope_ else ' IN-PLACE'}")
        else:
            lines.append(f"  graph[{id(info.graph)}] => graph[{id(info.graph_)}]")
        if info.scope:
            lines.append(f"  Relative to source scope: {info.scope}")
        if info.scope_:
            lines.append(f"  Scope destination: {info.scope_}")
        lines.append("Operations mapping:")
        lines += [f"  {op.name} => {op_copy.name}" for op, op_copy in info.transformed_ops.items()]
        return "\n".join([*lines, ""])


def replace_t_with_placeholder_handler(info: Any, t: Any) -> tf.Tensor:
    """Makes a placeholder of a tensor's type and shape in the graph of the copy."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info: Any, t: Any) -> Any:
    """Returns the tensor itself within one graph, and otherwise a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Puts a copy into the collections of its original; those of programs are renamed."""
    keys = (getattr(_v1.GraphKeys, key) for key in dir(_v1.GraphKeys) if key.isupper())
    predefined = {key for key in keys if isinstance(key, str)}
    for name, collection in info.collections.items():
        if holds(collection, elem):
            info.graph_.add_to_collection(
                name if name in predefined else info.new_name(name), elem_
            )


def transform_op_if_inside_handler(info: Any, op: Any, keep_if_possible: bool = True) -> Any:
    """Returns an operation's copy; outside of the view, itself within one graph, or None."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(
    info: Any,
    op: Any,
    new_inputs: Any,
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Any, list[Any]]:
    """Copies an operation.

    Args:
      info: the state of the copy.
      op: the operation.
      new_inputs: what the copy reads.
      copy_shape: whether the outputs get the static shapes of the operation's.
      nodedef_fn: changes the NodeDef of the copy, and returns it.

    Returns:
      The copy, and its outputs.

    Raises:
      TypeError: new_inputs is a bool, as in an earlier signature.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    node = deepcopy(op.node_def)
    node.name = info.graph_.unique_name(info.new_name(op.name))
    if nodedef_fn is not None:
        node = nodedef_fn(node)
    attrs = {key: value for key, value in node.attr.items() if key != "_class"}
    with info.graph_.as_default(), tf.control_dependencies(None), tf.device(node.device or None):
        op_copy = info.graph_.create_op(
            node.op,
            list(new_inputs),
            [tensor.dtype for tensor in op.outputs],
            input_types=[tensor.dtype for tensor in op.inputs],
            name=f"{node.name}/",  # used as it is
            attrs=attrs,
        )
    if copy_shape:
        for tensor, copied in zip(op.outputs, op_copy.outputs):
            copied.set_shape(tensor.shape)
    return op_copy, list(op_copy.outputs)
