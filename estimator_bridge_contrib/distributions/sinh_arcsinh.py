"""A distribution with a skew and with tails of any weight."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters
from estimator_bridge_contrib.distributions.bijectors import cumulative
from estimator_bridge_contrib.distributions.bijectors.composition import Chain
from estimator_bridge_contrib.distributions.bijectors.elementwise import AffineScalar
from estimator_bridge_contrib.distributions.scalars import arguments_of
from estimator_bridge_contrib.distributions.transformed import TransformedDistribution

__all__ = ["SinhArcsinh"]

_v1 = tf.compat.v1


class SinhArcsinh(TransformedDistribution):
    """The distribution of ``loc + scale * 2 * f(z) / g(2)``, where ``distribution`` draws z.

    ``f(z)`` is ``sinh((arcsinh(z) + skewness) * tailweight)``, and g is f without skewness (Jones
    and Pewsey 2009, https://www.jstor.org/stable/27798865). So without a skew as much is beyond
    ``loc + 2 * scale`` as of ``loc + scale * z``.

    Args:
      loc: what samples are moved by.
      scale: what they are stretched by.
      skewness: a positive number makes large samples more likely, a negative one small ones; 0 by
        default.
      tailweight: a positive number: above 1 the tails are fatter, below it thinner; 1 by default.
      distribution: the base, of scalars and without a batch; the standard normal one by default.
      validate_args: whether to check arguments when it runs.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: the shapes of the four numbers do not broadcast; the base is of vectors, or has a
        batch; or ``validate_args``, and what it draws has no gradients.
      TypeError: the base is of another type.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ):
        arguments = arguments_of(locals())
        with _v1.name_scope(name, values=[loc, scale, skewness, tailweight]) as scope:
            loc = tf.convert_to_tensor(loc, name="loc")
            dtype = loc.dtype
            self._scale = tf.convert_to_tensor(scale, dtype, name="scale")
            weight = 1.0 if tailweight is None else tailweight
            self._tailweight = tf.convert_to_tensor(weight, dtype, name="tailweight")
            skew = 0.0 if skewness is None else skewness
            self._skewness = tf.convert_to_tensor(skew, dtype, name="skewness")
            if distribution is None:
                distribution = _v1.distributions.Normal(
                    tf.zeros([], dtype), tf.ones([], dtype), allow_nan_stats=allow_nan_stats
                )
            else:
                checks = _check_scalars(distribution, dtype, validate_args)
                with tf.control_dependencies(checks):
                    loc = tf.identity(loc) if checks else loc
            self._loc = loc
            shaped = functools.partial(cumulative.SinhArcsinh, tailweight=self._tailweight)
            bent = shaped(skewness=self._skewness)
            symmetric = bent if skewness is None else shaped(skewness=tf.zeros([], dtype))
            factor = 2 * self._scale / symmetric.forward(tf.constant(2, dtype))
            affine = AffineScalar(shift=loc, scale=factor, validate_args=validate_args)
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, bent]),
                batch_shape=_broadcast_shape(loc, self._scale, self._tailweight, self._skewness),
                validate_args=validate_args,
                name=scope,
            )
        self._parameters = arguments

    @property
    def loc(self) -> tf.Tensor:
        """The shift of the samples."""
        return self._loc

    @property
    def scale(self) -> tf.Tensor:
        """The factor by which the samples are stretched."""
        return self._scale

    @property
    def tailweight(self) -> tf.Tensor:
        """The weight of the tails."""
        return self._tailweight

    @property
    def skewness(self) -> tf.Tensor:
        """The skew."""
        return self._skewness


def _broadcast_shape(*tensors: tf.Tensor) -> Any:
    """Returns the shape of a sum of tensors: a list if it is known, or a tensor."""
    static_shape = functools.reduce(tf.broadcast_static_shape, [each.shape for each in tensors])
    if static_shape.is_fully_defined():
        return static_shape.as_list()
    return functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(each) for each in tensors])


def _check_scalars(distribution: Any, dtype: tf.DType, validate_args: bool) -> list[Any]:
    """Checks that a distribution draws single numbers of a type; returns what to check later."""
    if distribution.dtype != dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not "{dtype.name}"'
        )
    kind = distribution.reparameterization_type
    if validate_args and kind != _v1.distributions.FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable "
            f'variables; distribution.reparameterization_type = "{kind}" != '
            '"FULLY_REPARAMETERIZED".'
        )
    checks = []
    for what, is_scalar in (
        ("event", distribution.is_scalar_event()),
        ("batch", distribution.is_scalar_batch()),
    ):
        value = distribution_parameters.prefer_static_value(is_scalar)
        if isinstance(value, tf.Tensor):
            if validate_args:
                message = f"distribution must have scalar {what}_shape"
                checks.append(_v1.assert_equal(is_scalar, True, message=message))
        elif not value:
            raise ValueError(f"distribution must have scalar {what}_shape")
    return checks
