"""Finds the operations that a tensor is computed from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import tensorflow as tf

__all__ = ["ancestors"]


def ancestors(targets: Iterable[Any], boundary: Collection[Any] = ()) -> set[tf.Operation]:
    """Finds all operations that run before the targets, including the targets' own.

    Args:
      targets: tensors and operations of one graph.
      boundary: operations where the search stops.

    Returns:
      The operations.
    """
    worklist = [target if isinstance(target, tf.Operation) else target.op for target in targets]
    operations: set[tf.Operation] = set()
    while worklist:
        operation = worklist.pop()
        if operation in operations:
            continue
        operations.add(operation)
        if operation not in boundary:
            worklist += [tensor.op for tensor in operation.inputs]
            worklist += operation.control_inputs
    return operations
