"""A traced graph as data: its nodes in creation order and its function library."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.branch_effects import keep_branch_effects
from estimator_bridge.graph.collectives import spread_collectives
from estimator_bridge.graph.global_step_rewrite import rewritten_global_step_read
from estimator_bridge.graph.inline import inline_sums
from estimator_bridge.graph.large_constants import free_arrays, free_rows, take_large_constants
from estimator_bridge.graph.reference_reads import with_reference_reads
from estimator_bridge.graph.reference_variables import end_read, reference_variables
from estimator_bridge.tensorflow_private.names import op_def

__all__ = ["Snapshot", "is_stateful", "node_name", "tensor_ref"]

# A graph grows after its trace (hooks and savers add ops), so snapshots are cached per version.
_snapshots: weakref.WeakKeyDictionary[tf.Graph, tuple[int, Snapshot]] = weakref.WeakKeyDictionary()


def node_name(ref: str) -> str:
    """Returns the node of an input reference: 'a:1', '^a' and 'a' all name the node 'a'."""
    return ref.lstrip("^").split(":")[0]


def tensor_ref(ref: str) -> str:
    """Returns an input reference in its full form: 'a' becomes 'a:0'; '^a' stays."""
    return ref if ref.startswith("^") or ":" in ref else ref + ":0"


def is_stateful(op: str) -> bool:
    """Returns whether an op of this type has side effects; unknown types count as stateful."""
    definition = op_def(op)
    return definition is None or definition.is_stateful


class Snapshot:
    """The GraphDef of a tf.Graph, indexed.

    Attributes:
      nodes: NodeDefs by name, in the order in which the program made the operations.
      library: the FunctionDefLibrary.
      versions: the GraphDef's versions.
      global_steps: the nodes that own the graph's global step.
      constants: the eager values of large constants, by reference; their nodes have none.
      step_branches: the original nodes that ``rewritten_global_step_read`` replaced.
      references: the nodes that represent reference variables.
      end_reads: the nodes that read them at the end of a run.
      stands_for: by tensor that ``with_reference_reads`` added, the graph's tensor it replaces.
    """

    def __init__(
        self,
        nodes: dict[str, tf.compat.v1.NodeDef],
        library: Any,
        versions: Any,
        global_steps: frozenset[str] = frozenset(),
        constants: dict[str, tf.Tensor] | None = None,
        step_branches: Sequence[tf.compat.v1.NodeDef] = (),
        references: Set[str] = frozenset(),
        stands_for: Mapping[str, str] | None = None,
    ):
        self.nodes = nodes
        self.library = library
        self.versions = versions
        self.global_steps = global_steps
        self.constants = constants or {}
        self.step_branches = step_branches
        self.references = references
        self.end_reads = frozenset(map(end_read, references))
        self.stands_for = stands_for or {}

    @classmethod
    def of(cls, graph: tf.Graph) -> Snapshot:
        """Returns the snapshot of a graph; the same object until the graph grows."""
        version, snapshot = _snapshots.get(graph, (None, None))
        if snapshot is None or version != graph.version:
            graph_def, constants = take_large_constants(graph, graph.as_graph_def())
            keep_branch_effects(graph_def)
            nodes = {node.name: node for node in spread_collectives(inline_sums(graph_def))}
            reads = rewritten_global_step_read(graph)
            branches = [nodes[name] for name in reads]
            nodes.update(reads)
            references = frozenset(reference_variables(graph))
            stands_for: dict[str, str] = {}
            if references:
                nodes, stands_for = with_reference_reads(nodes, graph_def.library, references)
            steps = graph.get_collection(tf.compat.v1.GraphKeys.GLOBAL_STEP)
            global_steps = frozenset(step.op.name for step in steps)
            snapshot = cls(
                nodes, graph_def.library, graph_def.versions, global_steps, constants, branches,
                references, stands_for,
            )  # fmt: skip
            _snapshots[graph] = graph.version, snapshot
        return snapshot

    @functools.cached_property
    def content(self) -> tuple[bytes, ...]:
        """All but the values of ``constants``: alike in graphs made by the same operations."""
        messages = [*self.nodes.values(), self.library, self.versions]
        return tuple(message.SerializeToString(deterministic=True) for message in messages)

    @staticmethod
    def forget(graph: tf.Graph) -> None:
        """Frees the snapshot of a graph that is not used again, and its large constants."""
        _snapshots.pop(graph, None)
        free_arrays(graph)

    @staticmethod
    def forget_rows(graph: tf.Graph, captured_refs: Collection[str]) -> None:
        """Frees the arrays of a graph's datasets, which are not used again: see ``free_rows``."""
        _, snapshot = _snapshots.get(graph, (None, None))
        for ref in free_rows(graph, captured_refs):
            if snapshot is not None:
                snapshot.constants.pop(ref, None)

    def with_nodes(
        self, extra_nodes: Iterable[tf.compat.v1.NodeDef], functions: Iterable[Any] = ()
    ) -> Snapshot:
        """Returns a snapshot in which these nodes are added, or replace nodes of the same name.

        Args:
          extra_nodes: the nodes.
          functions: FunctionDefs that they call, if the library has none of these names.
        """
        extra_nodes, functions, library = list(extra_nodes), list(functions), self.library
        if not extra_nodes:  # keeps what is cached for this snapshot
            return self
        if functions:
            library = type(library)()
            library.CopyFrom(self.library)
            library.function.extend(functions)
        nodes = {**self.nodes, **{node.name: node for node in extra_nodes}}
        return Snapshot(
            nodes, library, self.versions, self.global_steps, self.constants,
            self.step_branches, self.references, self.stands_for,
        )  # fmt: skip
