"""Shapes that a transformed distribution puts in place of the empty ones of its base.

Each decision is made when the graph is built if the shapes are known by then, else when it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters
from estimator_bridge_contrib.distributions.scalars import after

__all__ = ["ShapeOverrides"]

_v1 = tf.compat.v1


class ShapeOverrides:
    """The batch shape and the event shape to put in place of the base's.

    Args:
      distribution: the base. Its batch (event) must be a scalar, to be replaced.
      batch_shape: a vector of integers above 0, or None to leave it.
      event_shape: the same.
      validate_args: whether to check at run time what is not known before.

    Raises:
      ValueError: a shape is no vector, has an element that is not positive, or would replace one
        that is not empty.
    """

    def __init__(self, distribution: Any, batch_shape: Any, event_shape: Any, validate_args: bool):
        self._empty = tf.constant([], dtype=tf.int32, name="empty")
        is_scalar_batch = distribution.is_scalar_batch()
        self.batch = self._checked(batch_shape, is_scalar_batch, validate_args, "batch_shape")
        self.event = self._checked(
            event_shape, distribution.is_scalar_event(), validate_args, "event_shape"
        )
        self.has_batch = _not(_is_empty(self.batch))
        self.has_event = _not(_is_empty(self.event))
        # Samples of the event come first of all, and have to go behind the base's batch.
        self._rotates = _all(self.has_event, _not(self.has_batch), _not(is_scalar_batch))
        count = _length(self.event)
        self._rotated = _select(self._rotates, count, 0)
        self._event_axes = tf.range(self._rotated - count, self._rotated)

    @property
    def may_have_batch(self) -> bool:
        """True if the batch shape is replaced, or may be when it runs."""
        return _may_be_long(self.batch)

    @property
    def may_have_event(self) -> bool:
        """True if the event shape is replaced, or may be when it runs."""
        return _may_be_long(self.event)

    def sample_shape(self, n: Any) -> tf.Tensor:
        """Returns the shape of samples to ask of the base, for n of the transformed one."""
        pick, empty = distribution_parameters.pick_vector, self._empty
        first, last = pick(self._rotates, empty, [n]), pick(self._rotates, [n], empty)
        return _joined(first, self.batch, self.event, last)

    def to_base(self, x: tf.Tensor) -> tf.Tensor:
        """Moves the event's dimensions to where the base has its samples'."""
        return self._turned(x, lambda ndims: ndims - self._rotated)

    def from_base(self, x: tf.Tensor) -> tf.Tensor:
        """Moves the event's dimensions to the end."""
        return self._turned(x, lambda ndims: self._rotated)

    def summed(self, log_prob: tf.Tensor) -> tf.Tensor:
        """Sums over the event's elements."""
        return tf.reduce_sum(log_prob, self._event_axes) if self.may_have_event else log_prob

    def multiplied(self, prob: tf.Tensor) -> tf.Tensor:
        """Multiplies the event's elements."""
        return tf.reduce_prod(prob, self._event_axes) if self.may_have_event else prob

    def entropy(self, entropy: tf.Tensor, base_batch: Any) -> tf.Tensor:
        """Returns the entropy of the whole event, in the new batch.

        Args:
          entropy: the base's.
          base_batch: the base's batch shape, a tensor. It is read only if it is needed.
        """
        if self.may_have_event:
            entropy *= tf.cast(tf.reduce_prod(self.event), entropy.dtype)
        if not self.may_have_batch:
            return entropy
        entropy = tf.reshape(entropy, tf.concat([tf.ones_like(self.batch), base_batch], 0))
        return tf.tile(entropy, tf.concat([self.batch, tf.ones_like(base_batch)], 0))

    def _turned(self, x: tf.Tensor, first: Any) -> tf.Tensor:
        if tf.get_static_value(self._rotates) is not None and not tf.get_static_value(
            self._rotates
        ):
            return x
        ndims = tf.rank(x)
        place = first(ndims)
        return tf.transpose(x, _joined(tf.range(place, ndims), tf.range(0, place)))

    def _checked(
        self, shape: Any, base_is_scalar: Any, validate_args: bool, name: str
    ) -> tf.Tensor:
        shape = tf.convert_to_tensor([] if shape is None else shape, tf.int32, name=name)
        is_empty = _is_empty(shape)
        if tf.get_static_value(is_empty):
            return self._empty
        checks = []
        if shape.shape.rank not in (None, 1):
            raise ValueError("shape override must be a vector")
        if shape.shape.rank is None and validate_args:
            checks.append(_v1.assert_rank(shape, 1, message="shape override must be a vector"))
        static_shape = tf.get_static_value(shape)
        message = "shape override must have positive elements"
        if static_shape is not None and np.any(static_shape <= 0):
            raise ValueError(message)
        if static_shape is None and validate_args:
            checks.append(_v1.assert_positive(shape, message=message))
        replaces = _all(_not(base_is_scalar), _not(is_empty))
        message = "base distribution not scalar"
        if tf.get_static_value(replaces):
            raise ValueError(message)
        if tf.get_static_value(replaces) is None and validate_args:
            checks.append(_v1.assert_equal(replaces, False, message=message))
        return after(checks, shape)


def _may_be_long(shape: tf.Tensor) -> bool:
    static_shape = tf.get_static_value(shape)
    return static_shape is None or static_shape.size != 0


def _length(shape: tf.Tensor) -> tf.Tensor:
    if shape.shape.rank not in (None, 1):
        raise ValueError("input is not a valid shape: not 1D")
    static_length = tf.compat.dimension_value(shape.shape[0]) if shape.shape.rank == 1 else None
    return tf.shape(shape)[0] if static_length is None else tf.constant(static_length, tf.int32)


def _is_empty(shape: tf.Tensor) -> tf.Tensor:
    length = _length(shape)
    static_length = tf.get_static_value(length)
    return tf.equal(length, 0) if static_length is None else tf.constant(bool(static_length == 0))


def _not(condition: tf.Tensor) -> tf.Tensor:
    value = tf.get_static_value(condition)
    return tf.logical_not(condition) if value is None else tf.constant(not value)


def _all(*conditions: tf.Tensor) -> tf.Tensor:
    static_conditions = [tf.get_static_value(each) for each in conditions]
    if any(each is not None and not each for each in static_conditions):
        return tf.constant(False)
    if all(each is not None for each in static_conditions):
        return tf.constant(True)
    return tf.reduce_all(conditions)


def _select(condition: tf.Tensor, true: Any, false: Any) -> Any:
    static_condition = tf.get_static_value(condition)
    if static_condition is None:
        return tf.where(condition, true, false)
    return true if static_condition else false


def _joined(*vectors: Any) -> tf.Tensor:
    """Returns one vector, a constant if all of them are known."""
    tensors = [tf.convert_to_tensor(each) for each in vectors]
    static_vectors = [tf.get_static_value(each) for each in tensors]
    if any(each is None for each in static_vectors):
        return tf.concat(tensors, 0)
    return tf.constant(np.concatenate(static_vectors).astype(np.int32))
