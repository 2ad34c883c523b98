"""Distributions of one of several classes, as a vector with one 1; and its smooth relatives.

Shapes: the event is a vector, with an element for each class. ``logits`` and ``probs`` have the
shape [*batch, classes].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import (
    distribution_parameters,
    registers_divergence,
)
from estimator_bridge_contrib.distributions.scalars import after, arguments_of

__all__ = ["ExpRelaxedOneHotCategorical", "OneHotCategorical"]

_v1 = tf.compat.v1
_distributions = _v1.distributions


class _OfClasses(tf.compat.v1.distributions.Distribution):
    """A distribution of vectors with an element for each class."""

    @property
    def event_size(self) -> tf.Tensor:
        """The number of classes, a scalar."""
        return self._event_size

    @property
    def logits(self) -> tf.Tensor:
        """The logarithms of the probabilities, up to a constant, of shape [*batch, classes]."""
        return self._logits

    @property
    def probs(self) -> tf.Tensor:
        """The probabilities, of shape [*batch, classes]."""
        return self._probs

    def _keep_probabilities(self, arguments: dict[str, Any], scope: str) -> None:
        self._logits, self._probs = distribution_parameters.get_logits_and_probs(
            logits=arguments["logits"],
            probs=arguments["probs"],
            validate_args=arguments["validate_args"],
            multidimensional=True,
            name=scope,
        )

    def _keep_size(self) -> None:
        shape = self._logits.shape.with_rank_at_least(1)
        if shape.rank is None:
            with _v1.name_scope("batch_rank"):
                self._batch_rank = tf.rank(self._logits) - 1
        else:
            self._batch_rank = tf.constant(shape.rank - 1, dtype=tf.int32, name="batch_rank")
        with _v1.name_scope("event_size"):
            self._event_size = tf.shape(self._logits)[-1]

    def _batch_shape(self) -> tf.TensorShape:
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._logits)[:-1]

    def _event_shape(self) -> tf.TensorShape:
        return self._logits.shape.with_rank_at_least(1)[-1:]

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.shape(self._logits)[-1:]

    def _matrices(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Returns x and the logits as matrices of one shape, and the shape of a result for each."""
        logits = self._logits
        has_static_shapes = x.shape.is_fully_defined() and logits.shape.is_fully_defined()
        if not has_static_shapes or x.shape != logits.shape:
            logits = tf.ones_like(x, dtype=logits.dtype) * logits
            x = tf.ones_like(logits, dtype=x.dtype) * x
        shape = tf.shape(tf.reduce_sum(logits, -1))
        flat = [-1, self._event_size]
        return tf.reshape(x, flat), tf.reshape(logits, flat), shape

    def _valid(self, x: tf.Tensor) -> tf.Tensor:
        if not self.validate_args:
            return x
        total = tf.reduce_logsumexp(x, axis=[-1])
        checks = [
            _v1.assert_non_positive(x),
            _v1.assert_near(tf.zeros([], dtype=self.dtype), total),
        ]
        return after(checks, x)


