"""Distributions of one value."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.distributions.scalars import after, arguments_of

__all__ = ["Deterministic", "VectorDeterministic"]

_v1 = tf.compat.v1


class _OneValue(tf.compat.v1.distributions.Distribution):
    """A distribution whose samples are ``loc``.

    Args:
      arguments: the arguments of the subclass's constructor, for ``copy``.
      is_vector: whether the event is a vector, which ``validate_args`` checks.
    """

    def __init__(self, arguments: dict[str, Any], is_vector: bool):
        validate_args = arguments["validate_args"]
        loc, atol, rtol = (arguments[name] for name in ("loc", "atol", "rtol"))
        with _v1.name_scope(arguments["name"], values=[loc, atol, rtol]) as scope:
            self._loc = tf.convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                self._loc = _at_least_a_vector(self._loc)
            super().__init__(
                dtype=self._loc.dtype,
                reparameterization_type=_v1.distributions.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=arguments["allow_nan_stats"],
                parameters=arguments,
                graph_parents=[self._loc],
                name=scope,
            )
            self._atol, self._rtol = self._tolerance(atol), self._tolerance(rtol)
            self._slack = self._atol
            if rtol is not None:
                self._slack = self._atol + self._rtol * tf.abs(self._loc)

    def _tolerance(self, value: Any) -> tf.Tensor:
        if value is None:
            return tf.constant(0, dtype=self._loc.dtype)
        value = tf.convert_to_tensor(value, dtype=self._loc.dtype)
        if not self.validate_args:
            return value
        message = "Argument 'tol' must be non-negative"
        return after([_v1.assert_non_negative(value, message=message)], value)

    @property
    def loc(self) -> tf.Tensor:
        """The value."""
        return self._loc

    @property
    def atol(self) -> tf.Tensor:
        """The distance from the value that counts as the value."""
        return self._atol

    @property
    def rtol(self) -> tf.Tensor:
        """The same, as a part of the value."""
        return self._rtol

    def _is_value(self, x: tf.Tensor) -> tf.Tensor:
        return tf.abs(x - self._loc) <= self._slack

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        static_n = tf.get_static_value(tf.convert_to_tensor(n))
        if static_n is not None and self._loc.shape.rank is not None:
            times: Any = [static_n] + [1] * self._loc.shape.rank
        else:
            times = tf.concat([[n], tf.ones_like(tf.shape(self._loc))], 0)
        return tf.tile(self._loc[tf.newaxis, ...], times)

    def _entropy(self) -> tf.Tensor:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> tf.Tensor:
        return tf.identity(self._loc)

    def _mode(self) -> tf.Tensor:
        return self.mean()

    def _variance(self) -> tf.Tensor:
        return tf.zeros_like(self._loc)


class Deterministic(_OneValue):
    """A distribution of one number.

    Args:
      loc: the number.
      atol: the distance from ``loc`` at which a number still has the probability 1; 0 by default.
      rtol: the same, as a part of the absolute value of ``loc``. Both are added.
      validate_args: whether to check, when it runs, that the tolerances are not negative.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.
    """

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ):
        super().__init__(arguments_of(locals()), is_vector=False)

    def _batch_shape(self) -> tf.TensorShape:
        return self._loc.shape

    def _batch_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._loc)

    def _event_shape(self) -> tf.TensorShape:
        return tf.TensorShape([])

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.constant([], dtype=tf.int32)

    def _prob(self, x: tf.Tensor) -> tf.Tensor:
        return tf.cast(self._is_value(x), self.dtype)

    def _cdf(self, x: tf.Tensor) -> tf.Tensor:
        return tf.cast(x >= self._loc - self._slack, self.dtype)


class VectorDeterministic(_OneValue):
    """A distribution of one vector.

    Args:
      loc: the vector, of shape [*batch, k].
      atol: the distance from ``loc`` at which an element still counts as equal; 0 by default.
      rtol: the same, as a part of the absolute value of ``loc``. Both are added.
      validate_args: whether to check, when it runs, that the tolerances are not negative, and that
        what a probability is asked for is a vector of this size.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: ``loc`` is a scalar, with ``validate_args``.
    """

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ):
        super().__init__(arguments_of(locals()), is_vector=True)

    def _batch_shape(self) -> tf.TensorShape:
        return self._loc.shape[:-1]

    def _batch_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._loc)[:-1]

    def _event_shape(self) -> tf.TensorShape:
        return self._loc.shape[-1:]

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._loc)[-1]

    def _prob(self, x: tf.Tensor) -> tf.Tensor:
        if self.validate_args:
            is_vector = _v1.assert_rank_at_least(x, 1)
            has_size = _v1.assert_equal(
                self.event_shape_tensor(),
                tf.gather(tf.shape(x), tf.rank(x) - 1),
                message="Argument 'x' not defined in the same space R^k as this distribution",
            )
            x = after([each for each in (is_vector, has_size) if each is not None], x)
        return tf.cast(tf.reduce_all(self._is_value(x), axis=-1), self.dtype)


def _at_least_a_vector(loc: tf.Tensor) -> tf.Tensor:
    message = "Argument loc must be at least rank 1."
    if loc.shape.rank is None:
        return after([_v1.assert_rank_at_least(loc, 1, message=message)], loc)
    if loc.shape.rank < 1:
        raise ValueError(message)
    return loc
