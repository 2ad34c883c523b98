"""Draws of ``tf.random.categorical`` by ordinary operations, which XLA compiles.

The kernel (tensorflow/core/kernels/multinomial_op.cc) divides large batches of rows among threads,
and a thread does not skip as many of the stream's numbers as the rows before it draw. So its draws
depend on the number of threads. These are the draws of one thread; any number of threads draws them
in small batches, of 10,000 estimated cycles: such as 8 draws for each of 2 rows of 50 classes.
"""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.graph.philox import BLOCK, philox_bits
from estimator_bridge.graph.random_nodes import STRIDE

__all__ = ["categorical", "categorical_advance"]

_BITS_ON_TOP, _BITS_BELOW = 20, 32  # of a number's mantissa, in a pair of numbers of 32 bits


def categorical_advance(logits: tf.Tensor, samples: tf.Tensor) -> tf.Tensor:
    """Returns by how much a run of the kernel moves its position on (int64 scalar)."""
    samples = tf.cast(samples, tf.int64)
    return 2 * tf.shape(logits, tf.int64)[0] * ((samples + BLOCK - 1) // BLOCK * BLOCK) * STRIDE


def categorical(
    logits: tf.Tensor, samples: tf.Tensor, key: tf.Tensor, counter: tf.Tensor
) -> tf.Tensor:
    """Returns the classes that the kernel draws.

    Args:
      logits: [rows, classes].
      samples: the number of draws for each row, int32 scalar.
      key: uint64 [1].
      counter: uint64 [2].

    Returns:
      int32 [rows, samples].
    """
    rows, samples = tf.shape(logits, tf.int64)[0], tf.cast(samples, tf.int64)
    count = 2 * rows * samples
    bits = tf.reshape(philox_bits(count, key, counter)[:count], [rows, samples, 2])
    return _draws(logits, _uniform(bits))


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
