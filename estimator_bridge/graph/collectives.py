"""Replica exchanges that only a TPU has kernels for, expressed as sums.

A replica that contributes zeros does not change a sum. So each value to exchange goes into a row of
its own, and the rows are summed over the replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.placement import without_placement

__all__ = ["REPLICA_ID", "spread_collectives"]

# An int32 scalar placeholder for the replica's number; `Lifted` supplies its value.
REPLICA_ID = "estimator_bridge/replica_id:0"

_ONE_GROUP = [[0]]  # of all replicas


def spread_collectives(nodes: Iterable[tf.compat.v1.NodeDef]) -> list[tf.compat.v1.NodeDef]:
    """Replaces AllToAll and CollectivePermute by sums, and XlaReplicaId by a placeholder's value.

    Args:
      nodes: the nodes of a graph, in creation order.

    Returns:
      The nodes, with each replacement at the position of its original.

    Raises:
      ValueError: the partners of such a node are not constant.
    """
    nodes = list(nodes)
    if not any(node.op in _SPREAD or node.op == "XlaReplicaId" for node in nodes):
        return nodes
    by_name = {node.name: node for node in nodes}
    replica_id = REPLICA_ID[: -len(":0")]
    result = []
    if replica_id not in by_name:
        placeholder = tf.compat.v1.NodeDef(name=replica_id, op="Placeholder")
        placeholder.attr["dtype"].type = tf.int32.as_datatype_enum
        result.append(placeholder)
    for node in nodes:
        if node.op in _SPREAD:
            result += _spread(node, _partners(node, by_name), replica_id)
        elif node.op == "XlaReplicaId":  # its kernel aborts the process on a CPU
            same = tf.compat.v1.NodeDef(name=node.name, op="Identity", input=[replica_id])
            same.attr["T"].type = tf.int32.as_datatype_enum
            result.append(same)
        else:
            result.append(node)
    return result


def _partners(
    node: tf.compat.v1.NodeDef, by_name: Mapping[str, tf.compat.v1.NodeDef]
) -> np.ndarray:
    """Returns the constant value of a node's partners (pairs or groups of replicas)."""
    names, worklist = set(), [node.input[1]]
    while worklist:
        name = worklist.pop().lstrip("^").split(":")[0]
        if name not in names:
            names.add(name)
            worklist += by_name[name].input
            if by_name[name].op == "Placeholder":
                raise ValueError(
                    f"The partners of {node.op} {node.name!r} must be a constant list of lists of "
                    f"replica numbers, got a value that depends on {name!r}."
                )
    # The gradient of such an op reverses its pairs by an expression, not by a Const.
    graph_def = tf.compat.v1.GraphDef(
        node=[without_placement(by_name[name]) for name in sorted(names)]
    )
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        (tensor,) = tf.graph_util.import_graph_def(graph_def, {}, [node.input[1]], name="")
        return session.run(getattr(tensor, "outputs", [tensor])[0])


def _spread(
    node: tf.compat.v1.NodeDef, partners: np.ndarray, replica_id: str
) -> list[tf.compat.v1.NodeDef]:
    with tf.Graph().as_default() as graph:
        value = tf.compat.v1.placeholder(tf.as_dtype(node.attr["T"].type), name="value")
        number = tf.compat.v1.placeholder(tf.int32, [], name="number")
        with tf.name_scope("spread"):
            output = _SPREAD[node.op](value, number, partners, node.attr)
        tf.identity(output, name="output")
    names = {"value": node.input[0], "number": replica_id, "output": node.name}
    parts = []
    for part in graph.as_graph_def().node:
        if part.op != "Placeholder":
            part.name = names.get(part.name, f"{node.name}/{part.name}")
            part.input[:] = [_rename(ref, node.name, names) for ref in part.input]
            parts.append(part)
    parts[-1].input.extend(ref for ref in node.input if ref.startswith("^"))
    return parts


def _rename(ref: str, prefix: str, names: dict[str, str]) -> str:
    name, colon, index = ref.lstrip("^").partition(":")
    caret = "^" if ref.startswith("^") else ""
    return caret + names.get(name, f"{prefix}/{name}{colon}{index}")


def _permute(
    value: tf.Tensor, number: tf.Tensor, pairs: np.ndarray, attributes: Mapping[str, Any]
) -> tf.Tensor:
    """Returns the value of the replica that sends to this one, or zeros if none does."""
    del attributes
    nothing = tf.zeros_like(value)
    rows = [tf.where(tf.equal(number, source), value, nothing) for source, _ in pairs]
    received_rows = tf.unstack(_sum(tf.stack(rows)), num=len(pairs))
    return tf.add_n(
        [
            tf.where(tf.equal(number, target), row, nothing)
            for (_, target), row in zip(pairs, received_rows)
        ]
    )


def _all_to_all(
    value: tf.Tensor, number: tf.Tensor, groups: np.ndarray, attributes: Mapping[str, Any]
) -> tf.Tensor:
    """Concatenates the parts that each replica of the group sends to this one."""
    axis, parts = attributes["split_dimension"].i, attributes["split_count"].i
    nothing = tf.zeros_like(value)
    rows = [tf.where(tf.equal(number, i), value, nothing) for i in range(groups.size)]
    everyone = _sum(tf.stack(rows))
    group_of, place_of = np.zeros(groups.size, np.int32), np.zeros(groups.size, np.int32)
    for i, members in enumerate(groups):
        group_of[members], place_of[members] = i, np.arange(len(members))
    members = tf.gather(tf.constant(groups, tf.int32), tf.gather(group_of, number))
    place = tf.gather(place_of, number)
    values = tf.unstack(tf.gather(everyone, members), num=groups.shape[1])
    own_parts = [tf.gather(tf.stack(tf.split(each, parts, axis)), place) for each in values]
    return tf.concat(own_parts, attributes["concat_dimension"].i)


def _sum(rows: tf.Tensor) -> tf.Tensor:
    return tf.raw_ops.CrossReplicaSum(input=rows, group_assignment=tf.constant(_ONE_GROUP))


_SPREAD: dict[str, Callable[..., tf.Tensor]] = {
    "AllToAll": _all_to_all,
    "CollectivePermute": _permute,
}
