"""Checks the files that fill a graph's lookup tables, before TensorFlow opens them.

Its kernel opens whatever has the name, and a pipe would make it wait without a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe

__all__ = ["TABLE_FILE_OPS", "check_table_files"]

TABLE_FILE_OPS = frozenset(["InitializeTableFromTextFile", "InitializeTableFromTextFileV2"])
_FILENAME = 1  # the input that names the file


def check_table_files(nodes: Iterable[tf.compat.v1.NodeDef], values: Mapping[str, Any]) -> None:
    """Checks that no table is filled from a pipe or a device.

    Args:
      nodes: the nodes that are about to run. A name that they compute is not checked.
      values: tensors by reference that come from elsewhere.

    Raises:
      OSError: a file is one; the error names it.
    """
    nodes = list(nodes)
    readers = [node for node in nodes if node.op in TABLE_FILE_OPS]
    if not readers:
        return
    nodes_by_name = {node.name: node for node in nodes}
    for reader in readers:
        path = _value(reader.input[_FILENAME], nodes_by_name, values)
        if path is not None:
            check_is_no_pipe(path)


def _value(
    ref: str, nodes_by_name: Mapping[str, tf.compat.v1.NodeDef], values: Mapping[str, Any]
) -> str | None:
    node = nodes_by_name.get(ref.partition(":")[0])
    while node is not None and node.op == "Identity":
        ref = node.input[0]
        node = nodes_by_name.get(ref.partition(":")[0])
    if node is not None and node.op == "Const":
        content: Any = tf.make_ndarray(node.attr["value"].tensor)
    else:
        tensor = values.get(ref if ":" in ref else f"{ref}:0")
        content = None if tensor is None else tf.get_static_value(tensor)
    return None if content is None else tf.compat.as_str_any(content.item())
