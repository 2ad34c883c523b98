"""Control edges that order nothing.

TF1's gradients hold back the gradients of one op until all of them are there (``group_deps``),
and wait for values only to be sure of an order. In a pure graph order has no meaning: an edge that
waits for nodes without effects costs time, keeps what could run at once apart, and keeps nodes
alive that nobody reads (the gradient of the input of the first layer).

A read of a variable counts as no effect here: a later write of the same variable keeps its place
behind the read by the order in which the program made the two.
"""

from __future__ import annotations

import weakref

from estimator_bridge.graph.op_kinds import DRAWS, READS, V1_CONTROL_FLOW
from estimator_bridge.graph.snapshot import Snapshot, is_stateful, node_name

__all__ = ["nodes_with_effects"]

# Stateful in name, but nothing can tell whether they ran: handles, batches, sums over replicas.
_OWNERS = {"VarHandleOp", "IteratorV2", "OneShotIterator", "IteratorGetNext", "CrossReplicaSum"}
_IDLE = READS | set(DRAWS) | _OWNERS

_found: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def nodes_with_effects(snapshot: Snapshot) -> set[str]:
    """The nodes for which it makes a difference whether they, or what they need, have run.

    Those are nodes that change state, fail or talk to the outside, and all that depend on them.
    In a graph with v1 control flow every node counts: edges there also say what is dead.
    """
    if snapshot not in _found:
        _found[snapshot] = _find(snapshot)
    return _found[snapshot]


def _find(snapshot: Snapshot) -> set[str]:
    if any(node.op in V1_CONTROL_FLOW for node in snapshot.nodes.values()):
        return set(snapshot.nodes)
    found = {
        name
        for name, node in snapshot.nodes.items()
        if is_stateful(node.op) and node.op not in _IDLE
    }
    users: dict[str, list[str]] = {}
    for name, node in snapshot.nodes.items():
        for ref in node.input:
            users.setdefault(node_name(ref), []).append(name)
    waiting = list(found)
    while waiting:
        for user in users.get(waiting.pop(), ()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found
