"""Rewrites datasets that map single examples before they batch them: the map takes the batch.

``map(f).batch(size)`` calls ``f`` for each example, which takes longer than a small model's step.
If ``f`` has a form for batches that gives the same bits, that form is called once for each batch.
``shuffle``, ``repeat``, ``skip`` and ``take`` between the two get the examples before the map, in
the same order. An example that ``f`` cannot take, such as a damaged record, is an error of the
batch that it is in, as before; with a shuffle between, of the batch that would use it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.batched_functions import batched_function
from estimator_bridge.graph.node_maker import NodeMaker
from estimator_bridge.graph.row_pipelines import BLIND
from estimator_bridge.graph.snapshot import Snapshot, node_name, tensor_ref

__all__ = ["BATCHES", "MAPS", "ignores_errors", "maps_of_single_examples", "with_maps_batched"]

_FUSED = "MapAndBatchDataset"
BATCHES = frozenset({"BatchDatasetV2", "ParallelBatchDataset", _FUSED})
MAPS = frozenset({"MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2"})
_PASSED = BLIND | {"PrefetchDataset"}


@dataclasses.dataclass(frozen=True)
class _MappedBatches:
    """A batch, and what can move behind it.

    Attributes:
      batch: the node of the batches.
      source: the node of the examples before the first map.
      between: the nodes from there to the batch that are no maps, in this order.
      maps: the maps, in this order, each with its function of a batch.
    """

    batch: tf.compat.v1.NodeDef
    source: tf.compat.v1.NodeDef
    between: Sequence[tf.compat.v1.NodeDef]
    maps: Sequence[tuple[tf.compat.v1.NodeDef, Any]]


def with_maps_batched(snapshot: Snapshot, graph: tf.Graph) -> Snapshot:
    """Returns a snapshot that maps batches instead of single examples, with equal elements.

    Args:
      snapshot: the snapshot of the graph.
      graph: knows the shapes.
    """
    maker = NodeMaker()
    for mapped in _find(snapshot, graph):
        _move(maker, mapped)
    library = {function.signature.name for function in snapshot.library.function}
    functions = [f for name, f in maker.functions.items() if name not in library]
    return snapshot.with_nodes(maker.nodes, functions)


def maps_of_single_examples(snapshot: Snapshot, graph: tf.Graph) -> set[str]:
    """Returns the names of the maps that ``with_maps_batched`` moves behind their batch."""
    return {node.name for mapped in _find(snapshot, graph) for node, _ in mapped.maps}


def ignores_errors(snapshot: Snapshot) -> bool:
    """Returns whether a dataset goes on after an error, which would take its whole batch along."""
    bodies = [snapshot.nodes.values(), *(f.node_def for f in snapshot.library.function)]
    return any("IgnoreErrors" in node.op for body in bodies for node in body)


def _find(snapshot: Snapshot, graph: tf.Graph) -> Iterable[_MappedBatches]:
    batches = [n for n in snapshot.nodes.values() if n.op in BATCHES]
    if not batches:
        return
    if ignores_errors(snapshot):
        return
    functions = {function.signature.name: function for function in snapshot.library.function}
    for batch in batches:
        mapped = _mapped(batch, snapshot, graph, functions)
        if mapped is not None:
            yield mapped


def _mapped(
    batch: tf.compat.v1.NodeDef, snapshot: Snapshot, graph: tf.Graph, functions: dict[str, Any]
) -> _MappedBatches | None:
    node = batch if batch.op == _FUSED else snapshot.nodes[node_name(batch.input[0])]
    first = node  # the examples before the first map that moves
    between: list[Any] = []
    passed: list[Any] = []  # between the last map that moves and the next one
    maps: list[tuple[Any, Any]] = []
    while True:
        source = snapshot.nodes.get(node_name(node.input[0])) if node.input else None
        if node.op in _PASSED:
            passed.insert(0, node)
        elif source is not None and (node.op in MAPS or node.op == _FUSED):
            function = _function_of_batch(node, source, graph, functions)
            if function is None:
                break
            maps.insert(0, (node, function))
            between, passed, first = [*passed, *between], [], source
        else:
            break
        if source is None:
            break
        node = source
    return _MappedBatches(batch, first, between, maps) if maps else None


def _function_of_batch(
    node: tf.compat.v1.NodeDef,
    source: tf.compat.v1.NodeDef,
    graph: tf.Graph,
    functions: dict[str, Any],
) -> Any:
    """Returns the function of a batch of a map's examples; None if it has none."""
    function = functions.get(node.attr["f"].func.name)
    kinds, shapes = _elements(source)
    is_known = bool(shapes) and all(shape.is_fully_defined() for shape in shapes)
    if function is None or not is_known or {tf.variant, tf.resource}.intersection(kinds):
        return None
    captured = len(node.attr["Targuments"].list.type)
    refs = [tensor_ref(ref) for ref in node.input[1 : 1 + captured]]
    results = [tf.TensorShape(shape) for shape in node.attr["output_shapes"].list.shape]
    if node.op == _FUSED:
        results = [shape[1:] for shape in results]
    return batched_function(function, shapes, [_shape(ref, graph) for ref in refs], results)


