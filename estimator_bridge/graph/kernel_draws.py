"""Random numbers by ordinary operations, equal to those of TensorFlow's CPU kernels.

XLA draws the same bits as the kernels, and makes other numbers of them. The functions here follow
tensorflow/core/lib/random/random_distributions.h, so that a device that XLA compiles for draws what
a CPU draws, within the rounding of a logarithm and a sine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.gamma_draws import gamma_draws
from estimator_bridge.graph.op_kinds import GAMMA
from estimator_bridge.graph.philox import (
    BLOCK,
    box_muller,
    has_uniform,
    like,
    pairs_in_64_bits,
    philox,
    philox_bits,
    uniform_of,
)
from estimator_bridge.graph.random_nodes import STRIDE, number_type

__all__ = ["has_kernel_draws", "is_by_arithmetic", "kernel_draw"]

# Of a group's blocks, how many are drawn to find its numbers that are not cut off: each is with a
# probability of 0.954, and that 20 of them leave less than 4 has one of 2e-20.
_BLOCKS = 5
_BOUND = 2.0  # of a truncated normal number


def has_kernel_draws(op: str, dtype: tf.DType) -> bool:
    """Returns whether ``kernel_draw`` has the numbers of a type of op."""
    return op in _DRAWS and has_uniform(dtype)


def is_by_arithmetic(node: tf.compat.v1.NodeDef, for_tpu: bool, for_xla: bool) -> bool:
    """Returns whether a random op of a step is drawn by ``kernel_draw``.

    Args:
      node: the op.
      for_tpu: see ``RandomStreams``; XLA has no gamma variates of its own.
      for_xla: see ``RandomStreams``.
    """
    is_wanted = for_xla or (for_tpu and node.op == GAMMA)
    return is_wanted and has_kernel_draws(node.op, number_type(node))


def kernel_draw(
    op: str,
    dtype: tf.DType,
    shape: tf.Tensor,
    key: tf.Tensor,
    counter: tf.Tensor,
    *parameters: tf.Tensor,
) -> tf.Tensor:
    """Returns the numbers of a type of op.

    Args:
      op: the type.
      dtype: the type of its numbers.
      shape: their shape.
      key: uint64 [1].
      counter: uint64 [2].
      *parameters: the op's inputs after its shape: the alpha of RandomGamma.
    """
    return _DRAWS[op](dtype, shape, key, counter, *parameters)


def _count(shape: tf.Tensor) -> tf.Tensor:
    return tf.reduce_prod(shape)


def _reshape(numbers: tf.Tensor, shape: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    return tf.reshape(tf.slice(numbers, [0], tf.reshape(count, [1])), shape)


def _uniform(dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    count = _count(shape)
    if dtype == tf.float64:
        bits = pairs_in_64_bits(philox_bits(2 * count, key, counter))
    else:
        bits = philox_bits(count, key, counter)
    return _reshape(uniform_of(bits, dtype), shape, count)


def _normal(dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    count = _count(shape)
    bits = philox_bits(2 * count if dtype == tf.float64 else count, key, counter)
    return _reshape(tf.cast(box_muller(bits, dtype), dtype), shape, count)


def _truncated(dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    """Returns normal numbers below 2: those of a group are the first such of its own blocks."""
    count = _count(shape)
    group = BLOCK // 2 if dtype == tf.float64 else BLOCK
    groups = (count + group - 1) // group
    skip = group * STRIDE // BLOCK
    starts = tf.cast(tf.range(groups), tf.uint64) * like(counter, skip)
    blocks = starts[:, None] + tf.constant(np.arange(_BLOCKS, dtype=np.uint64))
    bits = philox(counter, blocks, key)
    normal = tf.reshape(box_muller(bits, dtype), [groups, -1])
    return _reshape(tf.cast(tf.reshape(_first_within(normal, group), [-1]), dtype), shape, count)


def _first_within(normal: tf.Tensor, size: int) -> tf.Tensor:
    """Returns the first numbers of each row within the bound, as many as the size."""
    within = tf.abs(normal) < tf.constant(_BOUND, normal.dtype)
    place = tf.cumsum(tf.cast(within, tf.int32), axis=1, exclusive=True)
    selection = within[:, :, None] & tf.equal(place[:, :, None], tf.range(size))
    return tf.reduce_sum(
        tf.where(selection, normal[:, :, None], tf.zeros([], normal.dtype)), axis=1
    )


_DRAWS: dict[str, Callable[..., tf.Tensor]] = {
    "RandomUniform": _uniform,
    "RandomStandardNormal": _normal,
    "TruncatedNormal": _truncated,
    GAMMA: gamma_draws,
}
