"""Rewrites datasets that batch a Python generator's examples: Python is called once a batch.

``from_generator(...).batch(size)`` has a thread of TensorFlow call Python for each example, which
takes longer than most steps of a small model. The rewritten dataset's function draws the examples
of a batch itself, and joins them. It does so when tf.data would draw the first of them, so no
batch sees more of the generator than before.

If ``map``, ``shuffle`` or ``repeat`` stand between, the joined examples are taken apart again,
which is quick. A ``shuffle`` draws as many examples as fit into its buffer before its first one,
and a repetition begins within a batch. So the first examples are cut such that each batch still
draws what it drew.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.batched_maps import BATCHES, MAPS, ignores_errors
from estimator_bridge.graph.example_batches import Cut, ExampleBatches
from estimator_bridge.graph.node_maker import NodeMaker, set_attribute
from estimator_bridge.graph.row_pipelines import constant_of
from estimator_bridge.graph.snapshot import Snapshot, node_name
from estimator_bridge.tensorflow_private.generators import (
    GeneratorCalls,
    generator_calls,
    register_function,
)

__all__ = ["PADDED", "with_generators_batched"]

PADDED = "PaddedBatchDatasetV2"
_BATCH, _REPEAT, _PYTHON = "BatchDatasetV2", "RepeatDataset", "PyFunc"
_SHUFFLES = frozenset({"ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3"})
_FUNCTIONS = {"init_func": "begin", "next_func": "draw", "finalize_func": "end"}

_Nodes = Mapping[str, tf.compat.v1.NodeDef]


@dataclasses.dataclass(frozen=True)
class _Examples:
    """A generator's examples, and where they are batched.

    Attributes:
      batch: the node of the batches.
      between: the nodes from the examples to the batch, in this order; perhaps none.
      source: the node of the examples.
      calls: the generator's functions.
      cut: how the examples are cut.
    """

    batch: tf.compat.v1.NodeDef
    between: Sequence[tf.compat.v1.NodeDef]
    source: tf.compat.v1.NodeDef
    calls: GeneratorCalls
    cut: Cut


def with_generators_batched(snapshot: Snapshot, graph: tf.Graph) -> Snapshot:
    """Returns a snapshot that draws a generator's examples by the batch, with equal elements.

    Args:
      snapshot: the snapshot of the graph.
      graph: the functions that draw live as long as it.
    """
    maker = NodeMaker()
    functions = {function.signature.name: function for function in snapshot.library.function}
    for examples in [] if ignores_errors(snapshot) else _find(snapshot.nodes, functions):
        _rewrite(maker, examples, functions, graph)
    new_functions = [f for name, f in maker.functions.items() if name not in functions]
    return snapshot.with_nodes(maker.nodes, new_functions)


def _find(nodes: _Nodes, functions: Mapping[str, Any]) -> Iterable[_Examples]:
    for batch in nodes.values():
        if batch.op not in BATCHES | {PADDED} or not batch.input:
            continue
        between: list[tf.compat.v1.NodeDef] = []
        node = nodes.get(node_name(batch.input[0]))
        while node is not None and node.op in MAPS | _SHUFFLES | {_REPEAT}:
            between.insert(0, node)
            node = nodes.get(node_name(node.input[0]))
        passes: Any = 1
        if between and between[0].op == _REPEAT:
            passes = constant_of(between.pop(0).input[1], nodes)
        size, calls = _size(batch, nodes), _calls(node, nodes, functions)
        if node is None or calls is None or size is None or passes is None or passes == 0:
            continue
        cut = _cut(batch, between, nodes, size, None if passes < 0 else int(passes))
        if cut is not None:
            yield _Examples(batch, between, node, calls, cut)


def _size(batch: tf.compat.v1.NodeDef, nodes: _Nodes) -> int | None:
    """Returns the size of a batch; None if it is not known."""
    place = -3 if batch.op == "MapAndBatchDataset" else 1
    size = constant_of(batch.input[place], nodes)
    return int(size) if size is not None and size >= 1 else None


def _cut(
    batch: tf.compat.v1.NodeDef,
    between: Sequence[tf.compat.v1.NodeDef],
    nodes: _Nodes,
    size: int,
    passes: int | None,
) -> Cut | None:
    """Returns how examples are cut for a batch; None if they cannot be."""
    if not between and batch.op == _BATCH:
        drops = constant_of(batch.input[2], nodes)
        return None if drops is None else Cut(size, passes, drops_short=bool(drops))
    if not between and batch.op == PADDED:
        drops, padding = constant_of(batch.input[-1], nodes), _padding(batch, nodes)
        if drops is not None and padding is not None:
            return Cut(size, passes, drops_short=bool(drops), padding=padding)
    buffers = [constant_of(n.input[1], nodes) for n in between if n.op in _SHUFFLES]
    sizes = [int(buffer) for buffer in buffers if buffer is not None and buffer >= 1]
    if len(buffers) > 1 or len(sizes) < len(buffers):
        return None
    ahead = sum(sizes) - len(sizes)  # of what a shuffle draws
    goes_on = any(node.op == _REPEAT for node in between)
    return Cut(size, passes, ahead, may_split=True, goes_on=goes_on)


def _padding(batch: tf.compat.v1.NodeDef, nodes: _Nodes) -> list[tuple[int, Any]] | None:
    """Returns what fills a padded batch, see ``Cut``; None if an example may be too long for it."""
    count = len(batch.attr["output_shapes"].list.shape)
    sizes, values = (
        [constant_of(ref, nodes) for ref in batch.input[first : first + count]]
        for first in (2, 2 + count)
    )
    padding = [(len(s), v) for s, v in zip(sizes, values) if s is not None and v is not None]
    are_free = all(size is None or np.all(size < 0) for size in sizes)
    return padding if are_free and len(padding) == count else None


def _calls(
    node: tf.compat.v1.NodeDef | None,
    nodes: _Nodes,
    functions: Mapping[str, Any],
) -> GeneratorCalls | None:
    """Returns the functions of a generator; None if the node reads something else."""
    if node is None or node.op != "FlatMapDataset":
        return None
    generator = _only(functions.get(node.attr["f"].func.name), "GeneratorDataset")
    if generator is None or nodes[node_name(node.input[0])].op != "TensorDataset":
        return None
    bodies = [functions.get(generator.attr[name].func.name) for name in _FUNCTIONS]
    begin, draw, end = (_only(body, _PYTHON) for body in bodies)
    if begin is None or draw is None or end is None:
        return None
    return generator_calls(begin.attr["token"].s, draw.attr["token"].s)


def _only(function: Any, op: str) -> Any:
    """Returns the node of this type, if a function does no more than call it."""
    nodes = function.node_def if function is not None else ()
    calls = [node for node in nodes if node.op not in ("Identity", "NoOp")]
    return calls[0] if len(calls) == 1 and calls[0].op == op else None


def _rewrite(
    maker: NodeMaker, examples: _Examples, functions: Mapping[str, Any], graph: tf.Graph
) -> None:
    batch, source, cut = examples.batch, examples.source, examples.cut
    if not cut.may_split:
        shapes = [tf.TensorShape(s) for s in batch.attr["output_shapes"].list.shape]
        _batches(maker, examples, functions, graph, batch.name, shapes)
        return
    rows = [tf.TensorShape(s) for s in source.attr["output_shapes"].list.shape]
    shapes = [tf.TensorShape([None]) + row for row in rows]
    ref = _batches(maker, examples, functions, graph, batch.name + "/drawn", shapes)
    kinds = [tf.as_dtype(kind) for kind in source.attr["output_types"].list.type]
    slices = _slicing_function(kinds, rows)
    maker.functions[slices.signature.name] = slices
    elements = {"output_types": kinds, "output_shapes": rows}
    name = batch.name + "/apart"
    function = slices.signature.name
    ref = maker.add(name, "FlatMapDataset", [ref], f=function, Targuments=[], **elements)
    for i, node in enumerate(examples.between):
        ref = maker.copy(node, f"{batch.name}/after_{i}", ref)
    maker.copy(batch, batch.name, ref)


def _slicing_function(kinds: Sequence[tf.DType], rows: Sequence[tf.TensorShape]) -> Any:
    """Returns the FunctionDef that makes a dataset of the rows of some arrays.

    ``UnbatchDataset`` would do, but it ends the process if a row is empty.
    """
    function = tf.compat.v1.GraphDef().library.function.add()
    signature, refs = function.signature, []
    for i, kind in enumerate(kinds):
        signature.input_arg.add(name=f"array_{i}", type=kind.as_datatype_enum)
        refs.append(f"array_{i}")
    node = function.node_def.add(name="rows", op="TensorSliceDataset", input=refs)
    set_attribute(node, "Toutput_types", list(kinds))
    set_attribute(node, "output_shapes", list(rows))
    signature.output_arg.add(name="dataset", type=tf.variant.as_datatype_enum)
    function.ret["dataset"] = "rows:handle:0"
    content = repr([kinds, [str(row) for row in rows]]).encode()
    signature.name = f"estimator_bridge_rows_{hashlib.sha256(content).hexdigest()[:16]}"
    return function


def _batches(
    maker: NodeMaker,
    examples: _Examples,
    functions: Mapping[str, Any],
    graph: tf.Graph,
    name: str,
    shapes: list[tf.TensorShape],
) -> str:
    """Adds the node of the drawn batches, and returns its reference."""
    source, batches = examples.source, ExampleBatches(examples.calls, examples.cut)
    tokens = {m: register_function(graph, getattr(batches, m)) for m in _FUNCTIONS.values()}
    function_name = f"estimator_bridge_batches_{tokens['draw'].decode()}"
    function = _copy(maker, functions[source.attr["f"].func.name], function_name)
    generator = _only(function, "GeneratorDataset")
    set_attribute(generator, "output_shapes", shapes)
    for attribute, method in _FUNCTIONS.items():
        body = functions[generator.attr[attribute].func.name]
        body = _copy(maker, body, f"{function_name}_{method}")
        _only(body, _PYTHON).attr["token"].s = tokens[method]
        generator.attr[attribute].func.name = body.signature.name
    return maker.copy(source, name, source.input[0], f=function_name, output_shapes=shapes)


def _copy(maker: NodeMaker, function: Any, name: str) -> Any:
    """Adds a copy of a function under another name, and returns it."""
    copy = type(function)()
    copy.CopyFrom(function)
    copy.signature.name = name
    maker.functions[name] = copy
    return copy
