"""Philox's bits and the numbers that TensorFlow's kernels make of them, by ordinary operations.

They follow tensorflow/core/lib/random/random_distributions.h and philox_random.h.
"""

from __future__ import annotations

import math

import tensorflow as tf

from estimator_bridge.graph.random_nodes import PHILOX

__all__ = [
    "BLOCK",
    "box_muller",
    "has_uniform",
    "like",
    "pairs_in_64_bits",
    "philox",
    "philox_bits",
    "uniform_of",
]

BLOCK = 4  # numbers of 32 bits of one Philox block
_SMALLEST = 1e-7  # instead of a logarithm of zero
# The bits of a mantissa, the exponent's bits of a number from 1 to 2, and the unsigned type.
_MANTISSAS = {
    tf.float32: (23, 127 << 23, tf.uint32),
    tf.float64: (52, 1023 << 52, tf.uint64),
    tf.float16: (10, 15 << 10, tf.uint16),
    tf.bfloat16: (7, 127 << 7, tf.uint16),
}
_LOW = 0xFFFFFFFF
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


def has_uniform(dtype: tf.DType) -> bool:
    """Returns whether ``uniform_of`` has numbers of a type."""
    return dtype in _MANTISSAS


def uniform_of(bits: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns numbers from 0 to 1 of 32 bits each, or 64 for float64: the low ones are used."""
    size, exponent, unsigned = _MANTISSAS[dtype]
    mantissa = tf.bitwise.bitwise_and(bits, like(bits, (1 << size) - 1))
    number = tf.bitwise.bitwise_or(mantissa, like(bits, exponent))
    return tf.bitcast(tf.cast(number, unsigned), dtype) - tf.ones([], dtype)


def like(numbers: tf.Tensor, value: float) -> tf.Tensor:
    """Returns a constant of the numbers' type."""
    return tf.constant(value, numbers.dtype)


def pairs_in_64_bits(bits: tf.Tensor) -> tf.Tensor:
    """Returns pairs of 32 bits as 64 bits, the first ones on top."""
    high, low = tf.unstack(tf.cast(tf.reshape(bits, [-1, 2]), tf.uint64), axis=1)
    return tf.bitwise.bitwise_or(tf.bitwise.left_shift(high, like(high, 32)), low)


def philox_bits(count: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    """Returns that many numbers of 32 bits, and more up to a whole block."""
    whole = (count + BLOCK - 1) // BLOCK * BLOCK
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=tf.reshape(whole, [1]), key=key, counter=counter, alg=PHILOX, dtype=tf.uint32
    )


def box_muller(bits: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns normal numbers, in float64 or float32, in the order of their bits."""
    if dtype == tf.float64:
        uniform = uniform_of(pairs_in_64_bits(bits), tf.float64)
    else:
        uniform = uniform_of(tf.reshape(bits, [-1]), tf.float32)
    first, second = tf.unstack(tf.reshape(uniform, [-1, 2]), axis=1)
    radius = tf.sqrt(-2.0 * tf.math.log(tf.maximum(first, _SMALLEST)))
    angle = (2.0 * math.pi) * second
    return tf.reshape(tf.stack([tf.sin(angle) * radius, tf.cos(angle) * radius], 1), [-1])


def philox(counter: tf.Tensor, blocks: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """Returns the 32 bits of Philox blocks.

    Args:
      counter: the counter of block 0, uint64 [2].
      blocks: numbers of blocks, uint64.
      key: uint64 [1].

    Returns:
      Numbers below 2^32, uint64 [..., 4].
    """
    low, shift = like(key, _LOW), like(key, 32)
    xor = tf.bitwise.bitwise_xor

    def halves(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.bitwise.bitwise_and(x, low), tf.bitwise.right_shift(x, shift)

    position = blocks + counter[0]
    high = tf.broadcast_to(counter[1], tf.shape(position))
    (c0, c1), (c2, c3), (k0, k1) = halves(position), halves(high), halves(key[0])
    for _ in range(_ROUNDS):
        low_0, high_0 = halves(c0 * like(key, _MULTIPLIERS[0]))
        low_1, high_1 = halves(c2 * like(key, _MULTIPLIERS[1]))
        c0, c1, c2, c3 = xor(xor(high_1, c1), k0), low_1, xor(xor(high_0, c3), k1), low_0
        k0 = tf.bitwise.bitwise_and(k0 + like(key, _WEYL[0]), low)
        k1 = tf.bitwise.bitwise_and(k1 + like(key, _WEYL[1]), low)
    return tf.stack([c0, c1, c2, c3], axis=-1)
