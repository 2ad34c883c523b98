"""Finds the variables that a saver restores, from its graph: this works for any saver."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import restored_contents

__all__ = ["restored_variables"]

# By graph: its version, and the result by the name of a saver's operation. A kept program restores
# in each of its calls.
_variables_by_graph: weakref.WeakKeyDictionary[
    tf.Graph, tuple[int, dict[str, dict[str, tuple[Any, tf.DType]]]]
] = weakref.WeakKeyDictionary()


def restored_variables(graph: tf.Graph, saver_def: Any) -> dict[str, tuple[Any, tf.DType]]:
    """Describes the contents that a checkpoint needs for a saver to restore it.

    Args:
      graph: the graph of the saver.
      saver_def: the saver's SaverDef.

    Returns:
      (shape, dtype) by the name in the checkpoint. The slices of a partitioned variable count as
      one, with the full shape. A shape is unknown if the graph does not show it.
    """
    if saver_def is None or not saver_def.restore_op_name:
        return {}
    version, by_operation = _variables_by_graph.get(graph, (None, {}))
    if version != graph.version:  # the graph has grown
        by_operation = {}
        _variables_by_graph[graph] = graph.version, by_operation
    name = saver_def.restore_op_name
    if name not in by_operation:
        by_operation[name] = {
            key: (shape, dtype)
            for operation in _restore_operations(graph, name)
            for key, _, shape, dtype in restored_contents(operation)
        }
    return by_operation[name]


def _restore_operations(graph: tf.Graph, name: str) -> Iterator[tf.Operation]:
    visited_names, worklist = set(), [graph.as_graph_element(name, allow_tensor=False)]
    while worklist:
        operation = worklist.pop()
        if operation.name in visited_names:
            continue
        visited_names.add(operation.name)
        if operation.type == "RestoreV2":
            yield operation
        else:
            worklist += [*operation.control_inputs, *(tensor.op for tensor in operation.inputs)]
