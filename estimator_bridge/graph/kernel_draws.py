"""Random numbers by ordinary operations, equal to those of TensorFlow's CPU kernels.

XLA draws the same bits as the kernels, and makes other numbers of them. The functions here follow
tensorflow/core/lib/random/random_distributions.h and philox_random.h, so that a device that XLA
compiles for draws what a CPU draws, within the rounding of a logarithm and a sine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["draw_nodes", "has_kernel_draws", "kernel_draw", "nodes_of", "philox_bits"]

_PHILOX = 1  # tf.random.Algorithm
_GROUP = 4  # numbers of 32 bits of one Philox block
_RESERVED = 256  # of them for each truncated normal number
# Of a group's blocks, how many are drawn to find its numbers that are not cut off: each is with a
# probability of 0.954, and that 20 of them leave less than 4 has one of 2e-20.
_BLOCKS = 5
_BOUND = 2.0  # of a truncated normal number
_SMALLEST = 1e-7  # instead of a logarithm of zero


def has_kernel_draws(op: str, dtype: tf.DType) -> bool:
    """Returns whether ``draw_nodes`` has the numbers of a type of op."""
    return op in _DRAWS and dtype in _MANTISSAS


def kernel_draw(
    op: str, dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor
) -> tf.Tensor:
    """Returns the numbers of a type of op; see ``draw_nodes``."""
    return _DRAWS[op](dtype, shape, key, counter)


def draw_nodes(
    node: tf.compat.v1.NodeDef, dtype: tf.DType, name: str, inputs: Sequence[str]
) -> list[tf.compat.v1.NodeDef]:
    """Returns nodes that draw the numbers of a random op; the last has the name.

    Args:
      node: the random op.
      dtype: the type of its numbers.
      name: the name of the node with the numbers.
      inputs: references of the shape, the key (uint64 [1]) and the counter (uint64 [2]).
    """
    kinds: list[tuple[tf.DType, list[int | None] | None]] = [
        (tf.as_dtype(node.attr["T"].type), [None]),
        (tf.uint64, [1]),
        (tf.uint64, [2]),
    ]

    def draw(shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
        return kernel_draw(node.op, dtype, shape, key, counter)

    nodes, _ = nodes_of(node, draw, kinds, name, inputs)
    return nodes


def nodes_of(
    node: tf.compat.v1.NodeDef,
    draw: Callable[..., tf.Tensor],
    kinds: Sequence[tuple[tf.DType, list[int | None] | None]],
    name: str,
    inputs: Sequence[str],
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns the nodes of a function, the last with the name, and FunctionDefs that they call.

    Args:
      node: the random op. What it waits for, they wait for.
      draw: makes the operations.
      kinds: the types and shapes of its arguments.
      name: the name of the node with its result.
      inputs: references of the arguments.
    """
    with tf.Graph().as_default() as graph:
        places = [
            tf.compat.v1.placeholder(*kind, name=f"input_{i}") for i, kind in enumerate(kinds)
        ]
        tf.identity(draw(*places), name="numbers")
    places_by_name = {place.op.name: ref for place, ref in zip(places, inputs)}
    graph_def = graph.as_graph_def()
    nodes = [one for one in graph_def.node if one.name not in places_by_name]
    for one in nodes:
        for i, ref in enumerate(one.input):
            # A reference may name an output, and so may an input: of a node here only ":0".
            one.input[i] = places_by_name.get(ref) or f"{name}/numbers/{ref}"
        one.name = name if one.name == "numbers" else f"{name}/numbers/{one.name}"
    nodes.sort(key=lambda one: one.name == name)
    nodes[-1].input.extend(ref for ref in node.input if ref.startswith("^"))
    return nodes, list(graph_def.library.function)


# The bits of a mantissa, the exponent's bits of a number from 1 to 2, and the unsigned type.
_MANTISSAS = {
    tf.float32: (23, 127 << 23, tf.uint32),
    tf.float64: (52, 1023 << 52, tf.uint64),
    tf.float16: (10, 15 << 10, tf.uint16),
    tf.bfloat16: (7, 127 << 7, tf.uint16),
}


