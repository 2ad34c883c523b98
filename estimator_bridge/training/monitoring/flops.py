"""Counts the floating-point operations of a step in its traced graph."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.graph.function_library import called_functions
from estimator_bridge.graph.snapshot import node_name, tensor_ref
from estimator_bridge.training.monitoring.flop_rules import RULES, UnknownShapeError, flops_of

__all__ = ["StepFlops", "count_flops"]

# Attributes that a copy with other shapes and fewer nodes cannot keep.
_OF_THE_GRAPH = ("_class", "_output_shapes")


@dataclasses.dataclass(frozen=True)
class StepFlops:
    """The matrix products and convolutions of one replica's step.

    Attributes:
      total: floating-point operations.
      by_type: the same by type of operation, the largest first.
      dtypes: by dtype of the products, the same.
      missing: why the count is too small; "" if it is complete.
    """

    total: int
    by_type: Mapping[str, int] = dataclasses.field(default_factory=dict)
    dtypes: Mapping[str, int] = dataclasses.field(default_factory=dict)
    missing: str = ""


def count_flops(
    graph: tf.Graph, names: Sequence[str], shapes: Mapping[str, Sequence[int | None]]
) -> StepFlops:
    """Counts the operations of a step.

    Args:
      graph: the traced graph.
      names: the nodes that a replica computes in a step.
      shapes: the shapes of one replica's batch, by the reference of its tensor.
    """
    snapshot = Snapshot.of(graph)
    by_type: Counter[str] = Counter()
    dtypes: Counter[str] = Counter()
    unknown: list[str] = []
    for operation in _with_shapes(graph, snapshot, names, shapes).get_operations():
        try:
            count = flops_of(operation)
        except UnknownShapeError:
            unknown.append(operation.name)
            continue
        if count:
            by_type[operation.type] += count
            dtypes[operation.outputs[0].dtype.base_dtype.name] += count
    hidden = _hidden_products(snapshot, names)
    reasons = []
    if unknown:
        reasons.append(f"{len(unknown)} products of unknown shape, such as {unknown[0]}")
    if hidden:
        reasons.append(f"products in functions, loops or branches, such as {hidden[0]}")
    total = sum(by_type.values())
    return StepFlops(
        total, dict(by_type.most_common()), dict(dtypes.most_common()), "; ".join(reasons)
    )


def _with_shapes(
    graph: tf.Graph,
    snapshot: Snapshot,
    names: Sequence[str],
    shapes: Mapping[str, Sequence[int | None]],
) -> tf.Graph:
    """Returns a copy of the step's graph in which a batch has these shapes."""
    copied_names = set(names) - {node_name(ref) for ref in snapshot.constants}
    inputs: dict[str, Any] = {}
    graph_def = tf.compat.v1.GraphDef(versions=snapshot.versions, library=snapshot.library)
    for name in names:
        if name not in copied_names:
            continue
        node = graph_def.node.add()
        node.CopyFrom(snapshot.nodes[name])
        node.device = ""
        for attribute in _OF_THE_GRAPH:
            node.attr.pop(attribute, None)
        del node.input[:]
        for ref in snapshot.nodes[name].input:
            if ref.startswith("^"):
                continue  # orders nothing that has a shape
            if node_name(ref) not in copied_names:
                inputs[tensor_ref(ref)] = None
            node.input.append(ref)
    static = tf.Graph()
    with static.as_default():
        for ref in inputs:
            name, _, output = ref.partition(":")
            # Not get_tensor_by_name: of a reference variable, it returns the value.
            tensor = graph.get_operation_by_name(name).outputs[int(output)]
            inputs[ref] = _stand_in(snapshot, tensor, shapes.get(ref, tensor.shape))
        tf.graph_util.import_graph_def(graph_def, inputs, name="")
    return static


def _stand_in(snapshot: Snapshot, tensor: tf.Tensor, shape: Any) -> tf.Tensor:
    """Returns a tensor of this shape; for a variable its handle, which tells what a read gives."""
    node = snapshot.nodes[tensor.op.name]
    if node.op == "VarHandleOp":
        kind = tf.as_dtype(node.attr["dtype"].type)
        of_value = tf.TensorShape(node.attr["shape"].shape)
        return tf.raw_ops.VarHandleOp(dtype=kind, shape=of_value)
    return tf.compat.v1.placeholder(tensor.dtype.base_dtype, shape)


def _hidden_products(snapshot: Snapshot, names: Sequence[str]) -> list[str]:
    """Returns the step's nodes whose functions hold products: how often they run is not known."""
    bodies = {f.signature.name: f.node_def for f in snapshot.library.function}

    def holds(function: str, visited: frozenset[str]) -> bool:
        if function in visited or function not in bodies:
            return False
        inner = bodies[function]
        return any(node.op in RULES for node in inner) or any(
            holds(callee, visited | {function})
            for node in inner
            for callee in called_functions(node)
        )

    return [
        name
        for name in names
        if any(holds(callee, frozenset()) for callee in called_functions(snapshot.nodes[name]))
    ]
