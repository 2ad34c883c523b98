"""Checks that a signature's outputs can be computed from its inputs wherever it is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.export.single_replica import is_sum_of_one
from estimator_bridge.graph.function_library import (
    called_functions,
    functions_where,
    needed_functions,
)

__all__ = ["NotRunnableError", "check_is_fed", "check_runs_anywhere"]

_PYTHON = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


class NotRunnableError(ValueError):
    """An output needs an op that works only in the exporting process or only on a TPU."""


def check_is_fed(outputs: Iterable[tf.Tensor], fed: Iterable[tf.Tensor]) -> None:
    """Checks that outputs can be computed from the fed tensors.

    Args:
      outputs: the returned tensors.
      fed: the tensors that a request feeds.

    Raises:
      ValueError: an output needs a placeholder that is not fed.
    """
    fed = list(fed)
    behind = _behind(outputs, fed)
    fed_ops = {tensor.op.name for tensor in fed}  # an op that only waits for a fed one may do so
    missing = sorted(
        op.name for op in behind if op.type == "Placeholder" and op.name not in fed_ops
    )
    if missing:
        raise ValueError(
            f"its outputs need the placeholders {missing}, which are not among the fed tensors: "
            f"{sorted(tensor.name for tensor in fed)}. Add every placeholder that features are "
            "computed from to receiver_tensors."
        )


def check_runs_anywhere(outputs: Iterable[tf.Tensor], fed: Iterable[tf.Tensor]) -> None:
    """Checks that no op behind the outputs is bound to this process or to a TPU.

    Args:
      outputs: the returned tensors.
      fed: the tensors that a request feeds.

    Raises:
      NotRunnableError: such an op exists.
    """
    behind = _behind(outputs, list(fed))
    python = _of_types(behind, _PYTHON)
    if python:
        raise NotRunnableError(
            f"it needs {python}, which call Python (tf.py_function, tf.numpy_function or "
            "tf.compat.v1.py_func). A SavedModel holds no Python code, so no other process could "
            "run it. Write that part in TensorFlow ops, or do it outside of the model in "
            "ModeKeys.PREDICT."
        )
    several = {operation for operation in behind if not is_sum_of_one(operation)}
    sums = _of_types(several, {"CrossReplicaSum"})
    if sums:
        raise NotRunnableError(
            f"it needs {sums}, sums over several cores of a TPU (CrossReplicaSum), for which CPUs "
            "and GPUs have no kernel. An export runs on one replica. Leave out group_assignment, "
            "and the sum becomes the identity; or leave out the sum in ModeKeys.PREDICT."
        )


def _behind(targets: Iterable[tf.Tensor], fed: list[tf.Tensor]) -> set[tf.Operation]:
    """Returns all operations that run to compute the targets when others are fed."""
    fed_names = {tensor.name for tensor in fed}
    worklist = [t.op for t in targets if t.name not in fed_names]
    operations: set[tf.Operation] = set()
    while worklist:
        operation = worklist.pop()
        if operation not in operations:
            operations.add(operation)
            worklist += [t.op for t in operation.inputs if t.name not in fed_names]
            worklist += operation.control_inputs
    return operations


def _of_types(operations: set[tf.Operation], types: set[str]) -> list[str]:
    """Returns names of operations of these types, or that call functions containing them."""
    nodes: dict[str, Any] = {operation.name: operation.node_def for operation in operations}
    graph = next((operation.graph for operation in operations), None)
    if graph is None:
        return []
    # Only the called functions: a library may be large.
    library = needed_functions(graph.as_graph_def().library, nodes.values())
    calling = functions_where(library, lambda node: node.op in types)
    return sorted(
        name for name, node in nodes.items() if node.op in types or called_functions(node) & calling
    )
