"""Wishart distributions, of positive definite matrices.

Shapes: the event is a matrix of shape [k, k]. The scale has the shape [*batch, k, k], and ``df``
the shape [*batch] or none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters
from estimator_bridge_contrib.distributions.scalars import after, arguments_of

__all__ = ["WishartCholesky", "WishartFull"]

_v1 = tf.compat.v1
_linalg = tf.linalg


class _Wishart(tf.compat.v1.distributions.Distribution):
    """A Wishart distribution, given a Cholesky factor of its scale.

    Args:
      arguments: the arguments of the subclass's constructor, for ``copy``.
      factor: the factor, of shape [*batch, k, k].
      scope: the operations' name scope, open, with a slash at its end.
    """

    def __init__(self, arguments: dict[str, Any], factor: tf.Tensor, scope: str):
        self._gives_factors = arguments["cholesky_input_output_matrices"]
        with _v1.name_scope(scope), _v1.name_scope("init", values=[arguments["df"], factor]):
            if not factor.dtype.is_floating:
                raise TypeError(f"scale_operator.dtype={factor.dtype} is not a floating-point type")
            self._operator = _linalg.LinearOperatorLowerTriangular(
                factor, is_non_singular=True, is_positive_definite=True, is_square=True
            )
            df = tf.convert_to_tensor(arguments["df"], dtype=factor.dtype, name="df")
            self._dimension = self._size()
            self._df = after(self._df_checks(df, arguments["validate_args"]), df)
        super().__init__(
            dtype=factor.dtype,
            validate_args=arguments["validate_args"],
            allow_nan_stats=arguments["allow_nan_stats"],
            reparameterization_type=_v1.distributions.FULLY_REPARAMETERIZED,
            parameters=arguments,
            graph_parents=[self._df, self._dimension, factor],
            name=scope,
        )

    def _size(self) -> tf.Tensor:
        shape = self._operator.shape
        size = tf.compat.dimension_value(shape[-1]) if shape.rank is not None else None
        if size is None:
            tensor = self._operator.domain_dimension_tensor()
            return tf.cast(tensor, self._operator.dtype, name="dimension")
        return tf.constant(size, dtype=self._operator.dtype, name="dimension")

    def _df_checks(self, df: tf.Tensor, validate_args: bool) -> list[Any]:
        text = (
            "Degrees of freedom (df = {}) cannot be less than dimension of scale matrix "
            "(scale.dimension = {})"
        )
        static_df, least = tf.get_static_value(df), tf.get_static_value(self._dimension)
        if static_df is not None and least is not None:
            if np.any(static_df < least):
                raise ValueError(text.format(static_df, least))
            return []
        if not validate_args:
            return []
        message = text.format(df, self._dimension)
        return [_v1.assert_less_equal(self._dimension, df, message=message)]

    @property
    def df(self) -> tf.Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def scale_operator(self) -> Any:
        """The Cholesky factor of the scale, as a linear operator."""
        return self._operator

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """True if samples, means and arguments are Cholesky factors."""
        return self._gives_factors

    @property
    def dimension(self) -> tf.Tensor:
        """The number of a matrix's rows, as a floating number."""
        return self._dimension

    def scale(self) -> tf.Tensor:
        """Returns the scale, or its Cholesky factor if samples are such factors."""
        return self._operator.to_dense() if self._gives_factors else self._square()

    def _square(self) -> tf.Tensor:
        return self._operator.matmul(self._operator.to_dense(), adjoint_arg=True)

    def _batch_shape(self) -> tf.TensorShape:
        return self._operator.batch_shape

    def _batch_shape_tensor(self) -> tf.Tensor:
        return self._operator.batch_shape_tensor()

    def _event_shape(self) -> tf.TensorShape:
        return tf.TensorShape([self._operator.domain_dimension] * 2)

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.stack([self._operator.domain_dimension_tensor()] * 2)

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        # Bartlett's decomposition: normal numbers below the diagonal, roots of chi squared on it.
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        shape = tf.concat([[n], batch, event], 0)
        triangle = _v1.random_normal(shape, dtype=self.dtype, seed=seed)
        squares = _v1.random_gamma(
            [n],
            alpha=self._sequence(0.5 * self._df * tf.ones(batch, dtype=self.dtype)),
            beta=0.5,
            dtype=self.dtype,
            seed=distribution_parameters.gen_new_seed(seed, "wishart"),
        )
        triangle = _linalg.band_part(triangle, -1, 0)
        triangle = _linalg.set_diag(triangle, tf.sqrt(squares))
        factors = self._by_columns(self._operator.matmul, triangle, batch, 1)
        return factors if self._gives_factors else tf.matmul(factors, factors, adjoint_b=True)

    def _by_columns(
        self, function: Any, matrices: tf.Tensor, batch: tf.Tensor, sample_ndims: Any
    ) -> tf.Tensor:
        """Applies a function of the scale to the columns of all samples at once."""
        ndims, size = tf.rank(matrices), self._operator.domain_dimension_tensor()
        samples = tf.shape(matrices)[:sample_ndims]
        last = tf.concat([tf.range(sample_ndims, ndims), tf.range(sample_ndims)], 0)
        columns = tf.reshape(tf.transpose(matrices, last), tf.concat([batch, [size, -1]], 0))
        results = tf.reshape(function(columns), tf.concat([batch, [size, size], samples], 0))
        first = tf.concat(
            [tf.range(ndims - sample_ndims, ndims), tf.range(ndims - sample_ndims)], 0
        )
        return tf.transpose(results, first)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        factor = x if self._gives_factors else _linalg.cholesky(x)
        batch = self.batch_shape_tensor()
        sample_ndims = tf.rank(factor) - tf.size(batch) - 2
        relative = self._by_columns(self._operator.solve, factor, batch, sample_ndims)
        trace = tf.reduce_sum(tf.square(relative), axis=[-2, -1])
        half_log_det = tf.reduce_sum(tf.math.log(_linalg.diag_part(factor)), axis=[-1])
        power = self._df - self._dimension - 1.0
        log_prob = power * half_log_det - 0.5 * trace - self.log_normalization()
        if x.shape.rank is not None:
            log_prob.set_shape(x.shape[:-2])
        return log_prob

    def _prob(self, x: tf.Tensor) -> tf.Tensor:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> tf.Tensor:
        half_df, half_size = 0.5 * self._df, 0.5 * self._dimension + 0.5
        return (
            self._dimension * (half_df + half_size * math.log(2.0))
            + 2.0 * half_size * self._operator.log_abs_determinant()
            + self._multivariate_lgamma(half_df)
            + (half_size - half_df) * self._multivariate_digamma(half_df)
        )

    def _mean(self) -> tf.Tensor:
        if self._gives_factors:
            return tf.sqrt(self._df) * self._operator.to_dense()
        return self._df * self._square()

    def _variance(self) -> tf.Tensor:
        scaled = tf.sqrt(self._df) * self._square()
        diagonal = _linalg.diag_part(scaled)[..., tf.newaxis]
        variance = tf.square(scaled) + tf.matmul(diagonal, diagonal, adjoint_b=True)
        return _linalg.cholesky(variance) if self._gives_factors else variance

    def _stddev(self) -> tf.Tensor:
        if self._gives_factors:
            raise ValueError(
                "Computing std. dev. when is cholesky_input_output_matrices=True does not make "
                "sense."
            )
        return _linalg.cholesky(self.variance())

    def _mode(self) -> tf.Tensor:
        factor = self._df - self._dimension - 1.0
        factor = tf.where(factor < 0.0, tf.constant(float("nan"), self.dtype), factor)
        if self._gives_factors:
            return tf.sqrt(factor) * self._operator.to_dense()
        return factor * self._square()

    def mean_log_det(self, name: str = "mean_log_det") -> tf.Tensor:
        """Returns the expected logarithm of a matrix's determinant, of the batch's shape.

        Args:
          name: the operations' name.
        """
        with self._name_scope(name):
            digamma = self._multivariate_digamma(0.5 * self._df)
            log_det = 2.0 * self._operator.log_abs_determinant()
            return digamma + self._dimension * math.log(2.0) + log_det

    def log_normalization(self, name: str = "log_normalization") -> tf.Tensor:
        """Returns the logarithm of what the density is divided by, of the batch's shape.

        Args:
          name: the operations' name.
        """
        with self._name_scope(name):
            log_det = self._operator.log_abs_determinant()
            constant = 0.5 * self._df * self._dimension * math.log(2.0)
            return self._df * log_det + constant + self._multivariate_lgamma(0.5 * self._df)

    def _sequence(self, a: tf.Tensor) -> tf.Tensor:
        """Returns a, a - 1/2, and so on: an element for each row, in a new last dimension."""
        steps = tf.linspace(
            tf.constant(0.0, self.dtype),
            0.5 - 0.5 * self._dimension,
            tf.cast(self._dimension, tf.int32),
        )
        return steps + a[..., tf.newaxis]

    def _multivariate_lgamma(self, a: tf.Tensor) -> tf.Tensor:
        p = self._dimension
        constant = 0.25 * p * (p - 1.0) * math.log(math.pi)
        return constant + tf.reduce_sum(tf.math.lgamma(self._sequence(a)), axis=[-1])

    def _multivariate_digamma(self, a: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.math.digamma(self._sequence(a)), axis=[-1])


