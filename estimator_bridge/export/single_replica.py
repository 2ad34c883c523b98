"""Sums over the replicas, in a graph that is exported for one."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["is_sum_of_one", "write_sums_as_identities"]

_SUM = "CrossReplicaSum"


def is_sum_of_one(operation: tf.Operation) -> bool:
    """Whether an operation adds up the values of a single replica each, and so changes nothing.

    Where a graph is exported, TensorFlow's CrossShardOptimizer and cross_replica_sum assume one
    replica. A program that names the groups itself may mean more.
    """
    if operation.type != _SUM:
        return False
    groups = tf.get_static_value(operation.inputs[1])
    return groups is not None and groups.ndim == 2 and groups.shape[1] == 1


def write_sums_as_identities(graph: tf.Graph, graph_def: tf.compat.v1.GraphDef) -> None:
    """Makes a graph that is to be written runnable without a TPU, the only one with such a kernel.

    A session places all of a graph on devices, also what nobody asks for: a single sum would keep
    a CPU from loading it.

    Args:
      graph: as it was traced.
      graph_def: the same, as it is to be written; changed in place.
    """
    for node in graph_def.node:
        if node.op == _SUM and is_sum_of_one(graph.get_operation_by_name(node.name)):
            value, _, *after = node.input
            node.op = "Identity"
            node.input[:] = [value, *after]