def _uniform_of(bits: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns numbers from 0 to 1 of 32 bits each, or 64 for float64: the low ones are used."""
    size, exponent, unsigned = _MANTISSAS[dtype]
    mantissa = tf.bitwise.bitwise_and(bits, _like(bits, (1 << size) - 1))
    number = tf.bitwise.bitwise_or(mantissa, _like(bits, exponent))
    return tf.bitcast(tf.cast(number, unsigned), dtype) - tf.ones([], dtype)


def _like(bits: tf.Tensor, value: int) -> tf.Tensor:
    return tf.constant(value, bits.dtype)


def _in_64_bits(bits: tf.Tensor) -> tf.Tensor:
    """Returns pairs of 32 bits as 64 bits, the first ones on top."""
    high, low = tf.unstack(tf.cast(tf.reshape(bits, [-1, 2]), tf.uint64), axis=1)
    return tf.bitwise.bitwise_or(tf.bitwise.left_shift(high, _like(high, 32)), low)


def _count(shape: tf.Tensor) -> tf.Tensor:
    return tf.reduce_prod(shape)


def philox_bits(count: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    """Returns that many numbers of 32 bits, and more up to a whole block."""
    whole = (count + _GROUP - 1) // _GROUP * _GROUP
    return tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=tf.reshape(whole, [1]), key=key, counter=counter, alg=_PHILOX, dtype=tf.uint32
    )


def _reshape(numbers: tf.Tensor, shape: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.slice(numbers, [0], tf.reshape(count, [1])), shape)


def _uniform(dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    count = _count(shape)
    if dtype == tf.float64:
        bits = _in_64_bits(philox_bits(2 * count, key, counter))
    else:
        bits = philox_bits(count, key, counter)
    return _reshape(_uniform_of(bits, dtype), shape, count)


def _normal(dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    count = _count(shape)
    bits = philox_bits(2 * count if dtype == tf.float64 else count, key, counter)
    return _reshape(tf.cast(_box_muller(bits, dtype), dtype), shape, count)


def _box_muller(bits: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns normal numbers, in float64 or float32, in the order of their bits."""
    if dtype == tf.float64:
        uniform = _uniform_of(_in_64_bits(bits), tf.float64)
    else:
        uniform = _uniform_of(tf.reshape(bits, [-1]), tf.float32)
    first, second = tf.unstack(tf.reshape(uniform, [-1, 2]), axis=1)
    radius = tf.sqrt(-2.0 * tf.math.log(tf.maximum(first, _SMALLEST)))
    angle = (2.0 * math.pi) * second
    return tf.reshape(tf.stack([tf.sin(angle) * radius, tf.cos(angle) * radius], 1), [-1])


def _truncated(dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    """Returns normal numbers below 2: those of a group are the first such of its own blocks."""
    count = _count(shape)
    group = _GROUP // 2 if dtype == tf.float64 else _GROUP
    groups = (count + group - 1) // group
    skip = group * _RESERVED // _GROUP
    starts = tf.cast(tf.range(groups), tf.uint64) * _like(counter, skip)
    blocks = starts[:, None] + tf.constant(np.arange(_BLOCKS, dtype=np.uint64))
    bits = _philox(counter, blocks, key)
    normal = tf.reshape(_box_muller(bits, dtype), [groups, -1])
    return _reshape(tf.cast(tf.reshape(_first_within(normal, group), [-1]), dtype), shape, count)


def _first_within(normal: tf.Tensor, size: int) -> tf.Tensor:
    """Returns the first numbers of each row within the bound, as many as the size."""
    within = tf.abs(normal) < tf.constant(_BOUND, normal.dtype)
    place = tf.cumsum(tf.cast(within, tf.int32), axis=1, exclusive=True)
    selection = within[:, :, None] & tf.equal(place[:, :, None], tf.range(size))
    return tf.reduce_sum(
        tf.where(selection, normal[:, :, None], tf.zeros([], normal.dtype)), axis=1
    )


_LOW = 0xFFFFFFFF
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


def _philox(counter: tf.Tensor, blocks: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """Returns the 32 bits of Philox blocks.

    Args:
      counter: the counter of block 0, uint64 [2].
      blocks: numbers of blocks, uint64.
      key: uint64 [1].

    Returns:
      Numbers below 2^32, uint64 [..., 4].
    """
    low, shift = _like(key, _LOW), _like(key, 32)
    xor = tf.bitwise.bitwise_xor

    def halves(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.bitwise.bitwise_and(x, low), tf.bitwise.right_shift(x, shift)

    position = blocks + counter[0]
    high = tf.broadcast_to(counter[1], tf.shape(position))
    (c0, c1), (c2, c3), (k0, k1) = halves(position), halves(high), halves(key[0])
    for _ in range(_ROUNDS):
        low_0, high_0 = halves(c0 * _like(key, _MULTIPLIERS[0]))
        low_1, high_1 = halves(c2 * _like(key, _MULTIPLIERS[1]))
        c0, c1, c2, c3 = xor(xor(high_1, c1), k0), low_1, xor(xor(high_0, c3), k1), low_0
        k0 = tf.bitwise.bitwise_and(k0 + _like(key, _WEYL[0]), low)
        k1 = tf.bitwise.bitwise_and(k1 + _like(key, _WEYL[1]), low)
    return tf.stack([c0, c1, c2, c3], axis=-1)


_DRAWS = {"RandomUniform": _uniform, "RandomStandardNormal": _normal, "TruncatedNormal": _truncated}
