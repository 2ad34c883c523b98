"""Initializers that preserve the variance of a signal from layer to layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "variance_scaling_initializer",
    "xavier_initializer",
    "xavier_initializer_conv2d",
]

Initializer = Callable[..., tf.Tensor]


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = tf.float32
) -> Initializer:
    """Makes Glorot's initializer: a variance of 2 / (fan_in + fan_out).

    Args:
      uniform: whether the distribution is uniform instead of normal.
      seed: the op's seed.
      dtype: the default type.

    Returns:
      An initializer.
    """
    return variance_scaling_initializer(
        factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype
    )


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = tf.float32,
) -> Initializer:
    """Makes an initializer with the variance ``factor / n``.

    Args:
      factor: 2.0, with FAN_IN, is He's initializer; 1.0, with FAN_AVG, Glorot's.
      mode: n is the number of inputs of a unit (FAN_IN), of outputs (FAN_OUT), or their mean
        (FAN_AVG).
      uniform: whether to draw uniformly within ``sqrt(3 factor / n)``; otherwise from a normal
        distribution with the deviation ``sqrt(1.3 factor / n)``, truncated at two deviations, which
        reduces the deviation to about ``sqrt(factor / n)``.
      seed: the op's seed.
      dtype: the default type.

    Returns:
      An initializer.

    Raises:
      TypeError: an unknown mode, or a type that is not floating.
    """
    _check_floating(dtype)
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode!r} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initialize(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> tf.Tensor:
        del partition_info  # a part is initialized like a variable of its size
        dtype = tf.as_dtype(dtype)
        _check_floating(dtype)
        fan_in, fan_out = _fans(tf.TensorShape(shape).as_list())
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return tf.random.uniform(shape, -limit, limit, dtype, seed=seed)
        deviation = math.sqrt(1.3 * factor / n)
        return tf.random.truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initialize


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    if not shape:
        return 1.0, 1.0
    positions = float(math.prod(shape[:-2]))
    return positions * (shape[-2] if len(shape) > 1 else shape[-1]), positions * shape[-1]


def _check_floating(dtype: Any) -> None:
    if not tf.as_dtype(dtype).is_floating:
        raise TypeError(
            f"Cannot create initializer for non-floating point type, got {tf.as_dtype(dtype).name}."
        )
