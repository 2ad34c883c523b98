"""The bijector that multiplies vectors by a matrix and adds a vector."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector, distribution_parameters
from estimator_bridge_contrib.distributions.scalars import after

__all__ = ["Affine"]

_v1 = tf.compat.v1
_linalg = tf.linalg


class Affine(Bijector):
    """``scale @ x + shift``, of vectors x of size k.

    The scale is the sum of what is given: ``scale_identity_multiplier`` times the identity, the
    diagonal, the lower triangle, and ``factor @ diag(perturb_diag) @ transpose(factor)``.

    Args:
      shift: a vector, of shape [*batch, k]; 0 by default.
      scale_identity_multiplier: a number; 1 if no part of the scale is given.
      scale_diag: a diagonal, of shape [*batch, k].
      scale_tril: a lower triangle, of shape [*batch, k, k].
      scale_perturb_factor: a matrix, of shape [*batch, k, r].
      scale_perturb_diag: a vector, of shape [*batch, r]; 1 by default.
      validate_args: whether to check, when it runs, that the scale is not singular.
      name: the operations' name.

    Raises:
      ValueError: ``scale_perturb_diag`` is given without ``scale_perturb_factor``.
      TypeError: the shift's type is not the scale's.
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError(
                "When scale_perturb_diag is specified, scale_perturb_factor must be specified."
            )
        parts = {
            "identity_multiplier": scale_identity_multiplier,
            "diag": scale_diag,
            "tril": scale_tril,
            "perturb_diag": scale_perturb_diag,
            "perturb_factor": scale_perturb_factor,
        }
        matrices = (scale_tril, scale_diag, scale_perturb_factor)
        self._is_number = all(each is None for each in matrices)
        with _v1.name_scope(name), _v1.name_scope("init", values=[shift, *parts.values()]):
            self._shift = None if shift is None else tf.convert_to_tensor(shift, name="shift")
            if self._is_number and scale_identity_multiplier is None:
                dtype = tf.float32 if self._shift is None else self._shift.dtype
                parts["identity_multiplier"] = tf.constant(1.0, dtype)
            tensors = {
                key: None if each is None else tf.convert_to_tensor(each, name=key)
                for key, each in parts.items()
            }
            if self._is_number:
                self._scale = _nonzero(tensors["identity_multiplier"], validate_args)
            else:
                self._scale = _operator(self._shift, validate_args, **tensors)
                self._check_type()
            self._batch_ndims = self._ndims_of_batch()
        super().__init__(
            forward_min_event_ndims=1,
            graph_parents=_present(self._shift, *tensors.values()),
            is_constant_jacobian=True,
            dtype=self._scale.dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self) -> tf.Tensor | None:
        """The vector that is added, or None."""
        return self._shift

    @property
    def scale(self) -> Any:
        """The matrix, as a linear operator; or the number that x is multiplied by."""
        return self._scale

    def _check_type(self) -> None:
        if self._shift is not None and self._shift.dtype != self._scale.dtype:
            raise TypeError(
                f"shift.dtype({self._shift.dtype}) is incompatible with "
                f"scale.dtype({self._scale.dtype})."
            )

    def _ndims_of_batch(self) -> Any:
        if self._is_number:
            return 0
        ndims = self._scale.tensor_rank
        return self._scale.tensor_rank_tensor() - 2 if ndims is None else ndims - 2

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        if self._is_number:
            y = x * self._scale
        else:
            with tf.control_dependencies(self._checks()):
                y = self._applied(self._scale.matmul, x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        x = y if self._shift is None else y - self._shift
        return x / self._scale if self._is_number else self._applied(self._scale.solve, x)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        if not self._is_number:
            return self._scale.log_abs_determinant()
        size = tf.cast(tf.shape(x)[-1], self._scale.dtype)
        return tf.math.log(tf.abs(self._scale)) * size

    def _checks(self) -> list[Any]:
        if not self.validate_args:
            return []
        try:
            return [self._scale.assert_non_singular()]
        except NotImplementedError:  # some operators have no such check
            return []

    def _applied(self, function: Any, x: tf.Tensor) -> tf.Tensor:
        """Applies a function of matrices, whose columns are the samples, to all samples at once."""
        place = self._event_place(x)
        shape: Any = tf.shape(x)
        if x.shape.is_fully_defined() and isinstance(place, int):
            shape = tf.constant(x.shape.as_list(), tf.int32)
        matrices = tf.reshape(x, tf.concat([[-1], shape[place:]], 0))
        matrices = distribution_parameters.rotate_transpose(matrices, shift=-1)
        vectors = distribution_parameters.rotate_transpose(function(matrices), shift=1)
        return tf.reshape(vectors, tf.concat([shape[:place], tf.shape(vectors)[1:]], 0))

    def _event_place(self, x: tf.Tensor) -> Any:
        """Returns the number of dimensions of x before those of the scale's batch."""
        if x.shape.rank is None or not isinstance(self._batch_ndims, int):
            return tf.rank(x) - self._batch_ndims - 1
        if x.shape.rank < self._batch_ndims + 1:
            raise ValueError(
                f"expected batch_ndims({self._batch_ndims}) + event_ndims(1) <= "
                f"ndims({x.shape.rank})"
            )
        return x.shape.rank - self._batch_ndims - 1


def _present(*tensors: tf.Tensor | None) -> list[tf.Tensor]:
    return [each for each in tensors if each is not None]


def _nonzero(multiplier: tf.Tensor, validate_args: bool) -> tf.Tensor:
    if not validate_args:
        return multiplier
    check = _v1.assert_none_equal(
        multiplier,
        tf.zeros([], multiplier.dtype),
        ["identity_multiplier should be non-zero."],
    )
    return after([check], multiplier)


def _operator(
    shift: tf.Tensor | None,
    validate_args: bool,
    identity_multiplier: tf.Tensor | None,
    diag: tf.Tensor | None,
    tril: tf.Tensor | None,
    perturb_diag: tf.Tensor | None,
    perturb_factor: tf.Tensor | None,
) -> Any:
    """Returns the sum of the parts of a scale, as a linear operator."""
    if tril is not None:
        scale = _triangle(tril, diag, identity_multiplier, validate_args)
    else:
        scale = _diagonal(shift, diag, identity_multiplier, perturb_factor, validate_args)
    if perturb_factor is None:
        return scale
    return _linalg.LinearOperatorLowRankUpdate(
        scale,
        u=perturb_factor,
        diag_update=perturb_diag,
        is_diag_update_positive=perturb_diag is None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )


def _triangle(
    tril: tf.Tensor,
    diag: tf.Tensor | None,
    multiplier: tf.Tensor | None,
    validate_args: bool,
) -> Any:
    tril = _linalg.band_part(tril, -1, 0)
    diagonal = _linalg.diag_part(tril)
    if diag is not None:
        diagonal += diag
    if multiplier is not None:
        diagonal += multiplier[..., tf.newaxis]
    tril = _linalg.set_diag(tril, diagonal)
    if validate_args:
        tril = after([_nonzero_diagonal(_linalg.diag_part(tril))], tril)
    return _linalg.LinearOperatorLowerTriangular(
        tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=False
    )


def _diagonal(
    shift: tf.Tensor | None,
    diag: tf.Tensor | None,
    multiplier: tf.Tensor | None,
    factor: tf.Tensor | None,
    validate_args: bool,
) -> Any:
    if diag is not None:
        if multiplier is not None:
            diag += multiplier[..., tf.newaxis]
        diag = after([_nonzero_diagonal(diag)] if validate_args else [], diag)
        return _linalg.LinearOperatorDiag(
            diag, is_non_singular=True, is_self_adjoint=True, is_positive_definite=False
        )
    size = distribution_parameters.dimension_size(factor, axis=-2)
    if multiplier is None:
        if shift is None:
            raise AttributeError(
                "Affine of scale_perturb_factor alone knows no type. Pass shift or "
                "scale_identity_multiplier too."
            )
        return _linalg.LinearOperatorIdentity(
            size,
            dtype=shift.dtype,
            is_self_adjoint=True,
            is_positive_definite=True,
            assert_proper_shapes=validate_args,
        )
    if validate_args:
        multiplier = after([_nonzero_diagonal(multiplier)], multiplier)
    return _linalg.LinearOperatorScaledIdentity(
        size,
        multiplier,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=False,
        assert_proper_shapes=validate_args,
    )


def _nonzero_diagonal(diagonal: tf.Tensor) -> Any:
    return _v1.assert_none_equal(
        diagonal, tf.zeros([], diagonal.dtype), message="diagonal part must be non-zero"
    )
