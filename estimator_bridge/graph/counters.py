"""Recognizes variables that a step increments by one."""

from __future__ import annotations

from collections.abc import Iterable

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.snapshot import Snapshot, node_name

__all__ = ["counts_up"]


def counts_up(snapshot: Snapshot, names: Iterable[str], variable: str) -> bool:
    """Returns whether some nodes add 1 to an integer variable once, and change it no other way.

    Args:
      snapshot: the snapshot of the graph.
      names: the nodes that run, each of them once.
      variable: the name of the variable's handle node.
    """
    increments, changes_state = 0, Effects.of(snapshot).changes_state
    for name in names:
        node = snapshot.nodes[name]
        if variable not in map(node_name, node.input) or not changes_state(node):
            continue
        if node.op != "AssignAddVariableOp" or not _is_one(snapshot, node.input[1]):
            return False  # it may change the variable, or pass the handle to an op that does
        increments += 1
    return increments == 1


def _is_one(snapshot: Snapshot, ref: str) -> bool:
    node = snapshot.nodes[node_name(ref)]
    return node.op == "Const" and bool(tf.make_ndarray(node.attr["value"].tensor) == 1)
