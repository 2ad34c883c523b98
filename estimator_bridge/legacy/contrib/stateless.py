"""tf.contrib.stateless: random numbers that follow from a seed of two numbers alone."""

from __future__ import annotations

import tensorflow as tf

__all__ = [
    "stateless_multinomial",
    "stateless_random_normal",
    "stateless_random_uniform",
    "stateless_truncated_normal",
]

_random = tf.compat.v1.random

stateless_multinomial = _random.stateless_multinomial
stateless_random_normal = _random.stateless_normal
stateless_random_uniform = _random.stateless_uniform
stateless_truncated_normal = _random.stateless_truncated_normal
