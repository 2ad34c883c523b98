"""The numbers by which the workers' collectives find each other.

Every collective needs a number that is the same in all processes. TensorFlow assigns numbers as
functions are traced, but a chief traces more functions than its workers: those of its hooks. So
this library assigns them by the purpose of a collective.
"""

from __future__ import annotations

import weakref

import tensorflow as tf

from estimator_bridge.graph import Snapshot

__all__ = ["CollectiveKeys"]

_FIRST_OF_TRAINING = 1000  # smaller keys belong to what workers agree on outside of steps


class CollectiveKeys:
    """The instance keys that a process has used; all workers use the same in the same order."""

    def __init__(self) -> None:
        self._of_graphs: weakref.WeakKeyDictionary[tf.Graph, tuple[int, dict[str, int]]] = (
            weakref.WeakKeyDictionary()
        )
        self._next = _FIRST_OF_TRAINING

    @property
    def next(self) -> int:
        """The first key that this process has not used."""
        return self._next

    def reserve(self, count: int = 1) -> int:
        """Returns the first of so many new keys."""
        key, self._next = self._next, self._next + count
        return key

    def start(self, graph: tf.Graph, first: int) -> None:
        """Assigns keys to a graph's sums.

        Args:
          graph: traced alike by all workers. Sums added later, by a hook, have no keys.
          first: the largest ``next`` of all workers.
        """
        nodes = Snapshot.of(graph).nodes
        sums = [name for name, node in nodes.items() if node.op == "CrossReplicaSum"]
        # The first two are for the hosts' exchanges before the first step and after each step.
        self._of_graphs[graph] = first, {name: first + 2 + i for i, name in enumerate(sums)}
        self._next = first + 2 + len(sums)

    def of(self, graph: tf.Graph) -> tuple[int, dict[str, int]]:
        """Returns the first key of a graph, and the keys of its sums by name."""
        if graph not in self._of_graphs:
            self.start(graph, self._next)
        return self._of_graphs[graph]
