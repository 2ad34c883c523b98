"""The base of distributions of numbers, and what their formulas share.

Shapes: the event is a scalar. The batch has the shape of the parameters, broadcast.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters

__all__ = [
    "ScalarDistribution",
    "after",
    "arguments_of",
    "mean_or_nan",
    "nonnegative_integers",
    "parameters_of",
]

_v1 = tf.compat.v1
_FULLY = _v1.distributions.FULLY_REPARAMETERIZED
_NOT = _v1.distributions.NOT_REPARAMETERIZED


def after(checks: Sequence[Any], value: tf.Tensor) -> tf.Tensor:
    """Returns a value that is there once the checks have passed."""
    if not checks:
        return value
    with tf.control_dependencies(checks):
        return tf.identity(value)


def nonnegative_integers(x: Any) -> tf.Tensor:
    """Returns x, with a check that it holds whole numbers from 0 up."""
    return distribution_parameters.embed_check_nonnegative_integer_form(x)


def arguments_of(arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a constructor's arguments, of its ``locals()``."""
    return {name: each for name, each in arguments.items() if name not in ("self", "__class__")}


def parameters_of(validate_args: bool, **values: Any) -> list[tf.Tensor]:
    """Returns parameters of one floating type as tensors.

    Args:
      validate_args: whether to check, when it runs, that they are above 0.
      values: the parameters by name. ``loc`` may be negative.

    Raises:
      ValueError: they have several types, or one that is not floating.
    """
    checks = []
    if validate_args:
        checks = [_v1.assert_positive(each) for name, each in values.items() if name != "loc"]
    with tf.control_dependencies(checks):
        tensors = [tf.identity(each, name=name) for name, each in values.items()]
    if len(tensors) > 1:
        tf.debugging.assert_same_float_dtype(tensors)
    return tensors


def mean_or_nan(
    distribution: ScalarDistribution, value: tf.Tensor, parameter: str, least: float, statistic: str
) -> tf.Tensor:
    """Returns a statistic that is defined only above a parameter's least value.

    Args:
      distribution: the distribution, whose ``allow_nan_stats`` decides about the others.
      value: the statistic.
      parameter: the name of the parameter that it depends on.
      least: the value that the parameter must exceed.
      statistic: the statistic's name, for the error.
    """
    parameter_value = getattr(distribution, parameter)
    if distribution.allow_nan_stats:
        nan = tf.fill(
            distribution.batch_shape_tensor(), tf.constant(float("nan"), distribution.dtype)
        )
        return tf.where(parameter_value > least, value, nan)
    check = _v1.assert_less(
        tf.constant(least, distribution.dtype),
        parameter_value,
        message=f"{statistic} undefined when any {parameter} <= {least:.0f}",
    )
    return after([check], value)


class ScalarDistribution(tf.compat.v1.distributions.Distribution):
    """A distribution of numbers.

    Subclasses name in ``_shaped`` the properties whose shapes the batch has, and in ``_sized`` the
    arguments that ``param_shapes`` has a shape for.

    Args:
      arguments: the arguments of the subclass's constructor, for ``copy``.
      scope: the operations' name scope, open, with a slash at its end.
      parents: the tensors it is made of; the first has its type.
      has_gradients: whether samples have gradients by the parameters.
    """

    _shaped: tuple[str, ...] = ()
    _sized: tuple[str, ...] = ()

    def __init__(
        self,
        arguments: dict[str, Any],
        scope: str,
        parents: Sequence[tf.Tensor],
        has_gradients: bool = False,
    ):
        super().__init__(
            dtype=parents[0].dtype,
            reparameterization_type=_FULLY if has_gradients else _NOT,
            validate_args=arguments["validate_args"],
            allow_nan_stats=arguments["allow_nan_stats"],
            parameters=arguments_of(arguments),
            graph_parents=list(parents),
            name=scope,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, tf.Tensor]:
        if not cls._sized:
            raise NotImplementedError("_param_shapes not implemented")
        shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32)
        return dict.fromkeys(cls._sized, shape)

    def _batch_shape(self) -> tf.TensorShape:
        shapes = [getattr(self, name).shape for name in self._shaped]
        return functools.reduce(tf.broadcast_static_shape, shapes)

    def _batch_shape_tensor(self) -> tf.Tensor:
        shapes = [tf.shape(getattr(self, name)) for name in self._shaped]
        return functools.reduce(tf.broadcast_dynamic_shape, shapes)

    def _event_shape(self) -> tf.TensorShape:
        return tf.TensorShape([])

    def _event_shape_tensor(self) -> tf.Tensor:
        return tf.constant([], dtype=tf.int32)

    def _sampled_shape(self, n: Any) -> tf.Tensor:
        return tf.concat([[n], self.batch_shape_tensor()], 0)

    def _standardized(self, x: tf.Tensor) -> tf.Tensor:
        """Returns ``(x - loc) / scale``."""
        with _v1.name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale
