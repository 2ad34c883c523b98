"""Gradient transformations of ``optimize_loss``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["adaptive_clipping_fn", "add_noise", "clip_by_global_norm", "multiply"]

v1 = tf.compat.v1
GradientsAndVariables = Sequence[tuple[Any, Any]]


def clip_by_global_norm(pairs: GradientsAndVariables, norm: float) -> list[tuple[Any, Any]]:
    """Scales all gradients down so that their global norm is at most a value."""
    gradients, variables = zip(*pairs)
    return list(zip(tf.clip_by_global_norm(gradients, norm)[0], variables))


def add_noise(pairs: GradientsAndVariables, scale: float) -> list[tuple[Any, Any]]:
    """Adds noise of a truncated normal distribution, times ``scale``, to each gradient."""
    noisy = []
    for gradient, variable in pairs:
        if gradient is not None:
            slices = isinstance(gradient, tf.IndexedSlices)
            shape = gradient.dense_shape if slices else gradient.shape
            noise = tf.random.truncated_normal(shape) * scale
            gradient = tf.convert_to_tensor(gradient) + noise  # noqa: PLW2901
        noisy.append((gradient, variable))
    return noisy


def multiply(pairs: GradientsAndVariables, multipliers: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Multiplies the gradients of some variables, given by variable or by name."""
    by_name = {getattr(key, "name", key): value for key, value in multipliers.items()}
    return [
        (gradient, variable)
        if gradient is None or variable.name not in by_name
        else (_scaled(gradient, by_name[variable.name]), variable)
        for gradient, variable in pairs
    ]


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[GradientsAndVariables], list[tuple[Any, Any]]]:
    """Clips gradients whose norm is unusually large, for ``optimize_loss(clip_gradients=...)``.

    Moving averages of the mean and variance of the norm's logarithm are kept, in the variables
    ``mean`` and ``sq_mean``. A norm above ``exp(mean + std_factor * deviation)`` is scaled to
    ``exp(mean)``.

    Args:
      std_factor: the number of deviations that is still usual.
      decay: the decay of the averages.
      static_max_norm: an additional upper bound of the norm.
      global_step: if given, the decay is at most ``step / (step + 1)``, for a faster start.
      report_summary: whether to write the limit to ``global_norm/adaptive_max_gradient_norm``.
      epsilon: added to the norm, and the minimal variance.
      name: the variable scope; ``AdaptiveMaxNorm`` by default.

    Returns:
      A function of (gradient, variable) pairs, which returns such pairs.
    """

    def clip(pairs: GradientsAndVariables) -> list[tuple[Any, Any]]:
        norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
        with v1.variable_scope(name, "AdaptiveMaxNorm", [norm]):
            log_norm, share = tf.math.log(norm + epsilon), tf.constant(decay)
            if global_step is not None:
                steps = tf.cast(global_step, tf.float32)
                share = tf.minimum(share, steps / (steps + 1.0))
            mean = _average("mean", log_norm, share)
            squares = _average("sq_mean", tf.square(log_norm), share)
            deviation = tf.sqrt(tf.maximum(epsilon, squares - tf.square(mean)))
            limit = tf.exp(mean + std_factor * deviation)
        if report_summary:
            v1.summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
        factor = tf.where(norm < limit, tf.ones_like(norm), tf.exp(mean) / norm)
        if static_max_norm is not None:
            factor = tf.minimum(static_max_norm / norm, factor)
        return [
            (gradient if gradient is None else _scaled(gradient, factor), variable)
            for gradient, variable in pairs
        ]

    return clip


def _scaled(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, tf.IndexedSlices):
        values = gradient.values * tf.cast(factor, gradient.dtype)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * tf.cast(factor, gradient.dtype)


def _average(name: str, value: tf.Tensor, decay: tf.Tensor) -> tf.Tensor:
    variable = v1.get_variable(
        name, value.shape, value.dtype, v1.zeros_initializer(), trainable=False
    )
    step = (tf.convert_to_tensor(variable) - value) * (1.0 - decay)
    return tf.convert_to_tensor(v1.assign_sub(variable, step))
