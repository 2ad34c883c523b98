"""Reads of the global step that wait for nothing come before its update.

TF1 gave a variable's reads and writes no order but by the program's edges. A read without inputs
ran as a step began, and the update once the gradients were applied: so a read saw the number of
its own step, wherever in the program it stood. A ``host_call`` whose arguments are made behind
``optimizer.minimize`` is the common case. The same is done for reference variables, whose reads
behind an update mostly came before it, and what waits for the update has a read of its own (see
``reference_reads``). All other variables keep the order of the program.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.snapshot import Snapshot, node_name

__all__ = ["with_step_reads_ahead"]

_ADDS = ("AssignAddVariableOp", "AssignSubVariableOp")  # they need a value, so a read finds one
_KNOWN_AT_ONCE = ("Const", "VarHandleOp")


def with_step_reads_ahead(snapshot: Snapshot, order: Sequence[str]) -> list[str]:
    """Moves bare reads of the global step before those updates of it that wait for a computation.

    Args:
      snapshot: the traced graph.
      order: its nodes, in the order of the program.

    Returns:
      The nodes in the order in which variables are to be accessed.
    """
    accesses: dict[str, list[int]] = {}
    variables = snapshot.global_steps | snapshot.references
    for i, name in enumerate(order):
        sources = {node_name(r) for r in snapshot.nodes[name].input if not r.startswith("^")}
        for variable in sources & variables:
            accesses.setdefault(variable, []).append(i)
    ahead: dict[int, list[str]] = {}  # by place, the reads that go before what stands there
    for places in accesses.values():
        place, moved = _reads_ahead(snapshot, order, places)
        if moved:
            ahead.setdefault(place, []).extend(moved)
    if not ahead:
        return list(order)
    away = {name for moved in ahead.values() for name in moved}
    placed: list[str] = []
    for i, name in enumerate(order):
        placed += ahead.get(i, ())
        if name not in away:
            placed.append(name)
    return placed


def _reads_ahead(
    snapshot: Snapshot, order: Sequence[str], places: Sequence[int]
) -> tuple[int, list[str]]:
    """Which reads of a variable move, and before which place.

    Args:
      snapshot: the traced graph.
      order: its nodes.
      places: of those that use the variable.
    """
    changes_state = Effects.of(snapshot).changes_state
    place: int | None = None  # of the first update that a read may pass
    has_value = False
    moved: list[str] = []
    for i in places:
        name = order[i]
        node = snapshot.nodes[name]
        if node.op == "ReadVariableOp":
            has_value = True
            if place is not None and len(node.input) == 1 and name not in snapshot.end_reads:
                moved.append(name)
        elif changes_state(node):
            is_passable = _waits(snapshot, node) and (has_value or node.op in _ADDS)
            if moved and not is_passable:
                break  # what was read before a write that starts anew
            place = (i if place is None else place) if is_passable else None
            has_value = has_value or node.op in _ADDS
    return (0, []) if place is None else (place, moved)


def _waits(snapshot: Snapshot, node: tf.compat.v1.NodeDef) -> bool:
    """Whether it needs anything that is not there as a step begins."""
    sources = (snapshot.nodes[node_name(ref)] for ref in node.input)
    # A constant may wait: it carries the control edges of the update that it was made for.
    return any(source.op not in _KNOWN_AT_ONCE or source.input for source in sources)
