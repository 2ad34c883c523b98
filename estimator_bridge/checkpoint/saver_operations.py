"""The operations of a graph by which a saver writes a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tensorflow as tf

__all__ = ["MERGE", "NAME_INPUTS", "SAVE", "other_types", "saver_operations"]

MERGE, SAVE = "MergeV2Checkpoints", "SaveV2"
NAME_INPUTS = 3  # leading inputs of SAVE: the file, the tensor names and their slices
# Those that build file names and order the operations.
_BESIDE = frozenset(
    {
        "Const", "Identity", "NoOp", "Pack", "Placeholder", "PlaceholderWithDefault", "Select",
        "SelectV2", "ShardedFilename", "StaticRegexFullMatch", "StringJoin",
    }
)  # fmt: skip


def saver_operations(fetch: tf.Operation) -> Sequence[tf.Operation]:
    """Returns the operations that a save runs, without those of its values, in a fixed order.

    Args:
      fetch: the operation that the saver runs to save.
    """
    operations: dict[str, tf.Operation] = {}
    worklist = [fetch]
    while worklist:
        operation = worklist.pop()
        if operation.name in operations:
            continue
        operations[operation.name] = operation
        count = NAME_INPUTS if operation.type == SAVE else len(operation.inputs)
        above = [tensor.op for tensor in operation.inputs[:count]]
        worklist += [*operation.control_inputs, *above]
    return [operations[name] for name in sorted(operations)]


def other_types(operations: Iterable[tf.Operation]) -> list[str]:
    """Returns the types, in order, of operations that are not part of every saver.

    Args:
      operations: of a saver.
    """
    return sorted({op.type for op in operations} - _BESIDE - {MERGE, SAVE})
