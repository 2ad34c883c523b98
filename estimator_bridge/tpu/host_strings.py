"""Moves the strings that a replica would compute at a step's end to the host.

Neither a TPU nor XLA has strings: a classifier's ``classes`` are numbers on a replica, and become
words on the host, of each replica's values by themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from estimator_bridge.graph.op_kinds import V1_CONTROL_FLOW

__all__ = ["computed_by_host"]


def computed_by_host(
    tensor: tf.Tensor, gather: Callable[[tf.Tensor], tf.Tensor], replicas: int
) -> tf.Tensor | None:
    """Returns the strings of all replicas, computed from their numbers.

    Args:
      tensor: strings of a replica, with a first dimension of static size.
      gather: returns the counterpart of a replica's tensor of numbers [n, ...], with the values of
        all replicas: [replicas * n, ...].
      replicas: the number of replicas.

    Returns:
      The strings of all replicas, one's after the other's. None if the host cannot compute them
      from numbers: they come from the input, change state or are made under a condition.
    """
    operations, numbers = _end_of_step(tensor)
    if not all(map(_can_move, operations)):
        return None
    of_all = {}
    for number in numbers:
        if number.dtype == tf.resource:  # a table's
            continue
        if not number.shape.is_fully_defined():
            return None
        of_all[number.name] = gather(number if number.shape.rank else tf.reshape(number, [1]))
    graph_def = tf.compat.v1.GraphDef(node=[operation.node_def for operation in operations])
    graph_def.versions.CopyFrom(tensor.graph.graph_def_versions)
    parts = []
    for replica in range(replicas):
        values = {n.name: _of_replica(of_all[n.name], n, replica) if n.name in of_all else n
                  for n in numbers}  # fmt: skip
        (part,) = tf.graph_util.import_graph_def(
            graph_def, values, [tensor.name], name="strings/" + tensor.op.name
        )
        part.set_shape(tensor.shape)
        parts.append(part)
    return tf.concat(parts, 0) if replicas > 1 else parts[0]


def _end_of_step(tensor: tf.Tensor) -> tuple[list[tf.Operation], list[tf.Tensor]]:
    """Returns the operations on strings before a tensor, and the tensors that they start from."""
    operations: dict[str, tf.Operation] = {}
    numbers: dict[str, tf.Tensor] = {}
    left = [tensor]
    while left:
        tensor = left.pop()
        operation = tensor.op
        if operation.name in operations:
            continue
        has_strings = any(t.dtype == tf.string for t in (*operation.inputs, *operation.outputs))
        if has_strings or operation.type == "Const":
            operations[operation.name] = operation
            left.extend(operation.inputs)
        else:
            numbers[tensor.name] = tensor
    return list(operations.values()), list(numbers.values())


def _can_move(operation: tf.Operation) -> bool:
    if operation.control_inputs or operation.type in V1_CONTROL_FLOW:
        return False
    if operation.type == "LookupTableFindV2":
        return True  # stateful, as the table may change
    is_source = not operation.inputs and operation.type != "Const"
    return not (is_source or operation.op_def.is_stateful)


def _of_replica(rows: tf.Tensor, of_one: tf.Tensor, replica: int) -> tf.Tensor:
    if not of_one.shape.rank:
        return rows[replica]
    count = of_one.shape[0]
    return rows[replica * count : (replica + 1) * count]
