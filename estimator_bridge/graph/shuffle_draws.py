"""Shuffles by ordinary operations, which XLA compiles, in the order of TensorFlow's kernel.

The kernel (tensorflow/core/kernels/random_shuffle_op.cc) exchanges each row with itself or a later
one, in turn; XLA's own form sorts by random keys.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.graph.philox import BLOCK, philox_bits

__all__ = ["shuffle_advance", "shuffled"]


def shuffle_advance(rows: tf.Tensor) -> tf.Tensor:
    """Returns by how much a run of the kernel moves its position on (int64 scalar)."""
    return tf.cast((_exchanges(rows) + BLOCK - 1) // BLOCK, tf.int64)


def shuffled(rows: tf.Tensor, key: tf.Tensor, counter: tf.Tensor) -> tf.Tensor:
    """Returns the rows in the kernel's order.

    Args:
      rows: a tensor that has at least one dimension.
      key: uint64 [1].
      counter: uint64 [2].
    """
    exchanges = _exchanges(rows)
    bits = philox_bits(exchanges, key, counter)[:exchanges]
    below = tf.cast(exchanges + 1 - tf.range(exchanges), tf.uint32)
    partners = tf.range(exchanges) + tf.cast(bits % below, tf.int32)
    partners = tf.concat([partners, [0]], 0)  # XLA compiles the loop even if it never runs

    # All that the loop reads is its own: TensorFlow numbers the names of captured values.
    def exchange(i: tf.Tensor, end: tf.Tensor, order: tf.Tensor, partners: tf.Tensor) -> Any:
        pair = tf.stack([i, partners[i]])
        values = tf.gather(order, pair[::-1])
        order = tf.tensor_scatter_nd_update(order, pair[:, None], values)
        return i + 1, end, order, partners

    start = tf.constant(0), exchanges, tf.range(exchanges + 1), partners
    _, _, order, _ = tf.while_loop(lambda i, end, *_: i < end, exchange, start)
    return tf.gather(rows, order[: tf.shape(rows)[0]])


def _exchanges(rows: tf.Tensor) -> tf.Tensor:
    return tf.maximum(tf.shape(rows)[0] - 1, 0)
