"""Errors of a running operation, told with the line of the program that made it."""

from __future__ import annotations

import re

import tensorflow as tf

from estimator_bridge.graph.user_line import line_of_node

__all__ = ["with_user_line"]

_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
# What TensorFlow says of lifted functions, whose operations have no lines and no known names.
_NO_NEWS = re.compile(
    r"Graph execution error:\s+(Detected at node .*\n)+<stack traces unavailable>\n"
    r"|\{\{function_node [^}]*\}\} ?| \[Op:__inference_\w+\]"
)


def with_user_line(error: tf.errors.OpError, graph: tf.Graph) -> tf.errors.OpError:
    """The error to raise instead: of the same type, and with that line.

    Args:
      error: of a function that was lifted from the graph.
      graph: the traced graph.

    Returns:
      The error itself where no line is known.
    """
    if not type(error).__module__.startswith("tensorflow"):
        return error  # this library's own, which says what it has to
    for name in _NODE.findall(error.message):
        line = line_of_node(graph, name)
        if line:
            message = _NO_NEWS.sub("", error.message).rstrip()
            made = f"Operation {name!r} was made at {line}"
            return type(error)(error.node_def, error.op, f"{message}\n{made}")
    return error
