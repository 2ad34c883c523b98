"""Replicas that share one graph: their sums and variables, without a TPU."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.graph.op_kinds import MEETINGS
from estimator_bridge.tensorflow_private.graphs import (
    clear_device,
    control_flow_context,
    operations_made_otherwise,
    replace_input,
)
from estimator_bridge.tpu.emulated_feeds import FEEDS
from estimator_bridge.tpu.replica_variables import ReplicaVariables
from estimator_bridge.tpu.sums_in_loops import SumsInLoops

__all__ = ["JoinedReplicas"]


class _Sum(NamedTuple):
    """The replacement of a CrossReplicaSum in a replica."""

    own: tf.Tensor  # the replica's value
    stand_in: tf.Operation  # an Identity of the replica's value, until the replicas are joined
    groups: list[list[int]]


class JoinedReplicas:
    """Builds replicas one after the other, then connects their sums.

    Args:
      graph: the program's graph.
      count: the number of replicas.
    """

    def __init__(self, graph: tf.Graph, count: int):
        self._graph, self._count = graph, count
        self._sums: list[list[_Sum]] = []
        self._in_loops = SumsInLoops(graph, count)
        self._variables = ReplicaVariables(graph)

    @contextlib.contextmanager
    def replica(self) -> Iterator[None]:
        """A context to build the next replica in.

        Raises:
          NotImplementedError: the replica exchanges values other than by sums.
        """
        graph, sums, number = self._graph, [], len(self._sums)

        def stand_in(
            inputs: Sequence[tf.Tensor], name: str | None, attrs: Mapping[str, Any]
        ) -> tf.Operation:
            del attrs
            here = tf.compat.v1.get_default_graph()
            is_in_loop = here is not graph or control_flow_context(here) is not None
            groups = tf.get_static_value(inputs[1]).tolist()
            groups = groups or [list(range(self._count))]

            @tf.custom_gradient
            def sum_with_gradient(x: tf.Tensor):
                if is_in_loop:
                    total = self._in_loops.sum(x, number, groups)
                else:
                    total = tf.identity(x)
                    sums.append(_Sum(x, total.op, groups))
                return total, lambda dy: tf.raw_ops.CrossReplicaSum(
                    input=dy, group_assignment=groups
                )

            return tf.identity(sum_with_gradient(inputs[0]), name=name).op

        before = len(graph.get_operations())
        makers = {**FEEDS, "CrossReplicaSum": stand_in}
        with operations_made_otherwise(makers), self._variables.replica(number):
            yield
        operations = graph.get_operations()[before:]
        for op in operations:
            _check(op)
            if "TPU_REPLICATED_CORE" in op.device:
                clear_device(op)  # tpu.core(i) set it; this machine has no such device
        self._variables.note(operations)
        self._sums.append(sums)

    def join(self) -> None:
        """Connects the sums of all replicas, and gives each replica its own variables.

        Call it after all replicas are built.

        Raises:
          NotImplementedError: the replicas have different numbers of sums.
        """
        counts = [len(s) + n for s, n in zip(self._sums, self._in_loops.counts)]
        if len(set(counts)) > 1:
            raise NotImplementedError(
                "The replicas of tpu.replicate have different numbers of cross-replica sums: "
                f"{counts}. Build the same operations on each replica."
            )
        if self._count == 1:
            return  # the sum over one replica is its own value
        for together in zip(*self._sums):
            for group in together[0].groups:
                total = tf.add_n([together[i].own for i in group])
                for i in group:
                    replace_input(together[i].stand_in, 0, total)
        self._variables.separate(self._in_loops.empty_ops())


def _check(op: tf.Operation) -> None:
    if op.type in MEETINGS:
        raise NotImplementedError(
            f"{op.name!r} ({op.type}) inside tpu.replicate needs a TPU, and none was found. "
            "Train the model with estimator_bridge.tpu.TPUEstimator, which emulates the operation."
        )
