"""For each operation, its form for a batch of examples, if that gives the same bits.

Only operations are here that compute each number of a result by itself and exactly, or that move
numbers. Square roots and exponentials are not: their last bit depends on a number's place in the
processor's vector. Nor are sums of floats, which depend on their order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.node_maker import NodeMaker, set_attribute

__all__ = ["RULES", "FunctionNodes", "NotBatchableError", "Single"]


class NotBatchableError(Exception):
    """An operation has no form for a batch that is known to give the same bits."""


class FunctionNodes(NodeMaker):
    """Collects the nodes of a function's body.

    Args:
      size: the reference of a vector of int64 with one number, that of the examples.
    """

    def __init__(self, size: str):
        super().__init__()
        self._size = size

    def add(self, name: str, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        """See the base class; the type of node must call its result 'output'."""
        super().add(name, op, inputs, **attributes)
        return name + ":output:0"

    def reshaped(self, name: str, ref: str, kind: tf.DType, shape: Sequence[int]) -> str:
        """Adds a reshape of a batch to ``[examples, *shape]``."""
        shape_ref = self._with_size(name, shape)
        return self.add(name, "Reshape", [ref, shape_ref], T=kind, Tshape=tf.int64)

    def repeated(self, name: str, ref: str, kind: tf.DType, shape: Sequence[int]) -> str:
        """Adds a value of this shape once for each example."""
        shape_ref = self._with_size(name, shape)
        return self.add(name, "BroadcastTo", [ref, shape_ref], T=kind, Tidx=tf.int64)

    def after(self, name: str, first: Any, ref: str, kind: tf.DType) -> str:
        """Adds a constant's rows before those of a tensor."""
        start, axis = self.constant(name + "/first", first, kind), self.constant(name + "/axis", 0)
        return self.add(name, "ConcatV2", [start, ref, axis], N=2, T=kind, Tidx=tf.int64)

    def _with_size(self, name: str, shape: Sequence[int]) -> str:
        if not shape:
            return self._size
        parts = [self._size, self.constant(name + "/of_one", list(shape))]
        axis = self.constant(name + "/axis", 0)
        return self.add(name + "/shape", "ConcatV2", [*parts, axis], N=2, T=tf.int64, Tidx=tf.int64)


@dataclasses.dataclass(frozen=True)
class Single:
    """An operation on one example, to be made one on a batch.

    Attributes:
      operation: the operation, with the shapes of one example.
      node: its node, which a rule changes. Its references are those of a function's body.
      is_batched: for each input, whether it has a value for each example.
      body: takes additional nodes.
    """

    operation: tf.Operation
    node: tf.compat.v1.NodeDef
    is_batched: Sequence[bool]
    body: FunctionNodes

    def shape(self, i: int) -> list[int]:
        """Returns the shape of an input."""
        return _full_shape(self.operation.inputs[i].shape)

    def value(self, i: int) -> np.ndarray:
        """Returns the value of an input that is a constant."""
        value = tf.get_static_value(self.operation.inputs[i])
        if self.is_batched[i] or value is None:
            raise NotBatchableError
        return np.asarray(value)

    def only(self, *batched: int) -> None:
        """Checks that these inputs, and no others, have a value for each example."""
        if [i for i, has in enumerate(self.is_batched) if has] != list(batched):
            raise NotBatchableError

    def put(self, i: int, value: Any) -> None:
        """Replaces an input by a constant."""
        kind = self.operation.inputs[i].dtype
        self.node.input[i] = self.body.constant(f"{self.node.name}/of_batch_{i}", value, kind)

    def put_after(self, i: int, first: Any) -> None:
        """Puts rows before those of an input."""
        name, kind = f"{self.node.name}/of_batch_{i}", self.operation.inputs[i].dtype
        self.node.input[i] = self.body.after(name, first, self.node.input[i], kind)

    def repeat(self, i: int) -> None:
        """Gives an input a value for each example, if it has one for all."""
        if not self.is_batched[i]:
            name, kind = f"{self.node.name}/of_batch_{i}", self.operation.inputs[i].dtype
            self.node.input[i] = self.body.repeated(name, self.node.input[i], kind, self.shape(i))

    def become(self, op: str, inputs: Sequence[str], **attributes: Any) -> None:
        """Replaces the node by one of another type, whose result has the same name."""
        self.node.CopyFrom(tf.compat.v1.NodeDef(name=self.node.name, op=op, input=inputs))
        for key, value in attributes.items():
            set_attribute(self.node, key, value)


def _full_shape(shape: tf.TensorShape) -> list[int]:
    if not shape.is_fully_defined():
        raise NotBatchableError
    return shape.as_list()


def _elementwise(single: Single) -> None:
    """Numbers of equal places, or of places that are repeated to be equal."""
    if len(single.is_batched) == 1:
        return
    rank = _rank(single.operation.outputs[0])
    for i, tensor in enumerate(single.operation.inputs):
        if single.is_batched[i] and _rank(tensor) < rank:
            shape = single.shape(i)
            name = f"{single.node.name}/of_batch_{i}"
            wide = [1] * (rank - len(shape)) + shape
            ref = single.body.reshaped(name, single.node.input[i], tensor.dtype, wide)
            single.node.input[i] = ref


def _cast(single: Single) -> None:
    """Of a float outside of an integer's range, the result depends on its place."""
    kind = single.operation.outputs[0].dtype
    if single.operation.inputs[0].dtype.is_floating and kind.is_integer:
        raise NotBatchableError


def _exact_in_integers(single: Single) -> None:
    """Of floats, zeros of the other sign and numbers that are nearly 0 depend on their place."""
    if single.operation.inputs[0].dtype.is_floating:
        raise NotBatchableError
    _elementwise(single)


