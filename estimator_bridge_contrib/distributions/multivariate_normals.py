"""Normal distributions of vectors: ``loc + scale @ x``, where x is standard normal.

Shapes: the event is a vector of size k. ``loc`` has the shape [*batch, k], and ``scale`` is a
matrix of shape [*batch, k, k]; the batches broadcast.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import registers_divergence

__all__ = [
    "MultivariateNormalDiag",
    "MultivariateNormalDiagWithSoftplusScale",
    "MultivariateNormalFullCovariance",
    "MultivariateNormalTriL",
]

_v1 = tf.compat.v1
_linalg = tf.linalg
_DIAGONAL = (
    _linalg.LinearOperatorIdentity,
    _linalg.LinearOperatorScaledIdentity,
    _linalg.LinearOperatorDiag,
)


class MultivariateNormal(tf.compat.v1.distributions.Distribution):
    """A normal distribution of vectors with a linear operator as its scale.

    Args:
      loc: the mean, or None for zeros.
      scale: the operator.
      parameters: the arguments of the subclass's constructor, for ``copy``.
      validate_args: whether to check, when it runs, that the scale is not singular.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.
    """

    def __init__(
        self,
        loc: tf.Tensor | None,
        scale: Any,
        parameters: dict[str, Any],
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
    ):
        self._loc, self._scale = loc, scale
        super().__init__(
            dtype=scale.dtype,
            reparameterization_type=_v1.distributions.FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[] if loc is None else [loc],
            name=name,
        )

    @property
    def loc(self) -> tf.Tensor | None:
        """The mean, or None for zeros."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The linear operator by which standard normal vectors are multiplied."""
        return self._scale

    def _batch_shape(self) -> tf.TensorShape:
        of_loc = tf.TensorShape([]) if self._loc is None else self._loc.shape[:-1]
        return tf.broadcast_static_shape(of_loc, self._scale.batch_shape)

    def _batch_shape_tensor(self) -> tf.Tensor:
        of_scale = self._scale.batch_shape_tensor()
        if self._loc is None:
            return of_scale
        return tf.broadcast_dynamic_shape(tf.shape(self._loc)[:-1], of_scale)

    def _event_shape(self) -> tf.TensorShape:
        return self._scale.shape[-1:]

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.reshape(self._scale.domain_dimension_tensor(), [1])

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        shape = tf.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        numbers = _v1.random_normal([tf.reduce_prod(shape)], dtype=self.dtype, seed=seed)
        with tf.control_dependencies(self._checks()):
            vectors = self._scale.matvec(tf.reshape(numbers, shape))
        return vectors if self._loc is None else vectors + self._loc

    def _checks(self) -> list[Any]:
        return [self._scale.assert_non_singular()] if self.validate_args else []

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks()):
            centered = tf.convert_to_tensor(x) if self._loc is None else x - self._loc
        standard = self._scale.solvevec(centered)
        half_log_2_pi = 0.5 * math.log(2.0 * math.pi)
        logarithms = -0.5 * tf.square(standard) - half_log_2_pi
        return tf.reduce_sum(logarithms, -1) - self._scale.log_abs_determinant()

    def _prob(self, x: tf.Tensor) -> tf.Tensor:
        return tf.exp(self._log_prob(x))

    def _entropy(self) -> tf.Tensor:
        one = 0.5 + 0.5 * math.log(2.0 * math.pi)
        size = tf.cast(self._scale.domain_dimension_tensor(), self.dtype)
        zeros = tf.zeros(self.batch_shape_tensor(), self.dtype)
        return one * size + zeros + self._scale.log_abs_determinant()

    def _mean(self) -> tf.Tensor:
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        zeros = tf.zeros(shape, self.dtype)
        return zeros if self._loc is None else tf.identity(self._loc) + zeros

    def _mode(self) -> tf.Tensor:
        return self._mean()

    def _covariance(self) -> tf.Tensor:
        if isinstance(self._scale, _DIAGONAL):
            return _linalg.diag(tf.square(self._scale.diag_part()))
        return self._scale.matmul(self._scale.to_dense(), adjoint_arg=True)

    def _variance(self) -> tf.Tensor:
        if isinstance(self._scale, _DIAGONAL):
            return tf.square(self._scale.diag_part())
        return _linalg.diag_part(self._covariance())

    def _stddev(self) -> tf.Tensor:
        if isinstance(self._scale, _DIAGONAL):
            return tf.abs(self._scale.diag_part())
        return tf.sqrt(self._variance())


