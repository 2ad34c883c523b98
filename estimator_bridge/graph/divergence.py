"""Finds variables whose values would diverge between the replicas.

Replicas start with the same values, and keep them as long as all of them write the same values:
values that follow from constants, from such variables, or from sums over all replicas. A replica's
batch, its random numbers and its replica-local variables differ, and so does everything computed
from them without a sum.
"""

from __future__ import annotations

from collections.abc import Iterable

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.plan import touched_resources
from estimator_bridge.graph.pruning import in_order, needed_nodes
from estimator_bridge.graph.randomness import is_seeded
from estimator_bridge.graph.replica_local import replica_locals
from estimator_bridge.graph.snapshot import Snapshot, node_name

__all__ = ["diverging_variables", "needs_batch"]

_BATCHES = ("Placeholder", "IteratorGetNext", "IteratorGetNextAsOptional")
_SAYS_NO_VALUE = ("VarIsInitializedOp", "VariableShape")


def diverging_variables(
    graph: tf.Graph, fetches: Iterable[str], owners: set[str]
) -> dict[str, str]:
    """Finds the variables to which a step writes values that differ between replicas.

    Args:
      graph: the traced graph.
      fetches: references that a step computes.
      owners: names of the nodes that own a resource.

    Returns:
      By name of the variable's handle node, the node that first writes such a value. Variables
      that are meant to differ (``replica_locals``) are left out.
    """
    snapshot = Snapshot.of(graph)
    inputs, _ = needed_nodes(snapshot, fetches, set(), owners)
    order = in_order(snapshot, inputs)
    owners_by_node = touched_resources(snapshot, order, inputs, owners)
    sources = _sources(snapshot, order)
    effects = Effects.of(snapshot)
    local_variables = set(replica_locals(graph).variables)
    writers: dict[str, str] = {}
    differs: set[str] = set()
    before = None
    while before != (len(writers), len(differs)):  # a read may come before the write
        before = len(writers), len(differs)
        for name in order:
            node = snapshot.nodes[name]
            if node.op == "CrossReplicaSum":
                continue
            handles = owners_by_node.get(name, set())
            reads = (
                handles & (local_variables | writers.keys())
                if node.op not in _SAYS_NO_VALUE
                else set()
            )
            data = (node_name(ref) for ref in inputs[name] if not ref.startswith("^"))
            if name not in sources and not reads and not differs.intersection(data):
                continue
            differs.add(name)
            if effects.changes_state(node):
                for handle in handles - local_variables:
                    writers.setdefault(handle, name)
    return writers


def needs_batch(graph: tf.Graph, fetches: Iterable[str], owners: set[str]) -> bool:
    """Returns whether some fetches need a step's batch.

    Args:
      graph: the traced graph.
      fetches: references.
      owners: names of the nodes that own a resource.
    """
    sources = (op for op in graph.get_operations() if op.type in _BATCHES)
    batch = {tensor.name for source in sources for tensor in source.outputs}
    _, batch_refs = needed_nodes(Snapshot.of(graph), fetches, batch, owners)
    return bool(batch_refs)


def _sources(snapshot: Snapshot, names: Iterable[str]) -> set[str]:
    """Returns the nodes whose outputs differ between replicas, whatever their inputs."""
    random = functions_where(snapshot.library, is_seeded)
    return {
        name
        for name in names
        if snapshot.nodes[name].op in _BATCHES
        or is_seeded(snapshot.nodes[name])
        or called_functions(snapshot.nodes[name]) & random
    }
