"""Updates of a table's rows by operations that are faster than the optimizers' own kernels.

TensorFlow 2.21's kernels of ``ResourceSparseApplyAdagrad`` and ``-Momentum`` take two to five times
as long as 2.15's, as they update row by row. The same arithmetic on all rows at once (gather them,
compute, and scatter them back) takes less than half of that, and has the same bits. It needs
indices without duplicates, which the optimizers make by ``Unique``, and rows of whole vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import tensorflow as tf

from estimator_bridge.graph.node_maker import NodeMaker
from estimator_bridge.graph.snapshot import node_name

__all__ = ["as_row_updates"]

_VECTOR = 8  # numbers; AVX's


def as_row_updates(
    node: tf.compat.v1.NodeDef, nodes: Mapping[str, tf.compat.v1.NodeDef]
) -> Sequence[tf.compat.v1.NodeDef]:
    """Returns the nodes that replace an optimizer's sparse update; the last has its name.

    Args:
      node: any node, whose inputs are references.
      nodes: the graph's nodes by name.

    Returns:
      The node alone if it is no such update.
    """
    update = _UPDATES.get(node.op)
    if update is None or not _is_replaceable(node, nodes):
        return [node]
    maker = _Rows(node)
    update(maker, [ref for ref in node.input if not ref.startswith("^")])
    return maker.nodes


def _is_replaceable(node: tf.compat.v1.NodeDef, nodes: Mapping[str, tf.compat.v1.NodeDef]) -> bool:
    flags = {key: value.b for key, value in node.attr.items() if value.WhichOneof("value") == "b"}
    if flags.get("use_nesterov", False) or not flags.get("update_slots", True):
        return False
    if tf.as_dtype(node.attr["T"].type) != tf.float32 or not _has_whole_rows(node, nodes):
        return False
    ref = node.input[4]
    while nodes[node_name(ref)].op == "Identity":
        ref = nodes[node_name(ref)].input[0]
    return nodes[node_name(ref)].op == "Unique" and ref.removesuffix(":0") == node_name(ref)


def _has_whole_rows(node: tf.compat.v1.NodeDef, nodes: Mapping[str, tf.compat.v1.NodeDef]) -> bool:
    """Returns whether rows fill the processor's vectors.

    The kernel computes the numbers left over by other instructions, whose square roots differ in
    the last bit.
    """
    handle = nodes[node_name(node.input[0])]
    if handle.op != "VarHandleOp":
        return False
    sizes = [int(dim.size) for dim in handle.attr["shape"].shape.dim][1:]
    return bool(sizes) and min(sizes) > 0 and math.prod(sizes) % _VECTOR == 0


class _Rows(NodeMaker):
    """The nodes of one update.

    Args:
      node: the update that they replace.
    """

    def __init__(self, node: tf.compat.v1.NodeDef):
        super().__init__()
        self._node, self._number = node, 0
        self._after = [ref for ref in node.input if ref.startswith("^")]
        kinds = {"dtype": "T", "Tindices": "Tindices"}
        self._types = {key: tf.as_dtype(node.attr[own].type) for key, own in kinds.items()}

    def compute(self, op: str, *inputs: str) -> str:
        """Adds an operation on rows."""
        return self.add(self._next_name(), op, inputs, T=tf.as_dtype(self._node.attr["T"].type))

    def gather(self, handle: str, indices: str) -> str:
        """Adds the read of a variable's rows, once the update may begin."""
        inputs = [handle, indices, *self._after]
        return self.add(self._next_name(), "ResourceGather", inputs, **self._types)

    def scatter(self, rows: Sequence[tuple[str, str]], indices: str) -> None:
        """Adds the writes, and the end of the update.

        Args:
          rows: handles, each with its new rows.
          indices: the rows' numbers.
        """
        writes = []
        for handle, new in rows:
            name, inputs = self._next_name(), [handle, indices, new]
            writes.append(self.add(name, "ResourceScatterUpdate", inputs, **self._types))
        self.add(self._node.name, "NoOp", [f"^{node_name(write)}" for write in writes])

    def _next_name(self) -> str:
        self._number += 1
        return f"{self._node.name}/rows_{self._number}"


def _adagrad(maker: _Rows, inputs: Sequence[str]) -> None:
    """Computes accum += grad^2; var -= lr grad / sqrt(accum)."""
    variable, accumulator, rate, gradient, indices = inputs
    total = maker.gather(accumulator, indices)
    total = maker.compute("AddV2", total, maker.compute("Square", gradient))
    step = maker.compute("Mul", rate, gradient)
    scaled = maker.compute("Mul", step, maker.compute("Rsqrt", total))
    new = maker.compute("Sub", maker.gather(variable, indices), scaled)
    maker.scatter([(accumulator, total), (variable, new)], indices)


def _momentum(maker: _Rows, inputs: Sequence[str]) -> None:
    """Computes accum = momentum accum + grad; var -= lr accum."""
    variable, accumulator, rate, gradient, indices, momentum = inputs
    earlier = maker.compute("Mul", maker.gather(accumulator, indices), momentum)
    total = maker.compute("AddV2", earlier, gradient)
    scaled = maker.compute("Mul", rate, total)
    new = maker.compute("Sub", maker.gather(variable, indices), scaled)
    maker.scatter([(accumulator, total), (variable, new)], indices)


_UPDATES = {
    "ResourceSparseApplyAdagrad": _adagrad,
    "ResourceSparseApplyMomentum": _momentum,
}