@registers_divergence(MultivariateNormal)
def _kl(a: MultivariateNormal, b: MultivariateNormal, name: str | None = None) -> tf.Tensor:
    """Returns the divergence of b from a, of the shape of the broadcast batches."""
    with tf.name_scope(name or "kl_mvn"):
        if isinstance(a.scale, _DIAGONAL) and isinstance(b.scale, _DIAGONAL):
            ratio = (a.stddev() / b.stddev())[..., tf.newaxis]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        shift = b.scale.solvevec(b.mean() - a.mean())
        squares = tf.reduce_sum(tf.square(ratio), [-2, -1]) + tf.reduce_sum(tf.square(shift), -1)
        size = tf.cast(a.scale.domain_dimension_tensor(), a.dtype)
        volumes = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        divergence = volumes + 0.5 * (squares - size)
        divergence.set_shape(tf.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return divergence


class MultivariateNormalDiag(MultivariateNormal):
    """A normal distribution of vectors whose elements are independent.

    Args:
      loc: the mean, of shape [*batch, k]; zeros by default.
      scale_diag: the standard deviations, of shape [*batch, k].
      scale_identity_multiplier: a number that is added to them, of shape [*batch]. Without both,
        they are 1.
      validate_args: whether to check, when it runs, that no standard deviation is 0.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: the size k is not known, without ``loc`` and ``scale_diag``.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ):
        parameters = {
            "loc": loc,
            "scale_diag": scale_diag,
            "scale_identity_multiplier": scale_identity_multiplier,
            "validate_args": validate_args,
            "allow_nan_stats": allow_nan_stats,
            "name": name,
        }
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            diagonal = _converted(scale_diag, "scale_diag")
            added = _converted(scale_identity_multiplier, "scale_identity_multiplier")
            mean = _converted(loc, "loc", diagonal if diagonal is not None else added)
            scale = _diagonal(mean, diagonal, added)
        super().__init__(mean, scale, parameters, validate_args, allow_nan_stats, scope)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """The same, with the softplus of ``scale_diag`` as standard deviations.

    Args:
      loc: the mean, of shape [*batch, k]; or None for zeros.
      scale_diag: numbers of shape [*batch, k].
      validate_args: whether to check, when it runs, that no standard deviation is 0.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.
    """

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ):
        with tf.name_scope(name) as scope:
            positive = tf.nn.softplus(scale_diag)
            super().__init__(
                loc,
                positive,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=scope,
            )
        self._parameters = {
            "loc": loc,
            "scale_diag": scale_diag,
            "validate_args": validate_args,
            "allow_nan_stats": allow_nan_stats,
            "name": name,
        }


class MultivariateNormalTriL(MultivariateNormal):
    """A normal distribution of vectors with a lower triangular scale.

    Args:
      loc: the mean, of shape [*batch, k]; zeros by default.
      scale_tril: the scale, of shape [*batch, k, k]; its diagonal has no 0. The
        identity by default.
      validate_args: whether to check, when it runs, that the scale is not singular.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither ``loc`` nor ``scale_tril`` is given.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_tril: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ):
        parameters = {
            "loc": loc,
            "scale_tril": scale_tril,
            "validate_args": validate_args,
            "allow_nan_stats": allow_nan_stats,
            "name": name,
        }
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            triangle = _converted(scale_tril, "scale_tril")
            mean = _converted(loc, "loc", triangle)
            if triangle is None:
                scale = _identity(mean)
            else:
                scale = _linalg.LinearOperatorLowerTriangular(
                    triangle,
                    is_non_singular=True,
                    is_self_adjoint=False,
                    is_positive_definite=False,
                )
        super().__init__(mean, scale, parameters, validate_args, allow_nan_stats, scope)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """A normal distribution of vectors with any covariance matrix.

    Args:
      loc: the mean, of shape [*batch, k]; zeros by default.
      covariance_matrix: the covariances, of shape [*batch, k, k], of which the lower triangle is
        used. By default the identity.
      validate_args: whether to check, when it runs, that the matrix is symmetric and not singular.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: neither ``loc`` nor ``covariance_matrix`` is given.
    """

    def __init__(
        self,
        loc: Any = None,
        covariance_matrix: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ):
        with tf.name_scope(name) as scope, tf.name_scope("init"):
            triangle = None
            matrix = _converted(covariance_matrix, "covariance_matrix")
            if matrix is not None:
                checks = []
                if validate_args:
                    transposed = _linalg.matrix_transpose(matrix)
                    checks = [
                        _v1.assert_near(matrix, transposed, message="Matrix was not symmetric")
                    ]
                with tf.control_dependencies(checks):
                    triangle = _linalg.cholesky(matrix)
            super().__init__(loc, triangle, validate_args, allow_nan_stats, scope)
        self._parameters = {
            "loc": loc,
            "covariance_matrix": covariance_matrix,
            "validate_args": validate_args,
            "allow_nan_stats": allow_nan_stats,
            "name": name,
        }


def _converted(value: Any, name: str, like: tf.Tensor | None = None) -> tf.Tensor | None:
    if value is None:
        return None
    return tf.convert_to_tensor(
        value, name=name, dtype_hint=like.dtype if like is not None else None
    )


def _identity(loc: tf.Tensor) -> Any:
    return _linalg.LinearOperatorIdentity(
        _size(loc), dtype=loc.dtype, is_self_adjoint=True, is_positive_definite=True
    )


def _size(loc: tf.Tensor) -> Any:
    size = tf.compat.dimension_value(loc.shape[-1]) if loc.shape.rank else None
    return tf.shape(loc)[-1] if size is None else size


def _diagonal(loc: tf.Tensor | None, diagonal: tf.Tensor | None, added: tf.Tensor | None) -> Any:
    if diagonal is not None:
        if added is not None:
            diagonal += added[..., tf.newaxis]
        return _linalg.LinearOperatorDiag(
            diagonal, is_non_singular=True, is_self_adjoint=True, is_positive_definite=False
        )
    if loc is None:
        raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
    if added is None:
        return _identity(loc)
    return _linalg.LinearOperatorScaledIdentity(
        _size(loc), added, is_non_singular=True, is_self_adjoint=True, is_positive_definite=False
    )