class OneHotCategorical(_OfClasses):
    """A distribution of vectors that are 1 at one class and 0 elsewhere.

    Args:
      logits: the logarithms of the probabilities, up to a constant, of shape [*batch, classes].
      probs: the probabilities, instead of ``logits``.
      dtype: the type of the vectors.
      validate_args: whether to check the parameters when it runs. As in TensorFlow 1.15, it also
        checks that x of ``log_prob(x)`` is the logarithm of probabilities, which no sample is.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = tf.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[logits, probs]) as scope:
            self._keep_probabilities(arguments, scope)
            self._keep_size()
        super().__init__(
            dtype=dtype,
            reparameterization_type=_distributions.NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=arguments,
            graph_parents=[self._logits, self._probs],
            name=scope,
        )

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        logits = self._logits
        shape = tf.concat([[n], tf.shape(logits)], 0)
        if logits.shape.rank != 2:
            logits = tf.reshape(logits, [-1, self._event_size])
        classes = tf.transpose(_v1.multinomial(logits, n, seed=seed))
        return tf.reshape(tf.one_hot(classes, self._event_size, dtype=self.dtype), shape)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        vectors, logits, shape = self._matrices(self._valid(x))
        loss = tf.nn.softmax_cross_entropy_with_logits(
            labels=tf.stop_gradient(vectors), logits=logits
        )
        return tf.reshape(-loss, shape)

    def _entropy(self) -> tf.Tensor:
        return -tf.reduce_sum(tf.nn.log_softmax(self._logits) * self._probs, axis=-1)

    def _mode(self) -> tf.Tensor:
        likeliest = tf.argmax(self._logits, axis=self._batch_rank)
        vectors = tf.one_hot(likeliest, self._event_size, dtype=self.dtype)
        return tf.ensure_shape(vectors, self._logits.shape)

    def _variance(self) -> tf.Tensor:
        return self._probs * (1.0 - self._probs)

    def _covariance(self) -> tf.Tensor:
        p = self._probs
        products = tf.matmul(p[..., tf.newaxis], p[..., tf.newaxis, :])
        return tf.linalg.set_diag(-products, self._variance())


@registers_divergence(OneHotCategorical)
def _kl(a: OneHotCategorical, b: OneHotCategorical, name: str | None = None) -> tf.Tensor:
    """Returns the divergence of b from a, of the shape of the broadcast batches."""
    with _v1.name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        difference = tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)
        return tf.reduce_sum(tf.nn.softmax(a.logits) * difference, axis=-1)


class ExpRelaxedOneHotCategorical(_OfClasses):
    """A distribution of logarithms of vectors that are near to a vector with one 1.

    Args:
      temperature: a positive number. The lower it is, the nearer are the vectors.
      logits: the logarithms of the probabilities, up to a constant, of shape [*batch, classes].
      probs: the probabilities, instead of ``logits``.
      dtype: the type of the vectors; that of the logits by default.
      validate_args: whether to check, when it runs, that the temperature is positive, and that what
        a probability is asked for are logarithms of probabilities.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither or both of ``logits`` and ``probs`` are given.
    """

    def __init__(
        self,
        temperature: Any,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[logits, probs, temperature]) as scope:
            self._keep_probabilities(arguments, scope)
            if dtype is None:
                dtype = self._logits.dtype
                if not validate_args:
                    temperature = tf.cast(temperature, dtype)
            checks = [_v1.assert_positive(temperature)] if validate_args else []
            with tf.control_dependencies(checks):
                self._temperature = tf.identity(temperature, name="temperature")
                self._temperatures = tf.reshape(temperature, [-1, 1], name="temperature_2d")
            self._keep_size()
        super().__init__(
            dtype=dtype,
            reparameterization_type=_distributions.FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=arguments,
            graph_parents=[self._logits, self._probs, self._temperature],
            name=scope,
        )

    @property
    def temperature(self) -> tf.Tensor:
        """The temperature."""
        return self._temperature

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        shape = tf.concat([[n], tf.shape(self._logits)], 0)
        logits = self._logits * tf.ones(shape, dtype=self.dtype)
        logits = tf.reshape(logits, [-1, self._event_size])
        uniform = _v1.random_uniform(
            tf.shape(logits),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,  # the logarithm of 0 is not finite
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        gumbel = -tf.math.log(-tf.math.log(uniform))
        return tf.reshape(tf.nn.log_softmax((gumbel + logits) / self._temperatures), shape)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        vectors, logits, shape = self._matrices(self._valid(x))
        k = tf.cast(self._event_size, x.dtype)
        constant = tf.math.lgamma(k) + (k - 1.0) * tf.math.log(self._temperature)
        logarithms = tf.nn.log_softmax(logits - vectors * self._temperatures)
        return tf.reshape(constant + tf.reduce_sum(logarithms, [-1]), shape)
