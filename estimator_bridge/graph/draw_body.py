"""The function that draws a random op's numbers inside of other functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.compile_for.lowered import DRAW_IN_FUNCTION
from estimator_bridge.graph.kernel_draws import has_kernel_draws, kernel_draw
from estimator_bridge.graph.op_kinds import DRAWS
from estimator_bridge.graph.random_nodes import MASK, OF_THE_DEVICE, PHILOX, STRIDE

__all__ = ["draw_function"]


_SEEDS = "seed", "seed2"  # the names of the constants that hold them


def draw_function(
    node: tf.compat.v1.NodeDef, seed: int, seed2: int, for_tpu: bool, for_xla: bool
) -> Any:
    """Returns a FunctionDef that draws a random op's numbers.

    Its arguments are the op's inputs, the count of numbers so far (int64 scalar) and the replica's
    key (uint64 [1]). It returns the numbers and the count after them.

    Args:
      node: the random op.
      seed: the key of its stream.
      seed2: the second number of its counter.
      for_tpu: see ``RandomStreams``.
      for_xla: see ``RandomStreams``.
    """
    dtype = node.attr["Tout" if node.op == "RandomUniformInt" else "dtype"].type
    template = _without_seeds(node.op, dtype, node.attr["T"].type, for_tpu, for_xla)
    function = type(template)()
    function.CopyFrom(template)
    values = dict(zip(_SEEDS, (seed & MASK, seed2 & MASK)))
    for inner in function.node_def:
        if inner.name in values:
            value = np.array([values[inner.name]], np.uint64)
            inner.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    return function


@functools.cache
def _without_seeds(op: str, dtype: int, shape_kind: int, for_tpu: bool, for_xla: bool) -> Any:
    """Returns the function with seeds of zero; to trace it takes a tenth of a second."""
    has_bounds = op == "RandomUniformInt"
    number_type = tf.as_dtype(dtype)
    by_arithmetic = for_xla and has_kernel_draws(op, number_type)

    def draw(shape: tf.Tensor, *others: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        *bounds, count, replica = others
        seed, seed2 = (tf.constant([0], tf.uint64, name=name) for name in _SEEDS)
        low = tf.cast(tf.reshape(count * STRIDE, [1]), tf.uint64)
        counter = tf.concat([low, seed2], 0)
        key = tf.bitwise.bitwise_xor(seed, replica)
        if by_arithmetic:
            numbers = kernel_draw(op, number_type, shape, key, counter)
        else:
            kind = {"minval": bounds[0], "maxval": bounds[1]} if has_bounds else {}
            numbers = getattr(tf.raw_ops, DRAWS[op])(
                shape=shape,
                key=key,
                counter=counter,
                alg=OF_THE_DEVICE if for_tpu else PHILOX,
                name=DRAW_IN_FUNCTION,
                **(kind or {"dtype": number_type}),
            )
        return numbers, count + tf.cast(tf.reduce_prod(shape), tf.int64)

    kinds: list[tuple[tf.DType, Any]] = [(tf.as_dtype(shape_kind), [None])]
    kinds += [(number_type, [])] * 2 if has_bounds else []
    kinds += [(tf.int64, []), (tf.uint64, [1])]
    with tf.Graph().as_default() as graph:
        places = [tf.compat.v1.placeholder(*kind) for kind in kinds]
        tf.function(draw, autograph=False)(*places)
        (function,) = graph.as_graph_def().library.function
    return function
