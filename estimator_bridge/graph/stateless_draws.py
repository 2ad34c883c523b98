"""Nodes that draw a random op's numbers from its seeds, the replica and the number of the step."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.draw_nodes import Kind, nodes_of
from estimator_bridge.graph.kernel_draws import is_by_arithmetic, kernel_draw
from estimator_bridge.graph.op_kinds import DRAWS, GAMMA
from estimator_bridge.graph.random_nodes import (
    MASK,
    OF_THE_DEVICE,
    PHILOX,
    REPLICA_KEY,
    RNG_STEP,
    STRIDE,
    RandomNodes,
    number_type,
    shape_type,
)

__all__ = ["stateless_nodes"]


def stateless_nodes(
    node: tf.compat.v1.NodeDef, seed: int, seed2: int, alike: bool, for_tpu: bool, for_xla: bool
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns NodeDefs that replace a random op, and FunctionDefs that they call.

    Args:
      node: of a type of ``DRAWS``. The last NodeDef has its name and output.
      seed: the key of its stream.
      seed2: the second number of its counter.
      alike: see ``RandomStreams``.
      for_tpu: see ``RandomStreams``.
      for_xla: see ``RandomStreams``.
    """
    maker, data = RandomNodes(node.name), [ref for ref in node.input if not ref.startswith("^")]
    shape, shape_kind = data[0], shape_type(node)
    shape_enum, number_enum = shape_kind.as_datatype_enum, number_type(node).as_datatype_enum
    if alike:
        shape = maker.one_row(shape, shape_enum)
    if node.op == GAMMA:
        alphas = maker.add("Shape", [data[1]], T=number_type(node), out_type=shape_kind)
        axis = maker.const(np.int32(0))
        shape = maker.add("ConcatV2", [shape, alphas, axis], T=shape_kind, N=2, Tidx=tf.int32)
    size = maker.add("Prod", [maker.cast(shape, shape_enum, tf.int64),
                              maker.const(np.zeros([1], np.int32))],
                     T=tf.int64, Tidx=tf.int32, keep_dims=False)  # fmt: skip
    stride = maker.add("Mul", [size, maker.const(np.int64(STRIDE))], T=tf.int64)
    position = maker.add("Mul", [stride, RNG_STEP], T=tf.int64)
    low = maker.cast(position, tf.int64.as_datatype_enum, tf.uint64)
    high = maker.const(np.uint64(seed2 & MASK))
    counter = maker.add("Pack", [low, high], T=tf.uint64, N=2, axis=0)
    key = maker.const(np.array([seed & MASK], np.uint64))
    if not alike:
        key = maker.add("BitwiseXor", [key, REPLICA_KEY], T=tf.uint64)
    algorithm = maker.const(np.int32(OF_THE_DEVICE if for_tpu else PHILOX))
    name = f"{node.name}/row" if alike else node.name
    functions: list[Any] = []
    if is_by_arithmetic(node, for_tpu, for_xla):
        last, functions = _by_arithmetic(node, name, [shape, key, counter, *data[1:]])
    else:
        draw = tf.compat.v1.NodeDef(name=name, op=DRAWS[node.op])
        draw.input.extend([shape, key, counter, algorithm, *data[1:]])
        draw.input.extend(ref for ref in node.input if ref.startswith("^"))
        draw.attr["shape_dtype" if node.op == GAMMA else "Tshape"].type = shape_enum
        draw.attr["dtype"].type = number_enum
        last = [draw]
    if not alike:
        return [*maker.nodes, *last], functions
    rows = tf.compat.v1.NodeDef(name=node.name, op="BroadcastTo")
    rows.input.extend([name, node.input[0]])
    rows.attr["T"].type = number_enum
    rows.attr["Tidx"].type = shape_enum
    return [*maker.nodes, *last, rows], functions


def _by_arithmetic(
    node: tf.compat.v1.NodeDef, name: str, inputs: list[str]
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns nodes that draw numbers, of which the last has the name, and what they call.

    Args:
      node: the random op.
      name: the name of the node with the numbers.
      inputs: references of the shape, the key, the counter, and the op's inputs after its shape.
    """
    kind = number_type(node)
    kinds: list[Kind] = [(shape_type(node), [None]), (tf.uint64, [1]), (tf.uint64, [2])]
    kinds += [(kind, None)] * (len(inputs) - len(kinds))
    draw = functools.partial(kernel_draw, node.op, kind)
    if node.op == GAMMA:  # its loop is v2's, whatever the program has chosen
        draw = tf.function(draw, autograph=False)
    return nodes_of(node, draw, kinds, name, inputs)
