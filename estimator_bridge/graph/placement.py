"""Devices that a TF1 program named, which do not decide where a lifted graph runs."""

from __future__ import annotations

import re

import tensorflow as tf

__all__ = ["core_of", "without_placement"]

_CORE = re.compile(r"/device:TPU_REPLICATED_CORE:(\d+)")  # what tf.compat.v1.tpu.core(i) names


def core_of(node: tf.compat.v1.NodeDef) -> int | None:
    """Returns the replica's core that the program put a node on, or None."""
    match = _CORE.search(node.device)
    return int(match[1]) if match else None


def without_placement(node: tf.compat.v1.NodeDef, keeps_core: bool = False) -> tf.compat.v1.NodeDef:
    """Returns a copy of a node without device and colocation: each replica places its own.

    Args:
      node: a node of the program's graph.
      keeps_core: whether to keep a replica's core, as there are several.
    """
    copy = tf.compat.v1.NodeDef()
    copy.CopyFrom(node)
    core = core_of(node) if keeps_core else None
    copy.device = "" if core is None else f"/device:TPU_REPLICATED_CORE:{core}"
    if "_class" in copy.attr:
        del copy.attr["_class"]
    return copy
