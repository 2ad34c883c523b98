"""Rewrites datasets of arrays' rows, so that the rows of a batch are copied at once.

``from_tensor_slices(arrays).shuffle(n).repeat().batch(size)`` copies each row of each array into an
element, and then joins the elements. The rewritten dataset does to the rows' numbers what the
program does to the rows. So their order is the same: a shuffle's depends on its seeds and on the
number of elements. Then it gathers the rows of several batches, in a thread of its own, and cuts
the result into batches. Batches of neighboring rows are slices of the arrays, mostly without a
copy.

Both replace a ``prefetch`` of the batches: to hand one over between threads takes longer than to
cut it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.node_maker import NodeMaker, set_attribute
from estimator_bridge.graph.row_pipelines import RowPipeline, find_row_pipelines, row_bytes
from estimator_bridge.graph.snapshot import Snapshot
from estimator_bridge.tensorflow_private.names import op_def

__all__ = ["GATHER", "joins_rows", "with_rows_gathered"]

GATHER = "estimator_bridge_gather_"  # the start of the names of the functions that gather
_NUMBERS = "/numbers"
_BLOCK_ROWS, _BLOCK_BYTES = 2048, 1 << 20
_LARGE_ROW = 1 << 14  # bytes; one copy more of a larger one costs more than its element


def joins_rows(node: tf.compat.v1.NodeDef) -> bool:
    """Returns whether a node of a rewritten snapshot batches elements other than numbers."""
    return node.op == "BatchDatasetV2" and not node.name.endswith(_NUMBERS)


def with_rows_gathered(snapshot: Snapshot, graph: tf.Graph) -> Snapshot:
    """Returns a snapshot that makes batches of arrays' rows in a faster way, with equal elements.

    Args:
      snapshot: the snapshot of the graph.
      graph: knows the shapes.
    """
    maker, may_slice = NodeMaker(), not _repeats(snapshot)
    pipelines = list(find_row_pipelines(snapshot, graph))
    may_read_ahead = not _restarts(snapshot, pipelines)
    for pipeline in pipelines:
        if not may_read_ahead and _reshuffles(pipeline):
            continue
        if may_slice and _is_sliceable(pipeline):
            _slice(maker, pipeline)
        elif _row_bytes(pipeline) <= _LARGE_ROW:
            _gather(maker, pipeline)
    return snapshot.with_nodes(maker.nodes, maker.functions.values())


def _repeats(snapshot: Snapshot) -> bool:
    """Returns whether a batch may be read twice: a py_function could then change both copies."""
    bodies = [snapshot.nodes.values(), *(f.node_def for f in snapshot.library.function)]
    return any("Repeat" in node.op for body in bodies for node in body)


def _restarts(snapshot: Snapshot, pipelines: Sequence[RowPipeline]) -> bool:
    """Returns whether batches may be read from the start again before their end was reached."""
    inside = {node.name for pipeline in pipelines for node in pipeline.between}
    bodies = [f.node_def for f in snapshot.library.function]
    nodes = [node for name, node in snapshot.nodes.items() if name not in inside]
    return any("Repeat" in node.op for body in [nodes, *bodies] for node in body)


def _reshuffles(pipeline: RowPipeline) -> bool:
    """Returns whether each epoch draws a seed: rows read ahead would change the next epoch's."""
    kinds = [node.op for node in pipeline.between]
    first = next((i for i, kind in enumerate(kinds) if "Shuffle" in kind), len(kinds))
    return any("Repeat" in kind for kind in kinds[first:])


def _is_sliceable(pipeline: RowPipeline) -> bool:
    is_known = all(shape.is_fully_defined() for shape in pipeline.shapes)
    return (
        is_known
        and not pipeline.between
        and (pipeline.rows >= pipeline.size or not pipeline.drops_short)
    )


def _row_bytes(pipeline: RowPipeline) -> int:
    """Returns the size of a row; components of unknown shape do not count."""
    return sum(map(row_bytes, pipeline.shapes, pipeline.types))


def _slice(maker: NodeMaker, pipeline: RowPipeline) -> None:
    """Replaces batches of neighboring rows: the full ones, and the short last one."""
    name, size = pipeline.batch.name, pipeline.size
    full, short_size = divmod(pipeline.rows, size)
    short_size = 0 if pipeline.drops_short else short_size
    slices = [("full", [full, size], 0)] if full else []
    slices += [("short", [short_size], full * size)] if short_size else []
    datasets = []
    for kind, lead, first in slices:
        columns = [
            _rows(maker, pipeline, i, f"{name}/{kind}/{i}", lead, first)
            for i in range(len(pipeline.arrays))
        ]
        datasets.append(
            maker.add(
                f"{name}/{kind}" if len(slices) > 1 else name,
                "TensorSliceDataset" if kind == "full" else "TensorDataset",
                columns,
                Toutput_types=pipeline.types,
                output_shapes=[tf.TensorShape([lead[-1]]) + shape for shape in pipeline.shapes],
            )
        )
    if len(datasets) > 1:
        maker.add(name, "ConcatenateDataset", datasets, **_elements(pipeline))
    _omit_prefetch(maker, pipeline)


def _omit_prefetch(maker: NodeMaker, pipeline: RowPipeline) -> None:
    for node in pipeline.ahead:
        maker.add(node.name, "Identity", [pipeline.batch.name + ":0"], T=tf.variant)


