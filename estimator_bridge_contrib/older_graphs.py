"""Graphs of today in a form that TensorFlow 1.15 reads too."""

from __future__ import annotations

from itertools import chain
from typing import Any

__all__ = ["leave_out_later_parts"]

# By operation: attributes that came after 1.15 and do not change what it computes.
_LATER = {
    "AssignVariableOp": ("validate_shape",),
    "BatchMatMulV2": ("grad_x", "grad_y"),
    "MatMul": ("grad_a", "grad_b"),
    "VarHandleOp": ("allowed_devices", "debug_name"),
}
# An operation that came after 1.15. It returns nothing: a saver's read of a variable waits for it.
_HINT = "DisableCopyOnRead"


def leave_out_later_parts(graph_def: Any) -> None:
    """Removes, in place, what TensorFlow 1.15 refuses and no result depends on.

    Variables have had their name as a further attribute since TensorFlow 2.12, products are marked
    as parts of gradients, and savers tell variables to make no copy.

    Args:
      graph_def: a GraphDef.
    """
    functions = (function.node_def for function in graph_def.library.function)
    for node in chain(graph_def.node, *functions):
        for name in _LATER.get(node.op, ()):
            node.attr.pop(name, None)
    hints = {f"^{node.name}" for node in graph_def.node if node.op == _HINT}
    if not hints:
        return
    nodes = [node for node in graph_def.node if node.op != _HINT]
    for node in nodes:
        inputs = [each for each in node.input if each not in hints]
        if len(inputs) < len(node.input):
            node.input[:] = inputs
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph_def.node[:]
    graph_def.node.extend(copies)
