"""Bijectors that arrange the elements of an event otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector, constant_value_as_shape
from estimator_bridge_contrib.distributions.scalars import after

__all__ = ["Permute", "Reshape"]

_v1 = tf.compat.v1


class Permute(Bijector):
    """The elements of vectors in another order.

    Args:
      permutation: the old place of each element, a vector of integers.
      validate_args: whether to check, when it runs, that it has each place once, if it is no
        constant.
      name: the operations' name.

    Raises:
      TypeError: the permutation is not of integers.
      ValueError: it does not have each place once.
    """

    def __init__(self, permutation: Any, validate_args: bool = False, name: str | None = None):
        message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
        with _v1.name_scope(name, "permute", values=[permutation]):
            places = tf.convert_to_tensor(permutation, name="permutation")
            if not places.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({places.dtype.name}) should be `int`-like.")
            static_places = tf.get_static_value(places)
            if static_places is not None:
                if set(static_places) != set(range(static_places.size)):
                    raise ValueError(message)
            elif validate_args:
                ordered = -tf.math.top_k(-places, k=tf.shape(places)[-1], sorted=True).values
                check = _v1.assert_equal(ordered, tf.range(tf.size(ordered)), message=message)
                places = after([check], places)
            self._permutation = places
            super().__init__(
                forward_min_event_ndims=1,
                is_constant_jacobian=True,
                validate_args=validate_args,
                name=name or "permute",
            )

    @property
    def permutation(self) -> tf.Tensor:
        """The old place of each element."""
        return self._permutation

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        return tf.gather(x, self._permutation, axis=-1)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        return tf.gather(y, tf.math.invert_permutation(self._permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        return tf.constant(0.0, dtype=x.dtype)


class Reshape(Bijector):
    """The elements of an event in another shape.

    Args:
      event_shape_out: the new shape, a vector of integers of which one may be -1.
      event_shape_in: the old shape, the same.
      validate_args: whether to check, when it runs, what is not known before.
      name: the operations' name.

    Raises:
      TypeError: a shape is not of integers.
      ValueError: a shape is no vector, has several -1 or an integer below that, or is not that of
        what is given to ``forward`` or ``inverse``.
    """

    def __init__(
        self,
        event_shape_out: Any,
        event_shape_in: Any = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ):
        with _v1.name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            self._out = tf.convert_to_tensor(
                event_shape_out, name="event_shape_out", dtype_hint=tf.int32
            )
            self._in = tf.convert_to_tensor(
                event_shape_in, name="event_shape_in", dtype_hint=tf.int32
            )
            self._checks = _shape_checks(self._out, validate_args)
            self._checks += _shape_checks(self._in, validate_args)
            super().__init__(
                forward_min_event_ndims=0,
                is_constant_jacobian=True,
                validate_args=validate_args,
                name=name or "reshape",
            )

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._reshaped(x, self._in, self._out)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._reshaped(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return tf.constant(0.0, dtype=x.dtype)

    def _forward_event_shape(self, input_shape: Any) -> tf.TensorShape:
        with tf.control_dependencies(self._checks):
            return self.forward(tf.zeros(input_shape)).shape

    def _inverse_event_shape(self, output_shape: Any) -> tf.TensorShape:
        with tf.control_dependencies(self._checks):
            return self.inverse(tf.zeros(output_shape)).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return tf.shape(self.forward(tf.zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return tf.shape(self.inverse(tf.zeros(output_shape)))

    def _reshaped(self, x: tf.Tensor, old: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
        ndims = tf.compat.dimension_value(old.shape.with_rank_at_least(1)[0])
        x = after(self._event_checks(x, old, ndims), x)
        if ndims is not None and ndims == x.shape.rank:
            return tf.reshape(x, new)
        rank = tf.rank(x) if x.shape.rank is None else x.shape.rank
        # A shape of no vector counts as one dimension less than it has.
        before = tf.shape(x)[: rank - tf.abs(tf.shape(old)[0])]
        return tf.reshape(x, tf.concat([before, new], 0))

    def _event_checks(self, x: tf.Tensor, old: tf.Tensor, ndims: int | None) -> list[Any]:
        """Compares the event's shape with the one that it should have, where that is not -1."""
        message = "Input `event_shape` does not match `event_shape_in`"
        expected = tf.get_static_value(old)
        event = None
        if ndims is not None and x.shape.rank is not None:
            event = x.shape.with_rank_at_least(ndims)[x.shape.rank - ndims :]
        if event is not None and event.is_fully_defined() and expected is not None:
            sizes = np.array(event.as_list(), np.int32)
            if not np.array_equal(sizes[expected >= 0], expected[expected >= 0]):
                raise ValueError(f"{message} ({sizes} vs {expected}).")
            return []
        if not self.validate_args:
            return []
        is_given = tf.reshape(old >= 0, [-1])
        sizes = tf.shape(x)[tf.rank(x) - tf.shape(old)[0] :]
        return [
            _v1.assert_equal(
                tf.boolean_mask(sizes, is_given),
                tf.boolean_mask(old, is_given),
                message=f"{message}.",
            )
        ]


def _shape_checks(shape: tf.Tensor, validate_args: bool) -> list[Any]:
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    checks = []
    if shape.shape.rank is not None:
        if shape.shape.rank > 1:
            raise ValueError(f"`{shape}` rank ({shape.shape.rank}) should be <= 1.")
    elif validate_args:
        checks.append(
            _v1.assert_less_equal(tf.rank(shape), 1, message=f"`{shape}` rank should be <= 1.")
        )
    # Raises the error about integers below -1. Those that are -1 count as unknown.
    static_shape = constant_value_as_shape(shape)
    if validate_args and not static_shape.is_fully_defined():
        inferred = tf.reduce_sum(tf.cast(tf.equal(shape, -1), tf.int32))
        text = f"`{shape}` elements must "
        checks += [
            _v1.assert_less_equal(inferred, 1, message=f"{text}have at most one `-1`."),
            _v1.assert_greater_equal(
                shape, -1, message=f"{text}be either positive integers or `-1`."
            ),
        ]
    return checks
