"""Fetches that only the last step of a loop computes.

Summaries may cost more than the step itself. What a step needs anyway, and all that reads or
writes state (so that it keeps its place in the order), belongs to the step; the rest, pure
functions of the step's values, is put off to where it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import tensorflow as tf

from estimator_bridge.graph.lift import Lifted
from estimator_bridge.graph.snapshot import Snapshot, is_stateful, node_name, tensor_ref

__all__ = ["Deferred", "defer"]


class Deferred:
    """The pure part of some fetches.

    Attributes:
      needs: references of the step's tensors that ``__call__`` takes.
    """

    def __init__(self, snapshot: Snapshot, fetches: Sequence[str], needs: Sequence[str]):
        self.needs = [ref for ref in needs if not ref.startswith("^")]
        self._order_only = [ref for ref in needs if ref.startswith("^")]
        self._lifted = Lifted(snapshot, fetches, needs)

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
    everything = Lifted(snapshot, [*operations, *fetches], given, owners)
    in_step = set(Lifted(snapshot, operations, given, owners).names)
    stateful = [
        "^" + name
        for name in everything.names
        if name not in in_step
        and (is_stateful(snapshot.nodes[name].op) or _touches(snapshot, name, everything.given))
    ]
    in_step = set(Lifted(snapshot, [*operations, *stateful], given, owners).names)
    put_off = [name for name in everything.names if name not in in_step]
    put_off_set = set(put_off)
    inputs = [tensor_ref(i) for name in put_off for i in snapshot.nodes[name].input]
    needs = list(
        dict.fromkeys(ref for ref in [*inputs, *fetches] if node_name(ref) not in put_off_set)
    )
    deferred = Deferred(snapshot, fetches, needs)
    return [*stateful, *needs], deferred


def _touches(snapshot: Snapshot, name: str, given: set[str]) -> bool:
    """Whether a node takes a resource handle: a read is stateless by name, not by meaning."""
    node = snapshot.nodes[name]
    return node.op == "CrossReplicaSum" or any(
        tensor_ref(i) in given and snapshot.nodes[node_name(i)].op == "VarHandleOp"
        for i in node.input
    )
