"""Finds the nodes that have effects, and so the control edges that matter.

TF1's gradients hold back the gradients of one op until all of them are computed (``group_deps``),
and wait for values only to fix an order. In a pure graph order has no meaning. An edge that waits
for nodes without effects costs time, prevents parallel execution, and keeps nodes alive that
nothing reads (the gradient of the first layer's input).

Reading a variable does not count as an effect here: a later write of the same variable stays behind
the read because the program made the two in that order.
"""

from __future__ import annotations

import weakref
from typing import Any

from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.op_kinds import DRAWS, READS, V1_CONTROL_FLOW
from estimator_bridge.graph.snapshot import Snapshot, is_stateful, node_name, tensor_ref

__all__ = ["Effects"]

# Stateful by type, but without visible effects: handles, batches, sums over replicas.
_OWNERS = {"VarHandleOp", "IteratorV2", "OneShotIterator", "IteratorGetNext", "CrossReplicaSum"}
_IDLE = READS | set(DRAWS) | _OWNERS

_effects_by_snapshot: weakref.WeakKeyDictionary[Snapshot, Effects] = weakref.WeakKeyDictionary()


class Effects:
    """The effects of a graph's nodes; ``Effects.of`` caches them per snapshot.

    Attributes:
      observable: the nodes for which it matters whether they, or their inputs, have run: those that
        change state, fail or communicate with the outside, and all that depend on them. In a
        graph with v1 control flow all nodes, because its edges also mark what is dead.
    """

    def __init__(self, snapshot: Snapshot):
        self._functions = {f.signature.name for f in snapshot.library.function}
        self._changing = functions_where(snapshot.library, self._changes_by_itself)
        self._snapshot = weakref.ref(snapshot)  # the cache's key, which must not keep itself alive
        self.observable = self._find(snapshot, set())

    @classmethod
    def of(cls, snapshot: Snapshot) -> Effects:
        """Returns the effects of a snapshot's nodes, computed once."""
        if snapshot not in _effects_by_snapshot:
            _effects_by_snapshot[snapshot] = cls(snapshot)
        return _effects_by_snapshot[snapshot]

    def changes_state(self, node: Any) -> bool:
        """Returns whether a node changes state; a branch or loop that only reads does not."""
        functions = called_functions(node) & self._functions
        return bool(functions & self._changing) if functions else _is_change(node.op)

    def _changes_by_itself(self, node: Any) -> bool:
        return not called_functions(node) & self._functions and _is_change(node.op)

    def observable_beyond(self, input_refs: set[str]) -> set[str]:
        """Returns ``observable`` for the case that these tensors are given.

        Nodes that follow from given tensors need not wait for their sources. Otherwise a batch that
        came from a queue would make the whole model an effect of it.
        """
        snapshot = self._snapshot()
        if snapshot is None or not any(node_name(ref) in self.observable for ref in input_refs):
            return self.observable
        return self._find(snapshot, input_refs)

    def _find(self, snapshot: Snapshot, input_refs: set[str]) -> set[str]:
        if any(node.op in V1_CONTROL_FLOW for node in snapshot.nodes.values()):
            return set(snapshot.nodes)
        names = {name for name, node in snapshot.nodes.items() if self.changes_state(node)}
        users: dict[str, list[str]] = {}
        for name, node in snapshot.nodes.items():
            for ref in node.input:
                if tensor_ref(ref) not in input_refs:
                    users.setdefault(node_name(ref), []).append(name)
        worklist = list(names)
        while worklist:
            for user in users.get(worklist.pop(), ()):
                if user not in names:
                    names.add(user)
                    worklist.append(user)
        return names


def _is_change(op: str) -> bool:
    return is_stateful(op) and op not in _IDLE
