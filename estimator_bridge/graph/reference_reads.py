"""Places reads of reference variables where TensorFlow 1 read them.

TensorFlow 1 read a reference variable where its value was used: ``w/read`` passes on the variable's
buffer, so an operation that waits for an update sees the update, however early the tensor was made.
A ``ReadVariableOp`` reads once. So an operation that uses a read and is known to run after a later
update gets a separate read after that update. Fetched values of a variable are read at the end of
the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.branch_effects import state_changes
from estimator_bridge.graph.reference_variables import PASSES_BUFFER, end_read

__all__ = ["with_reference_reads"]


def with_reference_reads(
    nodes: Mapping[str, Any], library: Any, references: Set[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Reads the values of reference variables when TensorFlow 1 did.

    Args:
      nodes: NodeDefs by name, in the program's order. Their inputs may be changed.
      library: the functions that they call.
      references: the nodes of the variables.

    Returns:
      The nodes with the added reads, and by added read (a reference, 'a:0') the tensor of the
      graph that it replaces.
    """
    ends = [name for name in map(end_read, sorted(references)) if name in nodes]
    input_nodes = {_node(ref) for node in nodes.values() for ref in node.input}
    new_names = {name: name + "/early" for name in ends if name in input_nodes}
    placement = _Placement(library, references)
    for node in nodes.values():
        if new_names:
            node.input[:] = [_with_node(ref, new_names) for ref in node.input]
        if node.name not in ends:
            placement.add(node)
        elif node.name in new_names:
            placement.add(_read_of(node, new_names[node.name], node.input))
            placement.stands_for[f"{new_names[node.name]}:0"] = f"{node.name}:0"
    at_end = {name: _read_of(nodes[name], name, nodes[name].input[:1]) for name in ends}
    return {**placement.nodes, **at_end}, placement.stands_for


class _Placement:
    """Nodes, added in order, each with the reads that it needs.

    Attributes:
      nodes: the added nodes and the additional reads.
      stands_for: by additional read, the tensor that it replaces.
    """

    def __init__(self, library: Any, references: Set[str]):
        self.nodes: dict[str, Any] = {}
        self.stands_for: dict[str, str] = {}
        self._references = references
        self._changes_state = state_changes(library)
        # A set of writes is an int with one bit per write: each node has a set, and many are equal.
        self._writers: list[str] = []
        self._writes = dict.fromkeys(references, 0)  # by variable
        self._writers_before: dict[str, int] = {}  # by node: writes finished when it has run
        self._buffers: dict[str, tuple[str, str, int]] = {}  # variable, read, writes the read saw

    def add(self, node: Any) -> None:
        """Adds the next node."""
        writers = 0
        for ref in node.input:
            writers |= self._writers_before.get(_node(ref), 0)
        owners = {_node(ref) for ref in node.input} & self._references
        for i, ref in enumerate(node.input):
            if _node(ref) in self._buffers and not ref.startswith("^"):
                self._read_again(node, i, writers)
        self.nodes[node.name] = node
        if owners and self._changes_state(node):
            bit = 1 << len(self._writers)
            self._writers.append(node.name)
            writers |= bit
            for owner in owners:
                self._writes[owner] |= bit
        elif owners and node.op == "ReadVariableOp":
            self._buffers[node.name] = owners.pop(), node.name, writers
        elif node.op in PASSES_BUFFER and _node(node.input[0]) in self._buffers:
            self._buffers[node.name] = self._buffers[_node(node.input[0])]
        self._writers_before[node.name] = writers

    def _read_again(self, node: Any, position: int, writers: int) -> None:
        """Adds a read after the writes that a node waits for, if its input missed some of them."""
        variable, first_read, seen_writers = self._buffers[_node(node.input[position])]
        missed_writers = writers & self._writes[variable] & ~seen_writers
        if not missed_writers:
            return
        control_inputs = [
            f"^{name}" for k, name in enumerate(self._writers) if missed_writers >> k & 1
        ]
        source = self.nodes[first_read]
        new_read = _read_of(
            source, f"{node.name}/read_again_{position}", [source.input[0], *control_inputs]
        )
        self.nodes[new_read.name] = new_read
        self.stands_for[f"{new_read.name}:0"] = self.stands_for.get(
            f"{first_read}:0", f"{first_read}:0"
        )
        self._buffers[new_read.name] = variable, new_read.name, writers
        node.input[position] = new_read.name


def _read_of(source: Any, name: str, inputs: Any) -> tf.compat.v1.NodeDef:
    node = tf.compat.v1.NodeDef()
    node.CopyFrom(source)
    node.name = name
    node.input[:] = list(inputs)
    return node


def _node(ref: str) -> str:
    return ref.lstrip("^").partition(":")[0]


def _with_node(ref: str, new_names: Mapping[str, str]) -> str:
    name = _node(ref)
    return ref.replace(name, new_names[name], 1) if name in new_names else ref
