"""A bijector that moves and scales one part of a vector by numbers that the other part gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector

__all__ = ["RealNVP", "real_nvp_default_template"]

_v1 = tf.compat.v1


class RealNVP(Bijector):
    """``y = x * exp(log_scale) + shift`` for the last elements; the first ones stay.

    Args:
      num_masked: the number of the first elements.
      shift_and_log_scale_fn: gives the shift and the logarithm of the scale; each may be None. It
        is called with the first elements, of shape [samples, num_masked], and the number of the
        last ones.
      is_constant_jacobian: whether the scale does not depend on x.
      validate_args: accepted, and without effect.
      name: the operations' name.

    Raises:
      ValueError: ``num_masked`` is not positive; or, at the first call, not below x's size.
      NotImplementedError: at the first call, x's size is not known.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._size: int | None = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parted(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, Any, Any]:
        """Returns the first elements, the last ones, and the shift and log scale of the last."""
        size = self._size
        if size is None:
            size = tf.compat.dimension_value(x.shape.with_rank_at_least(1)[-1])
            if size is None:
                raise NotImplementedError(
                    "Rightmost dimension must be known prior to graph execution."
                )
            if self._num_masked >= size:
                raise ValueError("Number of masked units must be smaller than the event size.")
            self._size = size
        first, last = x[:, : self._num_masked], x[:, self._num_masked :]
        shift, log_scale = self._shift_and_log_scale_fn(first, size - self._num_masked)
        return first, last, shift, log_scale

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        first, last, shift, log_scale = self._parted(x)
        if log_scale is not None:
            last *= tf.exp(log_scale)
        if shift is not None:
            last += shift
        return tf.concat([first, last], axis=-1)

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        first, last, shift, log_scale = self._parted(y)
        if shift is not None:
            last -= shift
        if log_scale is not None:
            last *= tf.exp(-log_scale)
        return tf.concat([first, last], axis=-1)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        log_scale = self._parted(y)[3]
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x: tf.Tensor) -> tf.Tensor:
        log_scale = self._parted(x)[3]
        if log_scale is None:
            return tf.constant(0.0, dtype=x.dtype, name="fldj")
        return tf.reduce_sum(log_scale, axis=-1)


def real_nvp_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable[..., Any] | None = tf.nn.relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Makes a network for ``RealNVP``, of dense layers.

    Args:
      hidden_layers: the number of units of each hidden layer.
      shift_only: whether the logarithm of the scale is None.
      activation: the hidden layers' activation.
      name: the operations' name; the variables are named without it, as in TensorFlow 1.15.
      *args: further arguments of ``tf.layers.dense``.
      **kwargs: the same, by name.

    Returns:
      A function of a tensor of shape [samples, size] and the number of outputs. It gives the shift
      and the logarithm of the scale, both of shape [samples, outputs]. It makes its variables at
      the first call.
    """

    def network(x: tf.Tensor, output_units: int) -> tuple[tf.Tensor, tf.Tensor | None]:
        dense = _v1.layers.dense
        for units in hidden_layers:
            x = dense(*args, inputs=x, units=units, activation=activation, **kwargs)
        outputs = output_units if shift_only else 2 * output_units
        x = dense(*args, inputs=x, units=outputs, activation=None, **kwargs)
        if shift_only:
            return x, None
        shift, log_scale = tf.split(x, 2, axis=-1)
        return shift, log_scale

    with _v1.name_scope(name, "real_nvp_default_template"):
        return _v1.make_template("real_nvp_default_template", network)