def _elements(node: tf.compat.v1.NodeDef) -> tuple[list[tf.DType], list[tf.TensorShape]]:
    """Returns the types and the shapes of a dataset's elements; empty if they are not known."""
    key = "Toutput_types" if "Toutput_types" in node.attr else "output_types"
    kinds = node.attr[key].list.type if key in node.attr else ()
    shapes = node.attr["output_shapes"].list.shape if kinds else ()
    return [tf.as_dtype(kind) for kind in kinds], [tf.TensorShape(shape) for shape in shapes]


def _shape(ref: str, graph: tf.Graph) -> tf.TensorShape:
    try:
        return graph.get_tensor_by_name(ref).shape
    except KeyError:  # the node was added to the snapshot
        return tf.TensorShape(None)


def _move(maker: NodeMaker, mapped: _MappedBatches) -> None:
    """Adds the nodes: what was between, the batch, then the maps."""
    name, source = mapped.batch.name, mapped.source
    kinds, shapes = _elements(source)
    ref = source.name
    for i, node in enumerate(mapped.between):
        ref = maker.copy(node, f"{name}/between_{i}", ref, output_types=kinds, output_shapes=shapes)
    size = tf.TensorShape(mapped.batch.attr["output_shapes"].list.shape[0])[:1]
    batch_shapes = [size + shape for shape in shapes]
    if mapped.batch.op == _FUSED:
        sizes = _of_fused(mapped.batch)
        elements = {"output_types": kinds, "output_shapes": batch_shapes}
        ref = maker.add(f"{name}/examples", "BatchDatasetV2", [ref, *sizes], **elements)
    else:
        ref = maker.copy(
            mapped.batch, f"{name}/examples", ref, output_types=kinds, output_shapes=batch_shapes
        )
    for i, (node, function) in enumerate(mapped.maps):
        is_last = i == len(mapped.maps) - 1
        elements = {"output_shapes": _batched_shapes(node, size)}
        _map(maker, node, name if is_last else f"{name}/map_{i}", ref, function, elements)
        ref = maker.nodes[-1].name + ":0"


def _of_fused(node: tf.compat.v1.NodeDef) -> list[str]:
    """Returns the references of the batch size and of whether a short batch is left out."""
    size, _, drops = node.input[-3:]
    return [size, drops]


def _batched_shapes(node: tf.compat.v1.NodeDef, size: tf.TensorShape) -> list[tf.TensorShape]:
    shapes = [tf.TensorShape(shape) for shape in node.attr["output_shapes"].list.shape]
    return shapes if node.op == _FUSED else [size + shape for shape in shapes]


def _map(
    maker: NodeMaker,
    node: tf.compat.v1.NodeDef,
    name: str,
    ref: str,
    function: Any,
    elements: dict[str, Any],
) -> None:
    maker.functions[function.signature.name] = function
    attributes = {"f": function.signature.name, **elements}
    if node.op != _FUSED:
        maker.copy(node, name, ref, **attributes)
        return
    captured = node.input[1:-3]
    parallel = maker.constant(name + "/parallel", tf.data.AUTOTUNE)
    maker.add(name, "ParallelMapDatasetV2", [ref, *captured, parallel], **attributes)
    for key in ("Targuments", "output_types", "preserve_cardinality"):
        maker.nodes[-1].attr[key].CopyFrom(node.attr[key])
