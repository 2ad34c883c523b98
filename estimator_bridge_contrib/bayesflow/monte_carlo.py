"""Expectations, estimated from samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "expectation",
    "expectation_importance_sampler",
    "expectation_importance_sampler_logspace",
]

_Function = Callable[[tf.Tensor], tf.Tensor]


def expectation_importance_sampler(
    f: _Function,
    log_p: _Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> tf.Tensor:
    """Estimates the expectation of ``f(z)`` under p from samples of q.

    The positive and the negative part of f are estimated separately, each plus one, in logarithms.

    Args:
      f: a function of samples, whose results broadcast to q's batch.
      log_p: the logarithm of p's density, in the same form.
      sampling_dist_q: the distribution q.
      z: samples of q, of shape [number, *batch, *event]; otherwise give n.
      n: the number of samples to draw.
      seed: the seed for them.
      name: the operations' name.

    Returns:
      The estimate, of the shape of q's batch.

    Raises:
      ValueError: both or neither of z and n are given.
    """
    with tf.compat.v1.name_scope(name, values=[z, n]):
        samples = _samples(sampling_dist_q, z, n, seed)
        log_ratio_parts = log_p(samples), sampling_dist_q.log_prob(samples)
        values = f(samples)
        positive, negative = (
            _log_mean(tf.math.log(tf.nn.relu(part) + 1.0) + log_ratio_parts[0] - log_ratio_parts[1])
            for part in (values, -1.0 * values)
        )
    return tf.exp(positive) - tf.exp(negative)


def expectation_importance_sampler_logspace(
    log_f: _Function,
    log_p: _Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> tf.Tensor:
    """Estimates the logarithm of the expectation of a positive function from samples of q.

    Args:
      log_f: the function's logarithm, whose results broadcast to q's batch.
      log_p: the logarithm of p's density, in the same form.
      sampling_dist_q: the distribution q.
      z: samples of q, of shape [number, *batch, *event]; otherwise give n.
      n: the number of samples to draw.
      seed: the seed for them.
      name: the operations' name.

    Returns:
      The logarithm of the estimate, of the shape of q's batch.

    Raises:
      ValueError: both or neither of z and n are given.
    """
    with tf.compat.v1.name_scope(name, values=[z, n]):
        samples = _samples(sampling_dist_q, z, n, seed)
        return _log_mean(log_f(samples) + log_p(samples) - sampling_dist_q.log_prob(samples))


def _samples(distribution: Any, z: Any, n: Any, seed: int | None) -> tf.Tensor:
    with tf.compat.v1.name_scope("get_samples", values=[z, n]):
        if (z is None) == (n is None):
            raise ValueError(
                f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}'
            )
        if z is None:
            return distribution.sample(n, seed=seed)
        return tf.convert_to_tensor(z, name="z")


def _log_mean(logarithms: tf.Tensor) -> tf.Tensor:
    """Returns the logarithm of the mean over the first axis."""
    largest = tf.stop_gradient(tf.reduce_max(logarithms, [0]))
    return tf.math.log(tf.reduce_mean(tf.exp(logarithms - largest), [0])) + largest


def expectation(
    f: _Function,
    samples: tf.Tensor,
    log_prob: _Function | None = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Estimates the expectation of ``f(x)`` by its mean over samples.

    Args:
      f: a function of samples.
      samples: samples of the distribution, along ``axis``.
      log_prob: the logarithm of the distribution's density, for ``use_reparametrization=False``.
      use_reparametrization: whether the gradient goes through the samples; otherwise it is the
        score function's (Williams 1992).
      axis: the axes of the samples; None for all.
      keep_dims: whether they stay, with size 1.
      name: the operations' name; "expectation" by default.

    Returns:
      The estimate.

    Raises:
      ValueError: f is no function, or log_prob is needed and is none.
    """
    with tf.compat.v1.name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis, keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        constant = tf.stop_gradient(samples)
        score, values = log_prob(constant), f(constant)
        values += tf.stop_gradient(values) * (score - tf.stop_gradient(score))  # adds zeros
        return tf.reduce_mean(values, axis, keep_dims)
