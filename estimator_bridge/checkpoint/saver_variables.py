"""Finds the variables that a saver restores, from its graph: this works for any saver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

__all__ = ["restored_variables"]


def restored_variables(graph: tf.Graph, saver_def: Any) -> dict[str, tuple[Any, tf.DType]]:
    """Describes the contents that a checkpoint needs for a saver to restore it.

    Args:
      graph: the graph of the saver.
      saver_def: the saver's SaverDef.

    Returns:
      (shape, dtype) by the name in the checkpoint. The slices of a partitioned variable count as
      one, with the full shape. A shape is unknown if the graph does not show it.
    """
    variables = {}
    if saver_def is not None and saver_def.restore_op_name:
        for operation in _restore_operations(graph, saver_def.restore_op_name):
            names, slices = (_strings(tensor) for tensor in operation.inputs[1:3])
            for name, part, output in zip(names, slices, operation.outputs):
                variables[name] = (_full_shape(part, output), output.dtype.base_dtype)
    return variables


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


def _strings(tensor: tf.Tensor) -> list[str]:
    values = tf.get_static_value(tensor)
    return [] if values is None else [tf.compat.as_str(value) for value in values]


def _full_shape(part: str, output: tf.Tensor) -> tf.TensorShape:
    """Returns the shape of the variable behind a RestoreV2's output."""
    if part:  # "6 2 0,3:0,2": the full shape, then the slice's rows and columns
        return tf.TensorShape([int(size) for size in part.split()[:-1]])
    for consumer in output.consumers():
        if consumer.type == "Identity":
            return _full_shape(part, consumer.outputs[0])
        if consumer.type == "AssignVariableOp" and consumer.inputs[0].op.type == "VarHandleOp":
            return tf.TensorShape(consumer.inputs[0].op.get_attr("shape"))
        if consumer.type == "Assign":
            return consumer.inputs[0].shape
    return tf.TensorShape(None)
