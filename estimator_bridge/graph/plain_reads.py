"""Fetches that are values of variables and nothing more: they need no function.

To compile one takes longer than many a model's first step, and hooks ask for the global step all
the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.tensorflow_private import existing_global_step_read

__all__ = ["variables_read"]


def variables_read(graph: tf.Graph, refs: Sequence[str]) -> list[str] | None:
    """The variables whose values, if they have one, some references are.

    Args:
      graph: the traced graph.
      refs: tensor references ('a:0') and operations ('^a').

    Returns:
      By reference, the name of the variable's node; None where one is something else.
    """
    names = [_variable_read(graph, ref) for ref in refs]
    return [name for name in names if name] if all(names) else None


def _variable_read(graph: tf.Graph, ref: str) -> str | None:
    if ref.startswith("^"):
        return None
    try:
        tensor = graph.get_tensor_by_name(ref)
    except KeyError:  # of what the engine adds to the graph
        return None
    steps = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_STEP)
    # Hooks read it by a branch that takes the variable's value, if it has one, plus zero.
    if tensor is existing_global_step_read(graph) and len(steps) == 1:
        return steps[0].op.name
    read = tensor.op
    if read.type != "ReadVariableOp" or read.control_inputs:
        return None
    handle = read.inputs[0].op
    return handle.name if handle.type == "VarHandleOp" and not handle.control_inputs else None
