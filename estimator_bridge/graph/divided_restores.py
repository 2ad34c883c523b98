"""Divides the reading of a checkpoint among threads.

TensorFlow's ``RestoreV2`` reads tensors of over 2^24 elements side by side and all others one
after another, although reading computes checksums and is not only a matter of the disk. So the
others are read by several operations. An ``IdentityN`` of the operation's name passes all values
on, so that still nothing is assigned if one of them cannot be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import tensorflow as tf

from estimator_bridge.graph.effects import Effects
from estimator_bridge.graph.node_maker import NodeMaker
from estimator_bridge.graph.op_kinds import READS
from estimator_bridge.graph.row_pipelines import row_bytes
from estimator_bridge.graph.snapshot import Snapshot

__all__ = ["restored_contents", "with_restores_divided"]

# These change the same state in the same way again, unless a variable's value is read too.
_REPEATABLE = {"AssignVariableOp", "LookupTableImportV2", "RestoreV2"}
_PARTS = min(os.cpu_count() or 1, 8)
_PART_BYTES = 8 << 20  # a few milliseconds of reading; an operation more costs a tenth of one
_READ_IN_THREADS = 1 << 24  # elements; larger tensors are read in RestoreV2's own threads


def restored_contents(
    operation: tf.Operation,
) -> Iterator[tuple[str, str, tf.TensorShape, tf.DType]]:
    """Yields the name, slice, full shape and type of each value that a RestoreV2 reads.

    A shape is unknown if the graph does not show it. Yields nothing if the graph computes names.

    Args:
      operation: the RestoreV2.
    """
    names, slices = (_strings(tensor) for tensor in operation.inputs[1:3])
    for name, part, output in zip(names, slices, operation.outputs):
        yield name, part, _full_shape(part, output), output.dtype.base_dtype


def with_restores_divided(snapshot: Snapshot, names: Iterable[str], graph: tf.Graph) -> Snapshot:
    """Returns a snapshot that reads the same values of checkpoints in several threads.

    If several values cannot be read, it depends on luck which of them an error names.

    Args:
      snapshot: the snapshot of the graph.
      names: the nodes that will run.
      graph: knows names and shapes.

    Returns:
      The given snapshot if there is nothing to gain, or if the nodes must not run twice: after an
      error they run again, undivided.
    """
    names, effects = list(names), Effects.of(snapshot)
    for node in map(snapshot.nodes.__getitem__, names):
        if node.op in READS or (effects.changes_state(node) and node.op not in _REPEATABLE):
            return snapshot
    maker = NodeMaker()
    for name in names:
        if snapshot.nodes[name].op == "RestoreV2":
            _divide(maker, snapshot.nodes[name], graph.get_operation_by_name(name))
    return snapshot.with_nodes(maker.nodes)


def _divide(maker: NodeMaker, node: tf.compat.v1.NodeDef, operation: tf.Operation) -> None:
    contents = list(restored_contents(operation))
    parts = _parts([_size(shape, kind) for _, _, shape, kind in contents])
    if len(parts) < 2:
        return
    refs = {}
    for i, part in enumerate(parts):
        name = f"{node.name}/part_{i}"
        keys, slices, _, kinds = zip(*(contents[j] for j in part))
        inputs = [
            node.input[0],
            maker.constant(f"{name}/tensor_names", keys, tf.string),
            maker.constant(f"{name}/shape_and_slices", slices, tf.string),
            *(ref for ref in node.input[3:]),
        ]
        maker.add(name, "RestoreV2", inputs, dtypes=list(kinds))
        refs.update({j: f"{name}:{output}" for output, j in enumerate(part)})
    values = [refs[j] for j in range(len(contents))]
    maker.add(node.name, "IdentityN", values, T=[kind for *_, kind in contents])


def _parts(sizes: list[int | None]) -> list[list[int]]:
    """Divides values among operations.

    Args:
      sizes: their bytes; None for one that is read in threads anyway.

    Returns:
      The positions of each operation's values: neighbors, which lie side by side in the file.
    """
    alone = [i for i, size in enumerate(sizes) if size is None]
    total = sum(size for size in sizes if size is not None)
    count = min(_PARTS, total // _PART_BYTES)
    if count < 2:
        return []
    parts: list[list[int]] = [[] for _ in range(count)]
    before = 0
    for i, size in enumerate(sizes):
        if size is not None:
            parts[min(before * count // total, count - 1)].append(i)
            before += size
    return [part for part in [alone, *parts] if part]


def _size(shape: tf.TensorShape, kind: tf.DType) -> int | None:
    elements = shape.num_elements()
    return None if elements is not None and elements > _READ_IN_THREADS else row_bytes(shape, kind)


def _strings(tensor: tf.Tensor) -> list[str]:
    values = tf.get_static_value(tensor)
    return [] if values is None else [tf.compat.as_str(value) for value in values]


def _full_shape(part: str, output: tf.Tensor) -> tf.TensorShape:
    """Returns the shape of the variable behind a RestoreV2's output."""
    if part:  # "6 2 0,3:0,2": the full shape, then the slice's rows and columns
        return tf.TensorShape([int(size) for size in part.split()[:-1]])
    for consumer in output.consumers():
        if consumer.type == "Identity":
            return _full_shape(part, consumer.outputs[0])
        if consumer.type == "AssignVariableOp" and consumer.inputs[0].op.type == "VarHandleOp":
            return tf.TensorShape(consumer.inputs[0].op.get_attr("shape"))
        if consumer.type == "Assign":
            return consumer.inputs[0].shape
    return tf.TensorShape(None)
