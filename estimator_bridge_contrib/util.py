"""tf.contrib.util: constants of a graph, and protocol buffers of tensors."""

from __future__ import annotations

from typing import Any

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["util"].opened()


def ops_used_by_graph_def(graph_def: Any) -> set[str]:
    """Returns the types of operations of a graph, and of the functions that it calls."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    waiting, types, seen = [graph_def.node], set(), set()
    while waiting:
        for node in waiting.pop():
            called = [node.op, *(value.func.name for value in node.attr.values())]
            for name in called:
                if name in functions and name not in seen:
                    seen.add(name)
                    waiting.append(functions[name].node_def)
            if node.op not in functions:
                types.add(node.op)
    return types
