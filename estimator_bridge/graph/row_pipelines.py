"""Finds the batches of arrays' rows among a graph's datasets."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref

__all__ = ["BLIND", "RowPipeline", "constant_of", "find_row_pipelines", "row_bytes"]

_REPEATS = frozenset({"RepeatDataset"})
# What these do to elements depends on their number and order, and on nothing in them.
BLIND = _REPEATS | {
    "ShuffleDataset",
    "ShuffleDatasetV2",
    "ShuffleDatasetV3",
    "ShuffleAndRepeatDataset",
    "ShuffleAndRepeatDatasetV2",
    "SkipDataset",
    "TakeDataset",
}


@dataclasses.dataclass(frozen=True)
class RowPipeline:
    """``from_tensor_slices(arrays)``, perhaps ``shuffle`` or ``repeat``, then ``batch``.

    Attributes:
      batch: the node of the batches.
      ahead: the nodes that prefetch the batches: none, or one for each use of them.
      between: the nodes from the rows to the batches, in this order; perhaps none.
      arrays: references of the arrays.
      source: the node of the rows.
      rows: the number of rows of each array.
      size: the number of rows of a batch.
      drops_short: whether a short last batch is left out.
    """

    batch: tf.compat.v1.NodeDef
    ahead: tuple[tf.compat.v1.NodeDef, ...]
    between: tuple[tf.compat.v1.NodeDef, ...]
    source: tf.compat.v1.NodeDef
    arrays: tuple[str, ...]
    rows: int
    size: int
    drops_short: bool

    @property
    def types(self) -> list[tf.DType]:
        """The types of the arrays."""
        return [tf.as_dtype(kind) for kind in self.source.attr["Toutput_types"].list.type]

    @property
    def shapes(self) -> list[tf.TensorShape]:
        """The shapes of a row."""
        return [tf.TensorShape(s) for s in self.source.attr["output_shapes"].list.shape]


def row_bytes(shape: tf.TensorShape, kind: tf.DType) -> int:
    """Returns the size of a value; 0 if it is not known."""
    return math.prod(shape.as_list()) * kind.size if shape.is_fully_defined() else 0


def find_row_pipelines(snapshot: Snapshot, graph: tf.Graph) -> Iterator[RowPipeline]:
    """Yields the pipelines of a graph whose arrays have known numbers of rows."""
    ahead: dict[str, list[Any]] = {}  # by the node whose elements it prefetches
    for node in snapshot.nodes.values():
        if node.op == "PrefetchDataset":
            ahead.setdefault(node_name(node.input[0]), []).append(node)
    for node in snapshot.nodes.values():
        if node.op == "BatchDatasetV2":
            pipeline = _pipeline(node, ahead.get(node.name, ()), snapshot, graph)
            if pipeline is not None:
                yield pipeline


def _pipeline(
    batch: tf.compat.v1.NodeDef,
    ahead: Sequence[tf.compat.v1.NodeDef],
    snapshot: Snapshot,
    graph: tf.Graph,
) -> RowPipeline | None:
    nodes = snapshot.nodes
    between: list[Any] = []
    node = nodes[node_name(batch.input[0])]
    while node.op in BLIND:
        between.insert(0, node)
        node = nodes[node_name(node.input[0])]
    size = constant_of(batch.input[1], nodes)
    drops = constant_of(batch.input[2], nodes)
    if node.op != "TensorSliceDataset" or node.attr["is_files"].b or size is None or drops is None:
        return None
    arrays = tuple(tensor_ref(ref) for ref in node.input if not ref.startswith("^"))
    counts = {_rows(ref, snapshot, graph) for ref in arrays}
    count = counts.pop()
    if counts or not count or size < 1:
        return None
    pipeline = RowPipeline(
        batch, tuple(ahead), tuple(between), node, arrays, count, int(size), bool(drops)
    )
    return None if {tf.variant, tf.resource}.intersection(pipeline.types) else pipeline


def constant_of(ref: str, nodes: Mapping[str, Any]) -> np.ndarray | None:
    """Returns a constant's value; None if the reference is of another node."""
    node = nodes[node_name(ref)]
    return tf.make_ndarray(node.attr["value"].tensor)[()] if node.op == "Const" else None


def _rows(ref: str, snapshot: Snapshot, graph: tf.Graph) -> int | None:
    """Returns the size of an array's first dimension; None if the graph does not know it."""
    node = snapshot.nodes[node_name(ref)]
    while node.op == "Identity":
        ref = tensor_ref(node.input[0])
        node = snapshot.nodes[node_name(ref)]
    if ref in snapshot.constants:
        shape = snapshot.constants[ref].shape
    elif node.op == "Const":
        shape = tf.TensorShape(node.attr["value"].tensor.tensor_shape)
    else:
        try:
            shape = graph.get_tensor_by_name(ref).shape
        except KeyError:  # the node was added to the snapshot
            return None
    return shape.as_list()[0] if shape.rank else None
