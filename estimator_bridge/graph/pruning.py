"""Pruning: the nodes that some fetches need, and the order in which to make them."""

from __future__ import annotations

from collections.abc import Iterable

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.op_kinds import DEQUEUES
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref

__all__ = ["in_order", "needed_nodes"]

_BACK_EDGES = ("NextIteration", "RefNextIteration")
# Sources of values: if a source's value is given, a control edge from it is satisfied.
_PLACES = DEQUEUES | {"Placeholder", "PlaceholderV2", "IteratorGetNext"}


def needed_nodes(
    snapshot: Snapshot, fetches: Iterable[str], input_refs: set[str], resources: set[str]
) -> tuple[dict[str, list[str]], set[str]]:
    """Returns the nodes to compute, each with its inputs, and the input references they use."""
    effects = Effects.of(snapshot)
    batch = {r for r in input_refs if not r.startswith("^") and node_name(r) not in resources}
    observable, input_nodes = effects.observable_beyond(batch), set(map(node_name, batch))

    def waits_for_nothing(ref: str) -> bool:
        name = ref[1:]
        if not ref.startswith("^"):
            return False
        node = snapshot.nodes[name]
        is_place = name in resources or node.op in _PLACES
        is_there = name in input_nodes and (is_place or not effects.changes_state(node))
        return name not in observable or is_there

    node_inputs: dict[str, list[str]] = {}
    used_refs: set[str] = set()
    worklist = [tensor_ref(f) for f in fetches]
    while worklist:
        ref = worklist.pop()
        if ref in input_refs:
            used_refs.add(ref)
            continue
        name = node_name(ref)
        if name not in node_inputs:
            if name not in snapshot.nodes:
                raise KeyError(f"The graph has no operation named {name!r}.")
            refs = map(tensor_ref, snapshot.nodes[name].input)
            node_inputs[name] = [ref for ref in refs if not waits_for_nothing(ref)]
            worklist += node_inputs[name]
    return node_inputs, used_refs


def in_order(snapshot: Snapshot, inputs: dict[str, list[str]]) -> list[str]:
    """Returns the needed nodes in creation order, but each after all of its inputs.

    An input that was made after its user is moved ahead of it: the gradient of a loop adds stacks
    to the loop. If the loop moved back instead, it would read variables written in between.
    """
    position = {name: i for i, name in enumerate(snapshot.nodes) if name in inputs}
    order: list[str] = []
    visited: set[str] = set()
    for first in position:
        worklist = [first]
        while worklist:
            name = worklist[-1]
            missing = {
                source
                for source in map(node_name, inputs[name])
                if source in inputs
                and source not in visited
                and snapshot.nodes[source].op not in _BACK_EDGES
            }
            if missing and name not in visited:
                worklist += sorted(missing, key=position.__getitem__, reverse=True)
                continue
            worklist.pop()
            if name not in visited:
                visited.add(name)
                order.append(name)
    return order
