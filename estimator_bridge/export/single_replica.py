"""Sums over replicas in a graph that is exported for a single replica."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["is_sum_of_one", "write_sums_as_identities"]

_SUM = "CrossReplicaSum"


def is_sum_of_one(operation: tf.Operation) -> bool:
    """Returns whether an operation is a sum over a single replica, which changes nothing.

    In an export, TensorFlow's CrossShardOptimizer and cross_replica_sum assume one replica. A
    program that sets the group assignment itself may sum over more.
    """
    if operation.type != _SUM:
        return False
    groups = tf.get_static_value(operation.inputs[1])
    return groups is not None and groups.ndim == 2 and groups.shape[1] == 1


def write_sums_as_identities(graph: tf.Graph, graph_def: tf.compat.v1.GraphDef) -> None:
    """Replaces sums over one replica with identities: only TPUs have a kernel for the sum.

    A session places every op of a graph on a device, even ops that no output needs: a single sum
    would keep a CPU from loading the graph.

    Args:
      graph: the traced graph.
      graph_def: its serialized form that is to be written; changed in place.
    """
    for node in graph_def.node:
        if node.op == _SUM and is_sum_of_one(graph.get_operation_by_name(node.name)):
            value, _, *after = node.input
            node.op = "Identity"
            node.input[:] = [value, *after]
