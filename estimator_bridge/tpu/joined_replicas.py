"""Replicas that stand side by side in one graph: their sums, without a TPU's own operations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tensorflow as tf

from estimator_bridge.graph.op_kinds import MEETINGS, READS
from estimator_bridge.tensorflow_private import operations_made_otherwise

__all__ = ["JoinedReplicas"]


class _Sum(NamedTuple):
    """What stands in a replica for a CrossReplicaSum."""

    own: tf.Tensor  # the replica's value
    stand_in: tf.Operation  # an Identity, of the own value until the replicas are joined
    groups: list[list[int]]


class JoinedReplicas:
    """Builds replicas one after the other, then gives each the others' part in their sums.

    Args:
      graph: of the program.
    """

    def __init__(self, graph: tf.Graph):
        self._graph = graph
        self._sums: list[list[_Sum]] = []

    @contextlib.contextmanager
    def replica(self) -> Iterator[None]:
        """Is open while the next replica is built.

        Raises:
          NotImplementedError: it exchanges values otherwise than by sums, or a second replica
            changes a variable.
        """
        graph, sums = self._graph, []

        def stand_in(inputs: Sequence[tf.Tensor], name: str | None) -> tf.Tensor:
            groups = tf.get_static_value(inputs[1])

            @tf.custom_gradient
            def summed(x: tf.Tensor):
                held = tf.identity(x)
                sums.append(_Sum(x, held.op, groups.tolist()))
                return held, lambda dy: tf.raw_ops.CrossReplicaSum(
                    input=dy, group_assignment=groups
                )

            return tf.identity(summed(inputs[0]), name=name)

        before = len(graph.get_operations())
        with operations_made_otherwise(graph, "CrossReplicaSum", stand_in):
            yield
        made = graph.get_operations()[before:]
        _check(made, is_first=not self._sums)
        for op in made:
            if "TPU_REPLICATED_CORE" in op.device:
                op._set_device("")  # of tpu.core(i): no device of this machine
        self._sums.append(sums)

    def join(self) -> None:
        """Adds up, where all replicas are built.

        Raises:
          NotImplementedError: they have different numbers of sums.
        """
        counts = [len(sums) for sums in self._sums]
        if len(set(counts)) > 1:
            raise NotImplementedError(
                "The replicas of tpu.replicate have different numbers of cross-replica sums: "
                f"{counts}. Build the same operations on each."
            )
        if len(counts) == 1:
            return  # the sum over one replica is its own value
        for together in zip(*self._sums):
            for group in together[0].groups:
                total = tf.add_n([together[i].own for i in group])
                for i in group:
                    together[i].stand_in._update_input(0, total)


def _check(operations: Sequence[tf.Operation], is_first: bool) -> None:
    for op in operations:
        if op.type in MEETINGS:
            raise NotImplementedError(
                f"{op.name!r} ({op.type}) needs a TPU inside of tpu.replicate, and there is none. "
                "Train the model with estimator_bridge.tpu.TPUEstimator, which emulates it."
            )
        resources = [x for x in op.inputs if x.dtype == tf.resource]
        writes = resources and op.type not in READS and not _initializes(op, resources[0])
        if writes and not is_first:
            raise NotImplementedError(
                f"{op.name!r} ({op.type}) changes a variable inside of tpu.replicate, tpu.shard or "
                "tpu.batch_parallel over several cores; each core would need a copy of its own, "
                "and without a TPU there is one. Train with estimator_bridge.tpu.TPUEstimator, "
                "whose replicas have theirs, or use one core."
            )


def _initializes(op: tf.Operation, handle: tf.Tensor) -> bool:
    return op.type == "AssignVariableOp" and op.name == f"{handle.op.name}/Assign"
