"""Gamma variates by ordinary operations, equal to those of TensorFlow's CPU kernel.

The kernel (tensorflow/core/kernels/random_op.cc) has the method of Marsaglia and Tsang, "A simple
method for generating gamma variables" (ACM TOMS 26, 2000), for each number on its own: number i
begins 256 i blocks of Philox after the first one. So all are tried at once, until each has been
accepted: 19 of 20 are at the first try.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.graph.philox import (
    box_muller,
    like,
    pairs_in_64_bits,
    philox,
    uniform_of,
)
from estimator_bridge.graph.random_nodes import STRIDE

__all__ = ["gamma_draws"]

_PAIR = 2  # float64 numbers of a block of Philox
_SQUEEZE = 0.0331  # of the paper: what it accepts, the logarithms would accept


class _Pairs(NamedTuple):
    """The numbers of each stream's last block, of which the last one is used first.

    Attributes:
      values: float64 [n, 2].
      left: how many have not been used, int32 [n].
    """

    values: tf.Tensor
    left: tf.Tensor


class _Tries(NamedTuple):
    """The state of n streams.

    Attributes:
      block: the number of blocks that each has drawn, uint64 [n].
      normal: its normal numbers.
      uniform: its uniform numbers.
      is_done: whether its number is accepted, bool [n].
      number: the number, float64 [n].
    """

    block: tf.Tensor
    normal: _Pairs
    uniform: _Pairs
    is_done: tf.Tensor
    number: tf.Tensor


def gamma_draws(
    dtype: tf.DType, shape: tf.Tensor, key: tf.Tensor, counter: tf.Tensor, alpha: tf.Tensor
) -> tf.Tensor:
    """Returns gamma variates of scale 1.

    Args:
      dtype: their type.
      shape: their shape, whose last dimensions are those of alpha.
      key: uint64 [1].
      counter: uint64 [2], of the first number.
      alpha: the shape parameters; below zero, and NaN, there is no number but NaN.
    """
    count, alphas = tf.reduce_prod(shape), tf.size(alpha, shape.dtype)
    per_alpha = count // tf.maximum(alphas, 1)
    # The kernel numbers all draws of the first alpha before those of the second.
    numbers = tf.range(alphas)[None, :] * per_alpha + tf.range(per_alpha)[:, None]
    starts = tf.cast(tf.reshape(numbers, [-1]), tf.uint64) * like(counter, STRIDE)
    flat = tf.cast(tf.reshape(alpha, [1, -1]), tf.float64)
    flat = tf.reshape(tf.tile(flat, tf.stack([per_alpha, 1])), [-1])
    streams = _Streams(counter, starts, key)
    return tf.reshape(tf.cast(_accepted(streams, flat), dtype), shape)


class _Streams(NamedTuple):
    """Streams of Philox: each starts so many blocks after the counter."""

    counter: tf.Tensor
    starts: tf.Tensor
    key: tf.Tensor

    def next_of(
        self, pairs: _Pairs, block: tf.Tensor, is_used: tf.Tensor, is_normal: bool
    ) -> tuple[tf.Tensor, _Pairs, tf.Tensor]:
        """Returns the next number of each stream, its pair and its blocks, where one is used."""
        is_empty = tf.equal(pairs.left, 0)
        bits = philox(self.counter, self.starts + block, self.key)
        new = box_muller(bits, tf.float64) if is_normal else _uniform(bits)
        values = tf.where(is_empty[:, None], tf.reshape(new, [-1, _PAIR]), pairs.values)
        left = tf.where(is_empty, _PAIR, pairs.left) - 1
        number = tf.where(tf.equal(left, 0), values[:, 0], values[:, 1])
        pairs = _Pairs(
            tf.where(is_used[:, None], values, pairs.values), tf.where(is_used, left, pairs.left)
        )
        return number, pairs, block + tf.cast(is_empty & is_used, tf.uint64)


def _uniform(bits: tf.Tensor) -> tf.Tensor:
    return uniform_of(pairs_in_64_bits(bits), tf.float64)


def _accepted(streams: _Streams, alpha: tf.Tensor) -> tf.Tensor:
    """Returns the first accepted number of each stream."""
    is_small = alpha < 1.0
    d = alpha + tf.where(is_small, like(alpha, 2.0 / 3), like(alpha, -1.0 / 3))
    c = (1.0 / 3) / tf.sqrt(d)

    def attempt(state: _Tries, alpha: tf.Tensor, d: tf.Tensor, c: tf.Tensor, *places: Any) -> Any:
        streams = _Streams(*places)
        is_open = ~state.is_done
        x, normal, block = streams.next_of(state.normal, state.block, is_open, True)
        v = 1.0 + c * x
        is_open &= v > 0.0
        v = v * v * v
        u, uniform, block = streams.next_of(state.uniform, block, is_open, False)
        square = x * x
        is_accepted = (u < 1.0 - _SQUEEZE * square * square) | (
            tf.math.log(u) < 0.5 * square + d * (1.0 - v + tf.math.log(v))
        )
        is_accepted &= is_open
        b, uniform, block = streams.next_of(uniform, block, is_accepted & (alpha < 1.0), False)
        number = d * v * tf.where(alpha < 1.0, tf.pow(b, 1.0 / alpha), like(alpha, 1.0))
        return (
            _Tries(
                block,
                normal,
                uniform,
                state.is_done | is_accepted,
                tf.where(is_accepted, number, state.number),
            ),
            alpha, d, c, *places,
        )  # fmt: skip

    zeros = tf.zeros_like(alpha)
    none = _Pairs(tf.stack([zeros, zeros], axis=1), tf.cast(zeros, tf.int32))
    # With an alpha of one they are exponential.
    is_exponential = tf.equal(alpha, 1.0)
    block = tf.cast(zeros, tf.uint64)
    first, _, _ = streams.next_of(none, block, is_exponential, False)
    # Of a negative alpha, or NaN, none would ever be accepted: the kernel returns NaN.
    has_none = tf.math.is_nan(c)
    number = tf.where(has_none, like(alpha, math.nan), -tf.math.log1p(-first))
    start = _Tries(block, none, none, is_exponential | has_none, number)
    end, *_ = tf.while_loop(
        lambda state, *_: tf.reduce_any(~state.is_done),
        attempt,
        # All that the loop reads is its own: TensorFlow numbers the names of captured values.
        (start, alpha, d, c, *streams),
    )
    return end.number
