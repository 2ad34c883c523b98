"""Fetches that are only values of variables, and need no function.

Compiling a function takes longer than the first step of many models, and hooks fetch the global
step constantly.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import existing_global_step_read

__all__ = ["fetched_variables"]


def fetched_variables(graph: tf.Graph, refs: Sequence[str]) -> list[str] | None:
    """Returns the variables that some references read, or None if one is something else.

    Args:
      graph: the traced graph.
      refs: tensor references ('a:0') and operations ('^a').

    Returns:
      For each reference, the name of the variable's node. The reference equals the variable's
      value if the variable is initialized.
    """
    names = [_variable_read(graph, ref) for ref in refs]
    return [name for name in names if name] if all(names) else None


def _variable_read(graph: tf.Graph, ref: str) -> str | None:
    if ref.startswith("^"):
        return None
    try:
        tensor = graph.get_tensor_by_name(ref)
    except KeyError:  # a node that the engine adds to the graph
        return None
    steps = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_STEP)
    # Hooks read it through a branch: the variable's value, if it has one, plus zero.
    if tensor is existing_global_step_read(graph) and len(steps) == 1:
        return steps[0].op.name
    operation = tensor.op
    if operation.type != "ReadVariableOp" or operation.control_inputs:
        return None
    handle = operation.inputs[0].op
    return handle.name if handle.type == "VarHandleOp" and not handle.control_inputs else None
