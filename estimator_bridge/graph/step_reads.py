"""Reads of the global step that wait for nothing come before its update.

TF1 gave a variable's reads and writes no order but by the program's edges. A read without inputs
ran as a step began, and the update once the gradients were applied: so a read saw the number of
its own step, wherever in the program it stood. A ``host_call`` whose arguments are made behind
``optimizer.minimize`` is the common case. All other variables keep the order of the program.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    for step in snapshot.global_steps:
        order = _with_reads_ahead(snapshot, order, step)
    return list(order)


def _with_reads_ahead(snapshot: Snapshot, order: Sequence[str], step: str) -> Sequence[str]:
    changes_state = Effects.of(snapshot).changes_state
    place: int | None = None  # of the first update that a read may pass
    has_value = False
    moved = []
    for i, name in enumerate(order):
        node = snapshot.nodes[name]
        sources = [node_name(ref) for ref in node.input if not ref.startswith("^")]
        if step not in sources:
            continue
        if node.op == "ReadVariableOp":
            has_value = True
            if place is not None and len(node.input) == 1:
                moved.append(name)
        elif changes_state(node):
            is_passable = _waits(snapshot, node) and (has_value or node.op in _ADDS)
            if moved and not is_passable:
                break  # what was read before a write that starts anew
            place = (i if place is None else place) if is_passable else None
            has_value = has_value or node.op in _ADDS
    if not moved or place is None:
        return order
    rest = [name for name in order[place:] if name not in moved]
    return [*order[:place], *moved, *rest]


def _waits(snapshot: Snapshot, node) -> bool:
    """Whether it needs anything that is not there as a step begins."""
    sources = (snapshot.nodes[node_name(ref)] for ref in node.input)
    # A constant may wait: it carries the control edges of the update that it was made for.
    return any(source.op not in _KNOWN_AT_ONCE or source.input for source in sources)
