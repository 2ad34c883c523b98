"""Variables of which each replica keeps a value of its own, and that are read as one.

A metric's total or batch norm's moving mean is declared ``synchronization=ON_READ``: every replica
updates its own copy, and whoever reads it outside of the replicas gets the sum or the mean of the
copies. A session therefore works on one more copy, on the host: it is filled from the replicas'
before the session's function runs, and what the function wrote is dealt out to them after it.
"""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.graph.snapshot import Snapshot

__all__ = ["ReplicaLocal", "ReplicaLocals", "combined", "deal_out", "replica_locals"]

_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


@dataclasses.dataclass(frozen=True)
class ReplicaLocal:
    """How one such variable is read as a whole.

    Attributes:
      is_mean: whether it is the mean of the copies, not their sum.
      initializer: name of the operation that gives each copy the same first value.
    """

    is_mean: bool
    initializer: str


class ReplicaLocals:
    """Those of one graph, as its trace noted them.

    Attributes:
      variables: by the name of the variable's handle node.
      joins: names of the nodes that make one value of the replicas'. A session, which sees the
        one value, passes their first input through.
    """

    def __init__(self):
        self.variables: dict[str, ReplicaLocal] = {}
        self.joins: set[str] = set()

    def for_session(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot as a session runs it, with nothing left to join."""
        return snapshot.with_nodes(_identity(snapshot.nodes[name]) for name in sorted(self.joins))


def replica_locals(graph: tf.Graph) -> ReplicaLocals:
    """The notes on a graph, for its trace to write and for its session to read."""
    if graph not in _known:
        _known[graph] = ReplicaLocals()
    return _known[graph]


def combined(copies: Sequence[tf.Variable], kind: ReplicaLocal) -> tf.Tensor:
    """The value of the whole, from its copies; eager."""
    total = tf.add_n([copy.read_value() for copy in copies])
    if not kind.is_mean:
        return total
    return total // len(copies) if total.dtype.is_integer else total / len(copies)


def deal_out(
    value: tf.Tensor, copies: Sequence[tf.Variable], kind: ReplicaLocal, is_initial: bool
) -> None:
    """Gives each copy its part of the whole, as TensorFlow does when it restores one; eager.

    Args:
      value: of the whole, or the initial value of each.
      copies: of the variable.
      kind: how it is read.
      is_initial: whether the variable's initializer made the value.
    """
    first, *others = copies
    part = rest = value
    if not (is_initial or kind.is_mean):
        # TensorFlow divides whole numbers too, and loses what is left; the first copy keeps it.
        count = len(copies)
        part = value // count if value.dtype.is_integer else value / count
        rest = value - part * (count - 1) if value.dtype.is_integer else part
    first.assign(rest)
    for copy in others:
        copy.assign(part)


def _identity(node: tf.compat.v1.NodeDef) -> tf.compat.v1.NodeDef:
    replaced = tf.compat.v1.NodeDef(name=node.name, op="Identity")
    replaced.input.append(node.input[0])
    replaced.input.extend(ref for ref in node.input if ref.startswith("^"))
    replaced.attr["T"].CopyFrom(node.attr["T"])
    return replaced
