"""Writes a saver's graph files at the start of training, faster, from one GraphDef.

TensorFlow's hook makes the GraphDef five times, and writes graph.pbtxt by protobuf's text format,
which is in Python and dominates the time. But only a few hundred of a graph's tens of thousands of
attributes differ, so each text is made once. An array's bytes are escaped by NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import text_format  # type: ignore[import-untyped]

from estimator_bridge.own_files import replace_text

__all__ = ["GraphSaverHook", "graph_defs_kept", "graph_text"]

_CheckpointSaverHook: Any = tf.compat.v1.train.CheckpointSaverHook
_KEPT_NODES = 2_000  # of a graph whose GraphDef stays in memory between two checkpoints: 2 MB
_MANY_BYTES = 1_000  # of an array, to make up for a copy of its attribute
_PLAIN = re.compile(r"[\w .:/^@\-<>=,()\[\]]*", re.ASCII)  # text without escapes


class GraphSaverHook(_CheckpointSaverHook):
    """TensorFlow's CheckpointSaverHook, which writes the graph files as described above."""

    _save_graph_def: Any  # of the base class
    _wrote_graph = False

    def begin(self) -> None:
        """Opens the event file, to which the graph is also written."""
        self._graph_defs: dict[int, tf.compat.v1.GraphDef] = {}
        with self._with_graph_defs(tf.compat.v1.get_default_graph()):
            super().begin()

    def after_create_session(self, session: Any, coord: tf.train.Coordinator) -> None:
        """Writes the graph and the first checkpoint."""
        graph = tf.compat.v1.get_default_graph()
        with self._with_graph_defs(graph):
            if self._save_graph_def:
                path = os.path.join(self._checkpoint_dir, "graph.pbtxt")
                replace_text(path, graph_text(graph.as_graph_def(add_shapes=True)))
                # The base class must not write it too; `_save` resets this.
                self._save_graph_def = False
                self._wrote_graph = True
            super().after_create_session(session, coord)

    def _save(self, session: Any, step: int) -> Any:
        if self._wrote_graph:  # each checkpoint has a .meta
            self._save_graph_def = True
        with self._with_graph_defs(session.graph):
            return super()._save(session, step)

    @contextlib.contextmanager
    def _with_graph_defs(self, graph: tf.Graph) -> Iterator[None]:
        """As ``graph_defs_kept``; that of a small graph is kept for the next context too."""
        with graph_defs_kept(graph, self._graph_defs):
            yield
        if any(len(graph_def.node) > _KEPT_NODES for graph_def in self._graph_defs.values()):
            self._graph_defs.clear()


@contextlib.contextmanager
def graph_defs_kept(
    graph: tf.Graph, graph_defs: dict[int, tf.compat.v1.GraphDef] | None = None
) -> Iterator[None]:
    """Within this context, a GraphDef with shapes is made once per version of the graph.

    Args:
      graph: the graph.
      graph_defs: the GraphDef by the graph's version, of an earlier context and for a later one.
    """
    if not inspect.ismethod(graph.as_graph_def):  # within another such context
        yield
        return
    make = graph.as_graph_def
    graph_defs = {} if graph_defs is None else graph_defs

    def as_graph_def(*args: Any, **kwargs: Any) -> Any:
        # Released TensorFlow ignores use_pybind11_proto.
        if args or kwargs.keys() - {"use_pybind11_proto"} != {"add_shapes"}:
            return make(*args, **kwargs)
        if not kwargs["add_shapes"]:
            return make(**kwargs)
        version = graph.version
        if version not in graph_defs:
            graph_defs.clear()
            graph_defs[version] = make(add_shapes=True)
        copy = tf.compat.v1.GraphDef()
        copy.CopyFrom(graph_defs[version])
        return copy

    graph.as_graph_def = as_graph_def
    try:
        yield
    finally:
        del graph.as_graph_def


def graph_text(graph_def: tf.compat.v1.GraphDef) -> str:
    """Returns a GraphDef as text, identical to that of google.protobuf.text_format."""
    values: dict[bytes, str] = {}
    parts = [_node_text(node, values) for node in graph_def.node]
    rest = tf.compat.v1.GraphDef()
    for field, value in graph_def.ListFields():
        if field.name == "version":
            rest.version = value
        elif field.name != "node":
            getattr(rest, field.name).CopyFrom(value)
    return "".join([*parts, text_format.MessageToString(rest)])


def _node_text(node: tf.compat.v1.NodeDef, values: dict[bytes, str]) -> str:
    lines = [f'  name: "{node.name}"\n', f'  op: "{node.op}"\n']
    lines += [f'  input: "{ref}"\n' for ref in node.input]
    if node.device:
        lines.append(f'  device: "{node.device}"\n')
    texts = [node.name, node.op, node.device, *node.input, *node.attr]
    others = node.HasField("experimental_debug_info") or node.HasField("experimental_type")
    if others or not node.name or not node.op or not _PLAIN.fullmatch("".join(texts)):
        return f"node {{\n{text_format.MessageToString(node, indent=2)}}}\n"
    for key in sorted(node.attr):
        value = node.attr[key]
        serialized = value.SerializeToString()
        text = values.get(serialized)
        if text is None:
            text = values[serialized] = _value_text(value)
        lines.append(f'  attr {{\n    key: "{key}"\n    value {{\n{text}    }}\n  }}\n')
    return f"node {{\n{''.join(lines)}}}\n"


def _value_text(value: Any) -> str:
    """Returns an attribute as text, indented by six."""
    content = value.tensor.tensor_content if value.WhichOneof("value") == "tensor" else b""
    if len(content) < _MANY_BYTES:
        return text_format.MessageToString(value, indent=6)
    short = tf.compat.v1.AttrValue()
    short.CopyFrom(value)
    short.tensor.tensor_content = b"@"
    start, _, end = text_format.MessageToString(short, indent=6).partition("@")
    return f"{start}{_escaped(content)}{end}"


def _escaped(content: bytes) -> str:
    """Returns bytes as protobuf's text format shows them."""
    return _escapes()[np.frombuffer(content, np.uint8)].tobytes().translate(None, b"\0").decode()


@functools.cache
def _escapes() -> np.ndarray:
    """Returns the text of each byte as four bytes, of which zeros are to be left out."""
    value = tf.compat.v1.AttrValue()
    texts = []
    for number in range(256):
        value.s = bytes([number])
        texts.append(text_format.MessageToString(value).partition('"')[2].rpartition('"')[0])
    return np.array([text.encode() for text in texts], "S4").view(np.uint32)
