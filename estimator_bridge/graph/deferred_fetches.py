"""Fetches that only the last step of a loop computes.

Summaries may cost more than the step itself. A step includes what it needs anyway, and everything
that reads or writes state, so that the order of accesses is kept. The rest, pure functions of the
step's values, is deferred until it is asked for. So is the size of a queue, which the program's own
threads change at any time: a device has no queues.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.lift import Lifted
from estimator_bridge.graph.op_kinds import QUEUE_SIZES
from estimator_bridge.graph.pruning import in_order, needed_nodes
from estimator_bridge.graph.snapshot import Snapshot, is_stateful, node_name, tensor_ref

__all__ = ["Deferred", "Division", "defer"]


class Deferred:
    """The pure part of some fetches.

    Attributes:
      needs: references of the step's tensors that ``__call__`` takes as arguments.
      handles: references of the handles of queues that it takes.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        fetches: Sequence[str],
        needs: Sequence[str],
        input_refs: set[str],
        owners: set[str],
    ):
        self.handles = {ref for ref in needs if ref.endswith(":0") and node_name(ref) in owners}
        self.needs = [ref for ref in needs if ref[0] != "^" and ref not in self.handles]
        self._order_only = [ref for ref in needs if ref.startswith("^")]
        self._lifted = Lifted(snapshot, fetches, input_refs.union(needs), owners)

    def __call__(
        self, values: Mapping[str, tf.Tensor], handles: Mapping[str, tf.Tensor]
    ) -> list[Any]:
        """Returns the fetches, from one replica's values of ``needs`` and the handles."""
        inputs = {ref: values[ref] for ref in self.needs}
        inputs.update(handles)
        # The step has finished by now, so control edges that wait for parts of it are satisfied.
        inputs.update({ref: tf.no_op() for ref in self._order_only})
        return self._lifted(inputs, lambda sums: [value for value, _ in sums])


@dataclasses.dataclass(frozen=True)
class Division:
    """Fetches divided between every step and the last one.

    Attributes:
      in_step: references that every step must compute in addition.
      deferred: the rest, computed from them; None if there is none.
      has_effects: whether ``in_step`` changes state, so that it must not run in steps whose
        fetches were not requested.
    """

    in_step: list[str]
    deferred: Deferred | None
    has_effects: bool


def defer(
    snapshot: Snapshot,
    base: Sequence[str],
    fetches: Sequence[str],
    input_refs: Iterable[str],
    owners: set[str],
    host_refs: Iterable[str] = (),
) -> Division:
    """Divides fetches between every step and the end of the last one.

    Args:
      snapshot: the traced graph.
      base: references that the step computes in any case.
      fetches: references wanted of the last step; operations count as effects.
      input_refs: references whose values come from outside the graph.
      owners: names of the nodes that own a resource.
      host_refs: of ``input_refs``, those whose values come after the step; what follows from them
        is deferred even if it reads state, as a lookup in a table does.
    """
    input_refs = set(input_refs)

    def nodes_for(*refs: str) -> dict[str, list[str]]:
        return needed_nodes(snapshot, refs, input_refs, owners)[0]

    everything, base_names = nodes_for(*base, *fetches), nodes_for(*base)
    effects, late = Effects.of(snapshot), _following(snapshot, everything, set(host_refs))
    stateful = [
        name
        for name, inputs in everything.items()
        if name not in base_names
        and snapshot.nodes[name].op not in QUEUE_SIZES
        and (name not in late or effects.changes_state(snapshot.nodes[name]))
        and (is_stateful(snapshot.nodes[name].op) or _touches(snapshot, name, inputs, owners))
    ]
    forced_refs = [f"^{name}" for name in stateful] + [f for f in fetches if f.startswith("^")]
    deferred_nodes = everything.keys() - nodes_for(*base, *forced_refs).keys()
    tensors = [f for f in fetches if not f.startswith("^")]
    inputs = [ref for name in snapshot.nodes if name in deferred_nodes for ref in everything[name]]
    needs = [
        ref for ref in dict.fromkeys([*inputs, *tensors]) if node_name(ref) not in deferred_nodes
    ]
    changes = any(map(effects.changes_state, (snapshot.nodes[n] for n in stateful)))
    deferred = Deferred(snapshot, tensors, needs, input_refs, owners) if tensors else None
    handles = deferred.handles if deferred else ()
    return Division(
        in_step=[*forced_refs, *(ref for ref in needs if ref not in handles)],
        deferred=deferred,
        has_effects=changes or len(tensors) < len(fetches),
    )


def _following(snapshot: Snapshot, inputs: dict[str, list[str]], refs: set[str]) -> set[str]:
    """Returns the nodes that need one of these references, directly or not."""
    names: set[str] = set()
    for name in in_order(snapshot, inputs) if refs else ():
        if any(tensor_ref(ref) in refs or node_name(ref) in names for ref in inputs[name]):
            names.add(name)
    return names


def _touches(snapshot: Snapshot, name: str, inputs: Sequence[str], owners: set[str]) -> bool:
    """Returns whether a node uses a resource: reads are stateless by type, but depend on order."""
    return snapshot.nodes[name].op == "CrossReplicaSum" or any(
        node_name(ref) in owners for ref in inputs if not ref.startswith("^")
    )