class WishartCholesky(_Wishart):
    """A Wishart distribution, given the Cholesky factor of its scale.

    Args:
      df: the degrees of freedom, at least k.
      scale: the factor, a lower triangle of shape [*batch, k, k].
      cholesky_input_output_matrices: whether samples, and what probabilities are asked for, are
        Cholesky factors too.
      validate_args: whether to check the parameters when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      TypeError: the scale is not floating.
      ValueError: there are less than k degrees of freedom.
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[scale]) as scope, _v1.name_scope("init"):
            factor, checks = tf.convert_to_tensor(scale), []
            if validate_args:
                rows = tf.shape(factor)
                checks = [
                    _v1.assert_positive(
                        _linalg.diag_part(factor), message="scale must be positive definite"
                    ),
                    _v1.assert_equal(rows[-1], rows[-2], message="scale must be square"),
                ]
            factor = after(checks, factor)
        super().__init__(arguments, factor, scope)


class WishartFull(_Wishart):
    """A Wishart distribution, given its scale.

    Args:
      df: the degrees of freedom, at least k.
      scale: a symmetric positive definite matrix, of shape [*batch, k, k].
      cholesky_input_output_matrices: whether samples, and what probabilities are asked for, are
        Cholesky factors.
      validate_args: whether to check the parameters when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      TypeError: the scale is not floating.
      ValueError: there are less than k degrees of freedom.
    """

    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name) as scope, _v1.name_scope("init", values=[scale]):
            matrix = tf.convert_to_tensor(scale)
            if validate_args:
                matrix = distribution_parameters.assert_symmetric(matrix)
            factor = _linalg.cholesky(matrix)
            checks = [_v1.assert_positive(_linalg.diag_part(factor))] if validate_args else []
            factor = after(checks, factor)
        super().__init__(arguments, factor, scope)
