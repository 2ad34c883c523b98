"""Devices that a TF1 program named, which say nothing of where a lifted graph runs."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["without_placement"]


def without_placement(node: tf.compat.v1.NodeDef) -> tf.compat.v1.NodeDef:
    """A copy of a node with no device and colocation: each replica places its own."""
    copy = tf.compat.v1.NodeDef()
    copy.CopyFrom(node)
    copy.device = ""
    if "_class" in copy.attr:
        del copy.attr["_class"]
    return copy
