"""The host's copies of replica-local variables, which a session reads and writes as one value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import tensorflow as tf

from estimator_bridge.graph.replica_local import ReplicaLocal, deal_out, parts_of, whole_of

__all__ = ["WholeValues"]


class WholeValues:
    """Variables with the value that the copies of a replica-local variable have together.

    Args:
      kinds: the replica-local variables of the graph, by name.
      replicas: number of replicas in all processes.

    Attributes:
      replicas: as given.
      has_first_replica: whether the first of all replicas is in this process.
    """

    def __init__(self, kinds: Mapping[str, ReplicaLocal], replicas: int):
        self._kinds, self.replicas = kinds, replicas
        self.has_first_replica = True
        self._variables: dict[str, tf.Variable] = {}

    def are_needed(self, name: str) -> bool:
        """Returns whether a variable's copies differ, so that the host needs one of its own."""
        return name in self._kinds and self.replicas > 1

    def add(self, name: str, variable: tf.Variable) -> None:
        """Adds the host's copy of a variable."""
        self._variables[name] = variable

    def get(self, name: str) -> tf.Variable | None:
        """Returns the host's copy of a variable; None if it has none."""
        return self._variables.get(name)

    def among(self, names: Iterable[str]) -> set[str]:
        """Returns those of the variables that have such a copy."""
        return self._variables.keys() & set(names)

    def clear(self) -> None:
        """Forgets all copies."""
        self._variables.clear()

    def settle(self, name: str, total: tf.Tensor) -> None:
        """Sets the value of a whole from the sum of all copies; eager."""
        self._variables[name].assign(whole_of(total, self.replicas, self._kinds[name]))

    def parts(self, name: str) -> list[tf.Tensor]:
        """Returns the values of the replicas' copies; empty if the whole has none; eager."""
        whole = self._variables[name]
        if not whole.is_initialized():
            return []
        first, other = parts_of(whole.read_value(), self._kinds[name], self.replicas)
        return [first, *[other] * (self.replicas - 1)]

    def deal_out(self, name: str, copies: Sequence[tf.Variable], ran: Collection[str]) -> None:
        """Distributes a value that a session's function wrote to this process's replicas; eager.

        Args:
          name: a variable that has a whole.
          copies: its copies in this process.
          ran: the nodes of the function, which may include the variable's initializer.
        """
        kind, whole = self._kinds[name], self._variables[name]
        if not whole.is_initialized():
            return
        if kind.initializer in ran:  # the initial value of each copy, not of the whole
            first = whole.read_value()
            self.settle(name, tf.add_n([first] * self.replicas))
            for copy in copies:
                copy.assign(first)
        else:
            deal_out(whole.read_value(), copies, kind, self.replicas, self.has_first_replica)
