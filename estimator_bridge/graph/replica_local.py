"""Variables with a separate value on each replica that are read as one.

A metric's total or batch norm's moving mean is declared ``synchronization=ON_READ``: every replica
updates its own copy, and a read outside the replicas returns the sum or the mean of the copies. A
session therefore uses an additional copy on the host. It is filled from the replicas before the
session's function runs, and what the function wrote is distributed to them afterwards. If replicas
are in several processes, a session cannot reach them all: the host's copy is filled at points where
all processes take part, and what a session writes is distributed to the local replicas alone.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.graph.snapshot import Snapshot

__all__ = ["ReplicaLocal", "ReplicaLocals", "deal_out", "parts_of", "replica_locals", "whole_of"]

_locals_by_graph: weakref.WeakKeyDictionary[tf.Graph, ReplicaLocals] = weakref.WeakKeyDictionary()


@dataclasses.dataclass(frozen=True)
class ReplicaLocal:
    """The rule for reading a replica-local variable as a whole.

    Attributes:
      is_mean: whether the whole is the mean of the copies, not their sum.
      initializer: name of the operation that gives each copy the same initial value.
    """

    is_mean: bool
    initializer: str


class ReplicaLocals:
    """The replica-local variables of one graph, recorded by its trace.

    Attributes:
      variables: the variables by name of their handle node.
      joins: names of the nodes that combine the replicas' values into one. A session sees that
        one value already, and passes their first input through.
    """

    def __init__(self) -> None:
        self.variables: dict[str, ReplicaLocal] = {}
        self.joins: set[str] = set()

    def for_session(self, snapshot: Snapshot) -> Snapshot:
        """Returns the snapshot as a session runs it, without joins."""
        return snapshot.with_nodes(_identity(snapshot.nodes[name]) for name in sorted(self.joins))


def replica_locals(graph: tf.Graph) -> ReplicaLocals:
    """Returns the record for a graph, which its trace writes and its session reads."""
    if graph not in _locals_by_graph:
        _locals_by_graph[graph] = ReplicaLocals()
    return _locals_by_graph[graph]


def whole_of(total: tf.Tensor, replicas: int, kind: ReplicaLocal) -> tf.Tensor:
    """Returns the value of the whole from the sum of its copies on all replicas; eager."""
    if not kind.is_mean:
        return total
    return total // replicas if total.dtype.is_integer else total / replicas


def deal_out(
    value: tf.Tensor,
    copies: Sequence[tf.Variable],
    kind: ReplicaLocal,
    replicas: int,
    has_first: bool,
) -> None:
    """Gives each copy its part of the whole, as TensorFlow does on a restore; eager.

    Args:
      value: the value of the whole.
      copies: the variable's copies in this process.
      kind: how it is read.
      replicas: number of replicas in all processes.
      has_first: whether the first of all replicas is in this process.
    """
    first, *others = copies
    first_part, part = parts_of(value, kind, replicas)
    first.assign(first_part if has_first else part)
    for copy in others:
        copy.assign(part)


def parts_of(value: tf.Tensor, kind: ReplicaLocal, replicas: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the parts of a whole's value that the first replica and each other one get; eager."""
    if kind.is_mean:
        return value, value
    if not value.dtype.is_integer:
        return value / replicas, value / replicas
    # TensorFlow divides integers too, and loses the remainder; the first copy keeps it.
    part = value // replicas
    return value - part * (replicas - 1), part


def _identity(node: tf.compat.v1.NodeDef) -> tf.compat.v1.NodeDef:
    identity = tf.compat.v1.NodeDef(name=node.name, op="Identity")
    identity.input.append(node.input[0])
    identity.input.extend(ref for ref in node.input if ref.startswith("^"))
    identity.attr["T"].CopyFrom(node.attr["T"])
    return identity
