"""Copies a part of a graph, with other inputs or into another graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.graphs import loop_ends, replace_input
from estimator_bridge_contrib.graph_editor.copied_part import (
    Copying,
    TransformerInfo,
    assign_renamed_collections_handler,
    copy_op_handler,
    keep_t_if_possible_handler,
    replace_t_with_placeholder_handler,
    transform_op_if_inside_handler,
)
from estimator_bridge_contrib.graph_editor.reroute import add_control_inputs
from estimator_bridge_contrib.graph_editor.subgraph import SubGraphView, make_view
from estimator_bridge_contrib.graph_editor.util import (
    ControlOutputs,
    flatten_tree,
    get_unique_graph,
    make_placeholder_from_tensor,
    scope_finalize,
)
from estimator_bridge_contrib.graph_editor.walks import get_walks_intersection_ops

__all__ = [
    "Transformer",
    "TransformerInfo",
    "assign_renamed_collections_handler",
    "copy",
    "copy_op_handler",
    "copy_with_input_replacements",
    "graph_replace",
    "keep_t_if_possible_handler",
    "replace_t_with_placeholder_handler",
    "transform_op_if_inside_handler",
]


class Transformer:
    """Copies operations; its attributes are the functions that make each copy.

    Attributes:
      transform_op_handler: copies an operation; see ``copy_op_handler``.
      transform_control_input_handler: what the copy of an operation waits for.
      assign_collections_handler: puts a copy into collections.
      transform_external_input_handler: what a copy reads instead of an input of the view.
      transform_external_hidden_input_handler: the same, for inputs that are mapped away.
      transform_original_op_handler: is kept for programs that set it; operations no longer have
        originals.
    """

    def __init__(self) -> None:
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = transform_op_if_inside_handler
        self.assign_collections_handler: Callable[..., Any] = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable[..., Any] = (
            replace_t_with_placeholder_handler
        )
        self.transform_external_hidden_input_handler: Callable[..., Any] = (
            keep_t_if_possible_handler
        )
        self.transform_original_op_handler: Callable[..., Any] = transform_op_if_inside_handler

    def __call__(
        self,
        sgv: Any,
        dst_graph: tf.Graph,
        dst_scope: str,
        src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Copies a view.

        Args:
          sgv: the view, or what ``make_view`` accepts.
          dst_graph: the graph of the copy.
          dst_scope: the copy's scope.
          src_scope: the part of the names that dst_scope replaces.
          reuse_dst_scope: whether an existing scope is used; otherwise a number follows it.

        Returns:
          The copy's view, and which element is the copy of which.

        Raises:
          TypeError: dst_graph is no graph.
          ValueError: a name does not start with src_scope.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        scope = scope_finalize(dst_scope)
        if scope and not reuse_dst_scope:
            scope = scope_finalize(dst_graph.unique_name(scope[:-1]))
        info = Copying(view, dst_graph, scope, scope_finalize(src_scope))
        self._copy_ops(info)
        info.close_cycles(replace_input)
        for op in view.ops:
            awaited = [
                self.transform_control_input_handler(info, each) for each in op.control_inputs
            ]
            add_control_inputs(
                info.transformed_ops[op], [each for each in awaited if each is not None]
            )
        return info.copied_view(), TransformerInfo(info)

    def _copy_ops(self, info: Copying) -> None:
        inside = set(info.sgv.ops)
        for op in [each for each in info.graph.get_operations() if each in inside]:
            inputs = [self._copied_input(info, tensor, op) for tensor in op.inputs]
            op_copy, outputs = self.transform_op_handler(info, op, inputs)
            if op_copy is op:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = op_copy
            self.assign_collections_handler(info, op, op_copy)
            for tensor, copied in zip(op.outputs, outputs):
                info.transformed_ts[id(tensor)] = (tensor, copied)
                self.assign_collections_handler(info, tensor, copied)

    def _copied_input(self, info: Copying, tensor: Any, reader: Any) -> Any:
        pair = info.transformed_ts.get(id(tensor))
        if pair is not None:
            return pair[1]
        if tensor in info.sgv.inputs:
            return self.transform_external_input_handler(info, tensor)
        if tensor.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, tensor)
        # The operation reads one that is made later: a loop, which is closed at the end.
        if reader.type == "Merge":
            instead = self._copied_input(info, reader.inputs[0], reader)
        elif tensor.op.type == "Enter":
            instead = self._copied_input(info, tensor.op.inputs[0], reader)
        else:
            with info.graph_.as_default():
                instead = make_placeholder_from_tensor(tensor, info.scope_, "geph_tmp")
        info.cycles.append((tensor, instead, reader))
        return instead


def copy(
    sgv: Any,
    dst_graph: tf.Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a view; placeholders take the place of its inputs.

    Args:
      sgv: the view, or what ``make_view`` accepts.
      dst_graph: the graph of the copy; by default its own.
      dst_scope: the copy's scope.
      src_scope: the part of the names that dst_scope replaces.
      reuse_dst_scope: whether an existing scope is used; otherwise a number follows it.

    Returns:
      The copy's view, and which element is the copy of which.

    Raises:
      TypeError: dst_graph is no graph.
    """
    view = make_view(sgv)
    graph = view.graph if dst_graph is None else dst_graph
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Mapping[Any, Any],
    dst_graph: tf.Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a view with other inputs.

    Args:
      sgv: the view, or what ``make_view`` accepts.
      replacement_ts: by input, what the copy reads instead. With v2 behavior, where a tensor is
        no key, its ``ref()`` is.
      dst_graph: the graph of the copy; by default its own.
      dst_scope: the copy's scope.
      src_scope: the part of the names that dst_scope replaces.
      reuse_dst_scope: whether an existing scope is used; otherwise a number follows it.

    Returns:
      The copy's view, and which element is the copy of which.

    Raises:
      TypeError: dst_graph is no graph.
    """
    view = make_view(sgv)
    instead = {id(_dereferenced(key)): value for key, value in replacement_ts.items()}

    def replaced(info: Any, tensor: Any) -> Any:
        if id(tensor) in instead:
            return instead[id(tensor)]
        return keep_t_if_possible_handler(info, tensor)

    copier = Transformer()
    copier.transform_external_input_handler = replaced
    graph = view.graph if dst_graph is None else dst_graph
    return copier(view, graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Any,
    replacement_ts: Mapping[Any, Any],
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Returns tensors as they would be if others were replaced.

    What is between them is copied; the targets themselves do not change.

    Args:
      target_ts: tensors, in nested lists, tuples and dicts.
      replacement_ts: by tensor, what takes its place. With v2 behavior, where a tensor is no key,
        its ``ref()`` is.
      dst_scope: the copies' scope.
      src_scope: the part of the names that dst_scope replaces.
      reuse_dst_scope: whether an existing scope is used; otherwise a number follows it.

    Returns:
      The tensors, in the same form.

    Raises:
      ValueError: no target depends on a tensor that is replaced.
    """
    targets = flatten_tree(target_ts)
    controls = ControlOutputs(get_unique_graph(targets, check_types=tf.Tensor))
    replaced = [_dereferenced(each) for each in replacement_ts]
    ops = get_walks_intersection_ops(replaced, targets, control_ios=controls)
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    for enters, exits in loop_ends(ops):
        loop = get_walks_intersection_ops(enters, exits, control_ios=controls)
        ops += [op for op in loop if op not in ops]
    _, info = copy_with_input_replacements(
        ops, replacement_ts, None, dst_scope, src_scope, reuse_dst_scope
    )
    return info.transformed(target_ts, lambda tensor: tensor)


def _dereferenced(key: Any) -> Any:
    return key if isinstance(key, tf.Tensor) else key.deref()
