"""Bijectors of vectors: to probabilities, and from increasing numbers."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector, distribution_parameters
from estimator_bridge_contrib.distributions.scalars import after

__all__ = ["Ordered", "SoftmaxCentered"]

_v1 = tf.compat.v1


def _last(shape: tf.TensorShape) -> int | None:
    return None if shape.rank is None else tf.compat.dimension_value(shape[-1])


class _OfVectors(Bijector):
    """A bijector of vectors that makes them longer by some elements."""

    _added = 0

    def _forward_event_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        size = _last(input_shape)
        return input_shape if size is None else tf.TensorShape([size + self._added])

    def _forward_event_shape_tensor(self, input_shape: tf.Tensor) -> tf.Tensor:
        return (input_shape[-1] + self._added)[..., tf.newaxis]

    def _inverse_event_shape(self, output_shape: tf.TensorShape) -> tf.TensorShape:
        size = _last(output_shape)
        if size is None:
            return output_shape
        if size <= 1:
            raise ValueError(f"output_shape[-1] = {size} <= 1")
        return tf.TensorShape([size - self._added])

    def _inverse_event_shape_tensor(self, output_shape: tf.Tensor) -> tf.Tensor:
        checks = []
        if self.validate_args:
            message = "Need last dimension greater than 1."
            checks = [_v1.assert_greater(output_shape[-1], 1, message=message)]
        return (after(checks, output_shape)[-1] - self._added)[..., tf.newaxis]


class SoftmaxCentered(_OfVectors):
    """The softmax of a vector with a 0 at its end: of size k, it gives k + 1 probabilities.

    Args:
      validate_args: whether to check, when it runs, that y has at least two elements.
      name: the operations' name.
    """

    _added = 1

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.softmax(_resized(distribution_parameters.pad(x, axis=-1, back=True), x, 1))

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        logarithms = tf.math.log(y)
        return _resized(logarithms[..., :-1] + (-logarithms[..., -1])[..., tf.newaxis], y, -1)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return -tf.reduce_sum(tf.math.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        total = tf.nn.softplus(tf.reduce_logsumexp(x, axis=-1, keepdims=True))
        others = tf.reduce_sum(x - total, axis=-1, keepdims=True)
        return tf.squeeze(-total + others, axis=-1)


def _resized(tensor: tf.Tensor, of: tf.Tensor, added: int) -> tf.Tensor:
    """Gives a tensor the static shape of another, with a last dimension of another size."""
    if of.shape.rank is not None:
        last = _last(of.shape)
        tensor.set_shape(of.shape[:-1].concatenate([None if last is None else last + added]))
    return tensor


class Ordered(_OfVectors):
    """Increasing numbers to the first one and the logarithms of the differences.

    Args:
      validate_args: whether to check, when it runs, that x increases, and that y has at least two
        elements.
      name: the operations' name.
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _differences(self, x: tf.Tensor) -> tf.Tensor:
        differences = x[..., 1:] - x[..., :-1]
        if not self.validate_args:
            return differences
        message = "Forward transformation input must be strictly increasing."
        return after([_v1.assert_positive(differences, message=message)], differences)

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.concat([x[..., :1], tf.math.log(self._differences(x))], axis=-1)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return tf.cumsum(tf.concat([y[..., :1], tf.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> tf.Tensor:
        return -tf.reduce_sum(tf.math.log(self._differences(x)), axis=-1)
