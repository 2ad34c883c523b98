"""Moves independent reads of the global step before its update.

In TF1 only the program's edges ordered a variable's reads and writes. A read without inputs ran as
a step began, and the update after the gradients were applied, so a read saw the number of its own
step wherever the program made it. The common case is a ``host_call`` whose arguments are made after
``optimizer.minimize``. Reference variables are treated alike: their reads made after an update
mostly ran before it, and what waits for the update has a separate read (see ``reference_reads``).
All other variables keep the order of the program.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.snapshot import Snapshot, node_name

__all__ = ["with_global_step_reads_first"]

_ADDS = ("AssignAddVariableOp", "AssignSubVariableOp")  # they require a value, so reads find one
_KNOWN_AT_ONCE = ("Const", "VarHandleOp")


def with_global_step_reads_first(snapshot: Snapshot, order: Sequence[str]) -> list[str]:
    """Moves bare reads of the global step before those updates of it that wait for a computation.

    Args:
      snapshot: the traced graph.
      order: its nodes, in the order of the program.

    Returns:
      The nodes in the order in which variables are accessed.
    """
    accesses: dict[str, list[int]] = {}
    variables = snapshot.global_steps | snapshot.references
    for i, name in enumerate(order):
        sources = {node_name(r) for r in snapshot.nodes[name].input if not r.startswith("^")}
        for variable in sources & variables:
            accesses.setdefault(variable, []).append(i)
    reads_by_position: dict[int, list[str]] = {}  # by position, the reads to insert before it
    for places in accesses.values():
        place, reads = _reads_ahead(snapshot, order, places)
        if reads:
            reads_by_position.setdefault(place, []).extend(reads)
    if not reads_by_position:
        return list(order)
    moved_reads = {name for reads in reads_by_position.values() for name in reads}
    new_order: list[str] = []
    for i, name in enumerate(order):
        new_order += reads_by_position.get(i, ())
        if name not in moved_reads:
            new_order.append(name)
    return new_order


def _reads_ahead(
    snapshot: Snapshot, order: Sequence[str], places: Sequence[int]
) -> tuple[int, list[str]]:
    """Returns the position to move a variable's reads to, and the reads that move.

    Args:
      snapshot: the traced graph.
      order: its nodes.
      places: the positions of the nodes that use the variable.
    """
    changes_state = Effects.of(snapshot).changes_state
    place: int | None = None  # position of the first update that a read may pass
    has_value = False
    reads: list[str] = []
    for i in places:
        name = order[i]
        node = snapshot.nodes[name]
        if node.op == "ReadVariableOp":
            has_value = True
            if place is not None and len(node.input) == 1 and name not in snapshot.end_reads:
                reads.append(name)
        elif changes_state(node):
            is_passable = _waits(snapshot, node) and (has_value or node.op in _ADDS)
            if reads and not is_passable:
                break  # reads before a write that does not build on the old value
            place = (i if place is None else place) if is_passable else None
            has_value = has_value or node.op in _ADDS
    return (0, []) if place is None else (place, reads)


def _waits(snapshot: Snapshot, node: tf.compat.v1.NodeDef) -> bool:
    """Returns whether a node needs anything that is not available when a step begins."""
    sources = (snapshot.nodes[node_name(ref)] for ref in node.input)
    # A constant may wait: it carries the control edges of the update that it was made for.
    return any(source.op not in _KNOWN_AT_ONCE or source.input for source in sources)
