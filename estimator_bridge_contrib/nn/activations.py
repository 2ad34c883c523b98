"""Dropout that keeps a mean of 0 and a variance of 1, and a softplus of adjustable smoothness."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["alpha_dropout", "scaled_softplus"]

_v1 = tf.compat.v1
# The value of a dropped unit: SELU's limit for large negative inputs.
_DROPPED = -1.7580993408473766


def alpha_dropout(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> tf.Tensor:
    """Drops units so that a mean of 0 and a variance of 1 stay as they are.

    For networks with SELU: Klambauer et al., https://arxiv.org/abs/1706.02515, section on alpha
    dropout.

    Args:
      x: floats of any shape.
      keep_prob: the probability that an element is kept: a number in (0, 1], or a scalar.
      noise_shape: the shape of what is drawn, broadcast to x; by default that of x.
      seed: the operation's seed.
      name: the operations' name.

    Returns:
      A tensor of the shape of x; x itself, if keep_prob is 1.

    Raises:
      ValueError: keep_prob is out of range, or no scalar.
    """
    with _v1.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, (int, float, np.number)) and not 0 < keep_prob <= 1.0:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], got "
                f"{keep_prob:g}"
            )
        keep_prob = tf.convert_to_tensor(keep_prob, x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if tf.get_static_value(keep_prob) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        drawn = _v1.random_uniform(shape, seed=seed, dtype=x.dtype)
        mask = tf.cast(drawn >= 1 - keep_prob, x.dtype)
        scale = (keep_prob + keep_prob * (1 - keep_prob) * _DROPPED**2) ** -0.5
        return scale * (x * mask + _DROPPED * (1 - mask)) - scale * _DROPPED * (1 - keep_prob)


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> tf.Tensor:
    """Computes ``alpha * log(1 + exp(x / alpha))``, and no more than clip.

    The smaller alpha is, the closer it comes to ReLU. The gradient is computed from the result:
    with z = result / alpha, that of x is 1 - exp(-z).

    Args:
      x: floats of any shape.
      alpha: a positive tensor that x is broadcast with.
      clip: the largest result, or None.
      name: the operations' name.

    Returns:
      A tensor of the broadcast shape.
    """
    operands = [x, alpha] if clip is None else [x, alpha, clip]
    with _v1.name_scope(name, "scaled_softplus", operands):
        x = tf.convert_to_tensor(x, name="x")
        alpha = tf.convert_to_tensor(alpha, x.dtype, name="alpha")
        limit = [] if clip is None else [tf.convert_to_tensor(clip, x.dtype, name="clip")]
        kind = "_clip" if limit else ""
        result = _smooth(x, alpha, *limit)
        return tf.identity(result, name=f"ScaledSoftplusHelper{kind}_{x.dtype.name}")


@tf.custom_gradient
def _smooth(x: tf.Tensor, alpha: tf.Tensor, *clip: tf.Tensor) -> Any:
    result = alpha * tf.nn.softplus(x / alpha)
    if clip:
        result = tf.minimum(result, clip[0])

    def grad(upstream: tf.Tensor) -> list[tf.Tensor]:
        beyond = []
        if clip:
            free = tf.cast(result < clip[0], upstream.dtype)
            beyond = [_summed_to(upstream * (1 - free), clip[0])]
            upstream *= free
        ratio = result / alpha
        decay = tf.exp(-ratio)
        by_x = 1 - decay
        # The small number keeps log(0) out; t * log(t) is 0 in the limit.
        by_alpha = ratio * decay - by_x * tf.math.log(by_x + 1e-8)
        return [_summed_to(upstream * by_x, x), _summed_to(upstream * by_alpha, alpha), *beyond]

    return result, grad


def _summed_to(gradient: tf.Tensor, tensor: tf.Tensor) -> tf.Tensor:
    """Sums a gradient over the dimensions in which its tensor was broadcast."""
    shape = tf.shape(tensor)
    axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(gradient))
    return tf.reshape(tf.reduce_sum(gradient, axes), shape)