def _select(single: Single) -> None:
    condition = _rank(single.operation.inputs[0])
    if not single.is_batched[0] or condition not in (0, _rank(single.operation.inputs[1])):
        raise NotBatchableError  # for one example, a vector chooses among rows
    single.repeat(1)
    single.repeat(2)


def _of_texts(single: Single) -> None:
    """Texts, each of which gives one row; the other inputs tell how."""
    single.only(0)


def _parse(single: Single) -> None:
    attributes = single.node.attr
    has_others = attributes["num_sparse"].i or attributes["ragged_value_types"].list.type
    if has_others or single.value(1).size or _rank(single.operation.inputs[0]):
        raise NotBatchableError
    single.only(0)


def _look_up(single: Single) -> None:
    single.only(1)


def _reshape(single: Single) -> None:
    single.only(0)
    shape = _full_shape(single.operation.outputs[0].shape)
    name = f"{single.node.name}/of_batch"
    kind = single.operation.inputs[0].dtype
    ref = single.body.reshaped(name, single.node.input[0], kind, shape)
    single.become("Identity", [ref], T=kind)


def _expand_dims(single: Single) -> None:
    single.only(0)
    single.put(1, _axis(int(single.value(1).item())))


def _squeeze(single: Single) -> None:
    axes = list(single.node.attr["squeeze_dims"].list.i)
    if not axes:
        axes = [i for i, size in enumerate(single.shape(0)) if size == 1]
    if not axes:
        single.become("Identity", single.node.input, T=single.operation.inputs[0].dtype)
        return
    single.node.attr["squeeze_dims"].list.i[:] = [_axis(i) for i in axes]


def _pack(single: Single) -> None:
    for i in range(len(single.is_batched)):
        single.repeat(i)
    single.node.attr["axis"].i = _axis(single.node.attr["axis"].i)


def _unpack(single: Single) -> None:
    single.node.attr["axis"].i = _axis(single.node.attr["axis"].i)


def _concatenate(single: Single) -> None:
    last = len(single.is_batched) - 1
    single.put(last, _axis(int(single.value(last).item())))
    for i in range(last):
        single.repeat(i)


def _strided_slice(single: Single) -> None:
    single.only(0)
    for i, first in ((1, 0), (2, 0), (3, 1)):
        single.put_after(i, [first])
    attributes = single.node.attr
    for mask in ("begin", "end", "ellipsis", "new_axis", "shrink_axis"):
        attributes[mask + "_mask"].i *= 2
    for mask in ("begin", "end"):
        attributes[mask + "_mask"].i += 1


def _slice(single: Single) -> None:
    single.only(0)
    single.put_after(1, [0])
    single.put_after(2, [-1])


def _transpose(single: Single) -> None:
    single.only(0)
    rank = _rank(single.operation.inputs[0])
    single.put(1, [0, *(int(axis) % rank + 1 for axis in single.value(1))])


def _tile(single: Single) -> None:
    single.only(0)
    single.put_after(1, [1])


def _pad(single: Single) -> None:
    single.only(0)
    single.put_after(1, [[0, 0]])


def _one_hot(single: Single) -> None:
    single.only(0)
    single.node.attr["axis"].i = _axis(single.node.attr["axis"].i)


def _gather(single: Single) -> None:
    axis = int(single.value(2).item())
    if single.node.attr["batch_dims"].i:
        raise NotBatchableError
    if not single.is_batched[0] and axis == 0:
        return  # an example's numbers of rows of one table
    single.only(0)
    single.put(2, _axis(axis))


def _split(single: Single) -> None:
    single.only(1)
    single.put(0, _axis(int(single.value(0).item())))


def _split_by_sizes(single: Single) -> None:
    single.only(0)
    single.put(2, _axis(int(single.value(2).item())))


def _reduce(single: Single) -> None:
    single.only(0)
    if single.operation.inputs[0].dtype.is_floating:
        raise NotBatchableError
    axes = single.value(1)
    single.put(1, np.where(axes < 0, axes, axes + 1))


def _axis(axis: int) -> int:
    """Returns an axis of a batch; one below 0 counts from the end."""
    return axis if axis < 0 else axis + 1


def _rank(tensor: tf.Tensor) -> int:
    if tensor.shape.rank is None:
        raise NotBatchableError
    return tensor.shape.rank


_ELEMENTWISE = """
    Abs Add AddV2 BitwiseAnd BitwiseOr BitwiseXor Div Equal FloorDiv FloorMod Greater
    GreaterEqual Identity Invert LeftShift Less LessEqual LogicalAnd LogicalNot LogicalOr
    Mod Mul Neg NotEqual OnesLike RealDiv RightShift SelectV2 Snapshot Square
    SquaredDifference StopGradient Sub TruncateDiv TruncateMod ZerosLike
    StaticRegexFullMatch StaticRegexReplace StringLower StringStrip StringToHashBucketFast
    StringToNumber StringUpper StringLength AsString
"""
RULES: dict[str, Callable[[Single], None]] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(("Maximum", "Minimum", "Sign"), _exact_in_integers),
    **dict.fromkeys(("DecodeRaw", "DecodeCSV"), _of_texts),
    **dict.fromkeys(("All", "Any", "Max", "Min", "Prod", "Sum"), _reduce),
    **dict.fromkeys(("Pad", "PadV2"), _pad),
    "Cast": _cast,
    "ConcatV2": _concatenate,
    "ExpandDims": _expand_dims,
    "GatherV2": _gather,
    "LookupTableFindV2": _look_up,
    "OneHot": _one_hot,
    "Pack": _pack,
    "ParseExampleV2": _parse,
    "Reshape": _reshape,
    "Select": _select,
    "Slice": _slice,
    "Split": _split,
    "SplitV": _split_by_sizes,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unpack": _unpack,
}
