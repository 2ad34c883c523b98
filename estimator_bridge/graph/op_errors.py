"""Adds the line of the user's program to errors of running operations."""

from __future__ import annotations

import re

import tensorflow as tf

from estimator_bridge.graph.user_line import line_of_node

__all__ = ["with_user_line"]

_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
# TensorFlow's text for lifted functions, whose operations have no lines and no known names.
_NO_NEWS = re.compile(
    r"Graph execution error:\s+(Detected at node .*\n)+<stack traces unavailable>\n"
    r"|\{\{function_node [^}]*\}\} ?| \[Op:__inference_\w+\]"
)


def with_user_line(error: tf.errors.OpError, graph: tf.Graph) -> tf.errors.OpError:
    """Returns the error to raise instead: the same type, with the user's line.

    Args:
      error: an error of a function lifted from the graph.
      graph: the traced graph.

    Returns:
      The error itself if no line is known.
    """
    if not type(error).__module__.startswith("tensorflow"):
        return error  # this library's own error, which is complete
    for name in _NODE.findall(error.message):
        line = line_of_node(graph, name)
        if line:
            message = _NO_NEWS.sub("", error.message).rstrip()
            origin = f"Operation {name!r} was made at {line}"
            return type(error)(error.node_def, error.op, f"{message}\n{origin}")
    return error
