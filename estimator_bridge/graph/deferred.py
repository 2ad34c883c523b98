"""Fetches that only the last step of a loop computes.

Summaries may cost more than the step itself. What a step needs anyway, and all that reads or
writes state (so that it keeps its place in the order), belongs to the step; the rest, pure
functions of the step's values, is put off to where it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import tensorflow as tf

from estimator_bridge.graph.lift import Lifted
from estimator_bridge.graph.plan import needed_nodes
from estimator_bridge.graph.snapshot import Snapshot, is_stateful, node_name

__all__ = ["Deferred", "defer"]


class Deferred:
    """The pure part of some fetches.

    Attributes:
      needs: references of the step's tensors that ``__call__`` takes.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        fetches: Sequence[str],
        needs: Sequence[str],
        given: set[str],
        owners: set[str],
    ):
        self.needs = [ref for ref in needs if not ref.startswith("^")]
        self._order_only = [ref for ref in needs if ref.startswith("^")]
        self._lifted = Lifted(snapshot, fetches, given.union(needs), owners)

    def __call__(self, values: Mapping[str, tf.Tensor]) -> list:
        """The fetches, from one replica's values of ``needs``."""
        known = {ref: values[ref] for ref in self.needs}
        # The step is done when this is built; an edge that waits for a part of it waits for all.
        known.update({ref: tf.no_op() for ref in self._order_only})
        return self._lifted(known, lambda sums: [value for value, _ in sums])


def defer(
    snapshot: Snapshot,
    operations: Sequence[str],
    fetches: Sequence[str],
    given: Iterable[str],
    owners: set[str],
) -> tuple[list[str], Deferred]:
    """Divides fetches between the step and its end.

    Args:
      snapshot: the traced graph.
      operations: what the step computes in any case.
      fetches: what is wanted of the last step: tensor references.
      given: references whose values come from outside the graph.
      owners: names of the nodes that own a resource.

    Returns:
      What the step has to compute in addition (references), and the deferred part.
    """
    given = set(given)

    def needed(*wanted: str) -> dict[str, list[str]]:
        return needed_nodes(snapshot, wanted, given, owners)[0]

    everything = needed(*operations, *fetches)
    in_step = needed(*operations)
    stateful = [
        "^" + name
        for name, inputs in everything.items()
        if name not in in_step
        and (is_stateful(snapshot.nodes[name].op) or _touches(snapshot, name, inputs, owners))
    ]
    in_step = needed(*operations, *stateful)
    put_off = [name for name in snapshot.nodes if name in everything and name not in in_step]
    put_off_set = set(put_off)
    inputs = [ref for name in put_off for ref in everything[name]]
    needs = list(
        dict.fromkeys(ref for ref in [*inputs, *fetches] if node_name(ref) not in put_off_set)
    )
    deferred = Deferred(snapshot, fetches, needs, given, owners)
    return [*stateful, *needs], deferred


def _touches(snapshot: Snapshot, name: str, inputs: Sequence[str], owners: set[str]) -> bool:
    """Whether a node takes a resource: a read is stateless by its type, not by its meaning."""
    return snapshot.nodes[name].op == "CrossReplicaSum" or any(
        node_name(ref) in owners for ref in inputs if not ref.startswith("^")
    )
