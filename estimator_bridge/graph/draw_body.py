"""The function that draws a random op's numbers inside of other functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for.lowered import DRAW_IN_FUNCTION
from estimator_bridge.graph.draw_nodes import Kind, functions_of
from estimator_bridge.graph.kernel_draws import is_by_arithmetic, kernel_draw
from estimator_bridge.graph.op_kinds import DRAWS, GAMMA
from estimator_bridge.graph.random_nodes import (
    MASK,
    OF_THE_DEVICE,
    PHILOX,
    STRIDE,
    number_type,
    shape_type,
)

__all__ = ["draw_functions"]

_SEEDS = "seed", "seed2"  # the names of the constants that hold them
# The inputs of a kind of op after its shape, with their shapes.
_PARAMETERS: dict[str, dict[str, list[int | None] | None]] = {
    "RandomUniformInt": {"minval": [], "maxval": []},
    GAMMA: {"alpha": None},
}


def draw_functions(
    node: tf.compat.v1.NodeDef, seed: int, seed2: int, for_tpu: bool, for_xla: bool
) -> list[Any]:
    """Returns a FunctionDef that draws a random op's numbers, followed by those that it calls.

    Its arguments are the op's inputs, the count of numbers so far (int64 scalar) and the replica's
    key (uint64 [1]). It returns the numbers and the count after them.

    Args:
      node: the random op.
      seed: the key of its stream.
      seed2: the second number of its counter.
      for_tpu: see ``RandomStreams``.
      for_xla: see ``RandomStreams``.
    """
    by_arithmetic = is_by_arithmetic(node, for_tpu, for_xla)
    algorithm = OF_THE_DEVICE if for_tpu else PHILOX
    template, *others = _without_seeds(
        node.op, number_type(node), shape_type(node), None if by_arithmetic else algorithm
    )
    function = type(template)()
    function.CopyFrom(template)
    values = dict(zip(_SEEDS, (seed & MASK, seed2 & MASK)))
    for inner in function.node_def:
        if inner.name in values:
            value = np.array([values[inner.name]], np.uint64)
            inner.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    return [function, *others]


@functools.cache
def _without_seeds(
    op: str, dtype: tf.DType, shape_kind: tf.DType, algorithm: int | None
) -> list[Any]:
    """Returns the functions with seeds of zero; to trace them takes a tenth of a second.

    Args:
      op: the type of the random op.
      dtype: the type of its numbers.
      shape_kind: the type of the shape that it takes.
      algorithm: a tf.random.Algorithm; None for a draw by arithmetic.
    """
    parameters = _PARAMETERS.get(op, {})

    def draw(shape: tf.Tensor, *others: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        *values, count, replica = others
        if op == GAMMA:
            shape = tf.concat([shape, tf.shape(values[0], shape_kind)], 0)
        seed, seed2 = (tf.constant([0], tf.uint64, name=name) for name in _SEEDS)
        low = tf.cast(tf.reshape(count * STRIDE, [1]), tf.uint64)
        counter = tf.concat([low, seed2], 0)
        key = tf.bitwise.bitwise_xor(seed, replica)
        if algorithm is None:
            numbers = kernel_draw(op, dtype, shape, key, counter, *values)
        else:
            numbers = getattr(tf.raw_ops, DRAWS[op])(
                shape=shape,
                key=key,
                counter=counter,
                alg=algorithm,
                name=DRAW_IN_FUNCTION,
                **dict(zip(parameters, values)),
                **({} if parameters else {"dtype": dtype}),
            )
        return numbers, count + tf.cast(tf.reduce_prod(shape), tf.int64)

    kinds: list[Kind] = [(shape_kind, [None])]
    kinds += [(dtype, shape) for shape in parameters.values()]
    return functions_of(draw, [*kinds, (tf.int64, []), (tf.uint64, [1])])
