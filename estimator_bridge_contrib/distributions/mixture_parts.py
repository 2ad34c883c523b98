"""Calculations that both kinds of mixtures share."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["at_components", "deviations"]

_v1 = tf.compat.v1


def at_components(x: tf.Tensor, mixture: Any, chooser: Any, event_ndims: Any) -> tf.Tensor:
    """Gives weights the dimensions of the components' samples.

    Args:
      x: weights, of shape [*samples, *chooser's batch, components].
      mixture: the mixture.
      chooser: the distribution of the components' numbers, with the mixture's batch or a scalar.
      event_ndims: the number of dimensions of the mixture's event.

    Returns:
      The weights, of shape [*samples, *batch, components, *event]; dimensions that x lacks are 1.
    """
    with _v1.name_scope("pad_mix_dims", values=[x]):
        of_mixture, of_chooser = _batch_ndims(mixture), _batch_ndims(chooser)
        lacking = tf.where(chooser.is_scalar_batch(), of_mixture, of_mixture - of_chooser)
        shape = tf.shape(x)
        ones = [tf.ones([count], dtype=tf.int32) for count in (lacking, event_ndims)]
        return tf.reshape(x, tf.concat([shape[:-1], ones[0], shape[-1:], ones[1]], 0))


def deviations(weights: tf.Tensor, means: tf.Tensor, stddevs: tf.Tensor) -> tf.Tensor:
    """Returns the standard deviations of mixtures, a vector.

    Args:
      weights: the probabilities of the components, of shape [mixtures, components].
      means: the components' means, of the same shape.
      stddevs: their standard deviations, of the same shape.

    Raises:
      ValueError: the shapes differ, or are no matrices.
    """
    weights.shape.assert_has_rank(2)
    for name, each in (("means", means), ("stddevs", stddevs)):
        if not each.shape.is_compatible_with(weights.shape):
            raise ValueError(f"Expecting {name} to have same shape as mixture weights.")

    def weighed(values: tf.Tensor) -> tf.Tensor:
        products = tf.matmul(weights[:, tf.newaxis, :], values[:, :, tf.newaxis])
        return tf.reshape(products, [-1])

    mean = weighed(means)
    squares = weighed(tf.square(stddevs)) + weighed(tf.square(means))
    return tf.sqrt(squares - tf.square(mean))


def _batch_ndims(distribution: Any) -> Any:
    ndims = distribution.batch_shape.rank
    return tf.size(distribution.batch_shape_tensor()) if ndims is None else ndims
