"""Correlations of a sequence's samples with those before them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters

__all__ = ["auto_correlation"]

_v1 = tf.compat.v1


def auto_correlation(
    x: Any,
    axis: int = -1,
    max_lags: Any = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> tf.Tensor:
    """Returns the mean product of samples and of those some steps before, for each lag.

    By the theorem of Wiener and Khinchin: the products are the inverse transform of the squared
    amplitudes of the samples' Fourier transform, once zeros have been added.

    Args:
      x: samples, float or complex, of at least one dimension.
      axis: the dimension of the sequence; the others are batches.
      max_lags: the largest lag, an integer; all that the sequence has by default.
      center: whether the sequence's mean is subtracted first.
      normalize: whether to divide by the value for the lag 0.
      name: the operations' name scope.

    Returns:
      A tensor of x's type and shape, with ``max_lags + 1`` elements along the axis.

    Raises:
      TypeError: x is neither float nor complex.
    """
    with _v1.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if not (x.dtype.is_complex or x.dtype.is_floating):
            raise TypeError(f"Argument x must have either float or complex dtype found: {x.dtype}")
        rank = distribution_parameters.prefer_static_rank(x)
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        series = distribution_parameters.rotate_transpose(x, shift)
        if center:
            series -= tf.reduce_mean(series, axis=-1, keepdims=True)
        length = distribution_parameters.prefer_static_shape(series)[-1]
        lags = _lags(max_lags, length)
        products = _products(series, length)[..., : lags + 1]
        real = x.dtype.real_dtype
        counts = tf.cast(length, real) - tf.range(0.0, tf.cast(lags, real) + 1.0, dtype=real)
        means = products / tf.cast(counts, x.dtype)
        fixed = None if isinstance(lags, tf.Tensor) else int(lags) + 1
        if fixed is not None and series.shape.is_fully_defined():
            means.set_shape([*series.shape[:-1], fixed])
        if normalize:
            means /= means[..., :1]
        return distribution_parameters.rotate_transpose(means, -shift)


def _lags(max_lags: Any, length: Any) -> Any:
    """Returns the largest lag that the sequence has: a number if it is known, or a tensor."""
    if max_lags is None:
        return length - 1
    static_lags = tf.get_static_value(tf.convert_to_tensor(max_lags, name="max_lags"))
    if static_lags is None or isinstance(length, tf.Tensor):
        return tf.minimum(length - 1, max_lags)
    return min(length - 1, static_lags)


def _products(series: tf.Tensor, length: Any) -> tf.Tensor:
    """Returns the sums of products, for each lag and, past the sequence's length, for no lag."""
    # Zeros up to a power of two, so that the ends of the sequence do not meet.
    exponent = tf.math.ceil(tf.math.log(2.0 * tf.cast(length, tf.float64)) / np.log(2.0))
    zeros = tf.cast(2.0**exponent - tf.cast(length, tf.float64), tf.int32)
    padded = distribution_parameters.pad(series, axis=-1, back=True, count=zeros)
    if not padded.dtype.is_complex:
        padded = tf.complex(padded, tf.zeros([], padded.dtype))
    spectrum = tf.signal.fft(padded)
    return tf.cast(tf.signal.ifft(spectrum * tf.math.conj(spectrum)), series.dtype)
