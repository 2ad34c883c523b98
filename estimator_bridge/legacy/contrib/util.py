"""tf.contrib.util: constants of a graph, and protocol buffers of tensors."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["constant_value", "make_ndarray", "make_tensor_proto", "ops_used_by_graph_def"]

constant_value = tf.get_static_value
make_ndarray = tf.make_ndarray
make_tensor_proto = tf.make_tensor_proto


def ops_used_by_graph_def(graph_def: Any) -> set[str]:
    """The types of operations of a graph, and of the functions that it calls."""
    functions = {f.signature.name: f for f in graph_def.library.function}
    waiting, found, seen = [graph_def.node], set(), set()
    while waiting:
        for node in waiting.pop():
            called = [node.op, *(value.func.name for value in node.attr.values())]
            for name in called:
                if name in functions and name not in seen:
                    seen.add(name)
                    waiting.append(functions[name].node_def)
            if node.op not in functions:
                found.add(node.op)
    return found


__getattr__ = missing_getattr(
    __name__,
    {
        "stripped_op_list_for_graph": "is not there. Use ops_used_by_graph_def for the types, or "
        "tf.compat.v1.train.export_meta_graph for their definitions.",
    },
    "tf.contrib.util",
)