def _rows(
    maker: NodeMaker, pipeline: RowPipeline, i: int, name: str, lead: list[int], first: int
) -> str:
    """Adds a slice of an array, with the sizes ``lead`` in place of the number of rows."""
    ref, kind, row = pipeline.arrays[i], pipeline.types[i], pipeline.shapes[i].as_list()
    count = math.prod(lead)
    if count < pipeline.rows:
        begin = maker.constant(name + "/begin", [first, *(0 for _ in row)])
        counts = maker.constant(name + "/size", [count, *row])
        ref = maker.add(name, "Slice", [ref, begin, counts], T=kind, Index=tf.int64)
    if len(lead) > 1:
        shape = maker.constant(name + "/shape", [*lead, *row])
        ref = maker.add(name + "/batches", "Reshape", [ref, shape], T=kind, Tshape=tf.int64)
    return ref


def _gather(maker: NodeMaker, pipeline: RowPipeline) -> None:
    """Replaces rows by their numbers up to the batch, and gathers the rows of a block of batches.

    A block has enough batches that its fixed cost does not matter. The next block
    is gathered while the batches of one are used.
    """
    name, elements = pipeline.batch.name, _elements(pipeline)
    numbers = {"output_types": [tf.int64], "output_shapes": [tf.TensorShape([])]}
    limits = [maker.constant(f"{name}/limit_{i}", n) for i, n in enumerate((0, pipeline.rows, 1))]
    ref = maker.add(f"{name}/rows", "RangeDataset", limits, **numbers)
    for i, node in enumerate(pipeline.between):
        ref = maker.copy(node, f"{name}/between_{i}", ref, **numbers)
    max_rows = min(_BLOCK_ROWS, _BLOCK_BYTES // max(1, _row_bytes(pipeline)))
    batches = max(1, max_rows // pipeline.size)
    size, drops = pipeline.batch.input[1:3]
    is_block = batches > 1
    blocks = elements
    of_block = [maker.constant(name + "/block", batches * pipeline.size), _false(maker, name)]
    numbers["output_shapes"] = [tf.TensorShape([None])]
    ref = maker.add(
        name + _NUMBERS,
        "BatchDatasetV2",
        [ref, *(of_block if is_block else (size, drops))],
        **numbers,
    )
    function = _gathering_function(pipeline.types)
    maker.functions[function.signature.name] = function
    if is_block:
        shapes = [tf.TensorShape([None]) + shape for shape in pipeline.shapes]
        blocks = {**elements, "output_shapes": shapes}
    ref = maker.add(
        name + "/gathered",
        "MapDataset",
        [ref, *pipeline.arrays],
        f=function.signature.name,
        Targuments=pipeline.types,
        preserve_cardinality=True,
        **blocks,
        **_IN_TURN,
    )
    one = maker.constant(name + "/one", 1)
    ref = maker.add(name + "/ahead" if is_block else name, "PrefetchDataset", [ref, one], **blocks)
    if is_block:
        sizes = maker.constant(name + "/sizes", [pipeline.size])
        maker.add(name, "RebatchDatasetV2", [ref, sizes, drops], **elements)
        _omit_prefetch(maker, pipeline)


def _false(maker: NodeMaker, name: str) -> str:
    return maker.constant(name + "/whole", False, tf.bool)


def _elements(pipeline: RowPipeline) -> dict[str, Any]:
    """Returns the attributes of a dataset that gives the batches."""
    shapes = pipeline.batch.attr["output_shapes"].list.shape
    return {"output_types": pipeline.types, "output_shapes": [tf.TensorShape(s) for s in shapes]}


def _synchronous() -> dict[str, bool]:
    """Returns the attribute that keeps tf.data from starting threads for a map, if there is one."""
    attribute_names = {attribute.name for attribute in op_def("MapDataset").attr}
    return {"force_synchronous": True} if "force_synchronous" in attribute_names else {}


_IN_TURN = _synchronous()


def _gathering_function(kinds: Sequence[tf.DType]) -> Any:
    """Returns the FunctionDef that gathers rows, given their numbers and the arrays."""
    function = tf.compat.v1.GraphDef().library.function.add()
    signature = function.signature
    signature.name = GATHER + hashlib.sha256(repr(kinds).encode()).hexdigest()[:16]
    signature.input_arg.add(name="numbers", type=tf.int64.as_datatype_enum)
    axis = function.node_def.add(name="axis", op="Const")
    set_attribute(axis, "dtype", tf.int32)
    set_attribute(axis, "value", tf.make_tensor_proto(0, tf.int32))
    for i, kind in enumerate(kinds):
        signature.input_arg.add(name=f"array_{i}", type=kind.as_datatype_enum)
        signature.output_arg.add(name=f"rows_{i}", type=kind.as_datatype_enum)
        inputs = [f"array_{i}", "numbers", "axis:output:0"]
        gather = function.node_def.add(name=f"gather_{i}", op="GatherV2", input=inputs)
        attributes = {"Tparams": kind, "Tindices": tf.int64, "Taxis": tf.int32, "batch_dims": 0}
        for key, value in attributes.items():
            set_attribute(gather, key, value)
        function.ret[f"rows_{i}"] = f"gather_{i}:output:0"
    return function
