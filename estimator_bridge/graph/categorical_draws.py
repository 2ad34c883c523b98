"""Draws of ``tf.random.categorical`` by ordinary operations, which XLA compiles.

The kernel (tensorflow/core/kernels/multinomial_op.cc) divides large batches of rows among threads,
and a thread does not skip as many of the stream's numbers as the rows before it draw. So its draws
depend on the number of threads. These are the draws of one thread; any number of threads draws them
in small batches, of 10,000 estimated cycles: such as 8 draws for each of 2 rows of 50 classes.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.graph.kernel_draws import nodes_of, philox_bits
from estimator_bridge.graph.random_nodes import (
    MASK,
    REPLICA_KEY,
    RNG_STEP,
    STRIDE,
    replica_counter,
)

__all__ = ["CATEGORICAL", "categorical_nodes"]

CATEGORICAL = "Multinomial"
_BITS_ON_TOP, _BITS_BELOW = 20, 32  # of a number's mantissa, in a pair of numbers of 32 bits
_GROUP = 4  # the kernel reserves numbers for this many draws at a time


def categorical_nodes(
    node: tf.compat.v1.NodeDef, seed: int, seed2: int
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns NodeDefs that replace a Multinomial, and FunctionDefs that they call (none).

    Args:
      node: the Multinomial. The last NodeDef has its name and output.
      seed: the key of its stream.
      seed2: the second number of its counter; other replicas change it.
    """
    output_kind = tf.as_dtype(node.attr["output_dtype"].type)

    def draw(
        logits: tf.Tensor, samples: tf.Tensor, step: tf.Tensor, replica: tf.Tensor
    ) -> tf.Tensor:
        samples = tf.cast(samples, tf.int64)
        rows = tf.shape(logits, tf.int64)[0]
        reserved = 2 * rows * ((samples + _GROUP - 1) // _GROUP * _GROUP)
        counter = replica_counter(reserved * STRIDE * step, seed2, replica)
        count = 2 * rows * samples
        bits = philox_bits(count, tf.constant([seed & MASK], tf.uint64), counter)
        bits = tf.reshape(bits[:count], [rows, samples, 2])
        return tf.cast(_draws(logits, _uniform(bits)), output_kind)

    kinds: list[tuple[tf.DType, list[int | None] | None]] = [
        (tf.as_dtype(node.attr["T"].type), [None, None]),
        (tf.int32, []),
        (tf.int64, []),
        (tf.uint64, [1]),
    ]
    inputs = [*(ref for ref in node.input if not ref.startswith("^")), RNG_STEP, REPLICA_KEY]
    return nodes_of(node, draw, kinds, node.name, inputs)


def _uniform(bits: tf.Tensor) -> tf.Tensor:
    """Returns float64 numbers from 0 to 1 of pairs of 32 bits [..., 2]; no bit is rounded away."""
    top, below = tf.unstack(bits, axis=-1)
    top = tf.bitwise.bitwise_and(top, tf.constant((1 << _BITS_ON_TOP) - 1, tf.uint32))
    whole = tf.cast(top, tf.float64) * 2.0**_BITS_BELOW + tf.cast(below, tf.float64)
    return whole * 2.0 ** -(_BITS_ON_TOP + _BITS_BELOW)


def _draws(logits: tf.Tensor, uniform: tf.Tensor) -> tf.Tensor:
    """Returns classes (int32 [rows, samples]); logits that are not finite have no probability."""
    logits = tf.cast(logits, tf.float64)
    is_finite = tf.math.is_finite(logits)
    lowest = tf.constant(tf.float64.min, tf.float64)
    largest = tf.reduce_max(tf.where(is_finite, logits, lowest), axis=1, keepdims=True)
    weights = tf.where(is_finite, tf.exp(logits - largest), tf.zeros([], tf.float64))
    below = tf.cumsum(weights, axis=1)
    target = uniform * below[:, -1:]
    return tf.reduce_sum(tf.cast(below[:, None, :] <= target[:, :, None], tf.int32), axis=2)
