"""Distributions of a function of what another distribution draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import (
    IdentityBijector,
    constant_value_as_shape,
    distribution_parameters,
    graph_parents,
)
from estimator_bridge_contrib.distributions.scalars import arguments_of
from estimator_bridge_contrib.distributions.shape_overrides import ShapeOverrides

__all__ = ["TransformedDistribution"]

_v1 = tf.compat.v1


class TransformedDistribution(tf.compat.v1.distributions.Distribution):
    """The distribution of ``bijector.forward(x)``, where ``distribution`` draws x.

    Args:
      distribution: the base.
      bijector: the function, with its inverse and the determinants of its Jacobian; the identity
        by default.
      batch_shape: a vector of integers, the batch's shape in place of the base's empty one.
      event_shape: the same, for the event.
      validate_args: whether to check, when it runs, that shapes are replaced only where they are
        empty.
      name: the operations' name; by default the bijector's name and the base's.

    Raises:
      ValueError: a shape is no vector, has an element that is not positive, or would replace one
        that is not empty.
    """

    def __init__(
        self,
        distribution: Any,
        bijector: Any = None,
        batch_shape: Any = None,
        event_shape: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        arguments = arguments_of(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with _v1.name_scope(name, values=[event_shape, batch_shape]) as scope:
            if bijector is None:
                bijector = IdentityBijector(validate_args=validate_args)
            self._shapes = ShapeOverrides(distribution, batch_shape, event_shape, validate_args)
        self._distribution, self._bijector = distribution, bijector
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=arguments,
            graph_parents=graph_parents(distribution) + bijector.graph_parents,
            name=scope,
        )

    @property
    def distribution(self) -> Any:
        """The base."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The function."""
        return self._bijector

    def _batch_shape(self) -> tf.TensorShape:
        if self._shapes.may_have_batch:
            return constant_value_as_shape(self._shapes.batch)
        return self._distribution.batch_shape

    def _batch_shape_tensor(self) -> tf.Tensor:
        return distribution_parameters.pick_vector(
            self._shapes.has_batch, self._shapes.batch, self._distribution.batch_shape_tensor()
        )

    def _event_shape(self) -> tf.TensorShape:
        of_base = self._distribution.event_shape
        if self._shapes.may_have_event:
            of_base = constant_value_as_shape(self._shapes.event)
        return self._bijector.forward_event_shape(of_base)

    def _event_shape_tensor(self) -> tf.Tensor:
        of_base = distribution_parameters.pick_vector(
            self._shapes.has_event, self._shapes.event, self._distribution.event_shape_tensor()
        )
        return self._bijector.forward_event_shape_tensor(of_base)

    def _event_ndims(self) -> Any:
        if self.event_shape.rank is not None:
            return self.event_shape.rank
        ndims = tf.size(self.event_shape_tensor())
        static_ndims = distribution_parameters.maybe_get_static_value(ndims)
        return ndims if static_ndims is None else static_ndims

    def _sample_n(self, n: Any, seed: Any = None, **kwargs: Any) -> tf.Tensor:
        shape = self._shapes.sample_shape(n)
        x = self._distribution.sample(shape, seed=seed, **self._parted(kwargs)[0])
        return self._shapes.from_base(x)

    def _call_sample_n(self, sample_shape: Any, seed: Any, name: str, **kwargs: Any) -> tf.Tensor:
        bijector_kwargs = self._parted(kwargs)[1]
        with self._name_scope(name, values=[sample_shape]):
            shape = tf.convert_to_tensor(sample_shape, dtype=tf.int32, name="sample_shape")
            shape, n = self._expand_sample_shape_to_vector(shape, "sample_shape")
            x = self._sample_n(n, seed, **kwargs)
            x = tf.reshape(x, tf.concat([shape, tf.shape(x)[1:]], 0))
            # The transformation comes last of all: the bijector knows y's inverse by y itself.
            y = self._bijector.forward(x, **bijector_kwargs)
            return self._set_sample_static_shape(y, shape)

    def _parted(self, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the further arguments of the base's methods and of the bijector's."""
        return kwargs, kwargs

    def _log_prob(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        base_kwargs, bijector_kwargs = self._parted(kwargs)

        def of_one(x: tf.Tensor, ildj: tf.Tensor) -> tf.Tensor:
            log_prob = self._distribution.log_prob(self._shapes.to_base(x), **base_kwargs)
            log_prob = self._shapes.summed(log_prob)
            return self._shaped(log_prob + tf.cast(ildj, log_prob.dtype), y)

        terms = self._of_inverses(y, of_one, bijector_kwargs)
        return terms[0] if len(terms) == 1 else tf.reduce_logsumexp(tf.stack(terms), axis=0)

    def _prob(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        base_kwargs, bijector_kwargs = self._parted(kwargs)

        def of_one(x: tf.Tensor, ildj: tf.Tensor) -> tf.Tensor:
            prob = self._distribution.prob(self._shapes.to_base(x), **base_kwargs)
            prob = self._shapes.multiplied(prob)
            return self._shaped(prob * tf.exp(tf.cast(ildj, prob.dtype)), y)

        return sum(self._of_inverses(y, of_one, bijector_kwargs))

    def _of_inverses(
        self, y: tf.Tensor, of_one: Callable[..., tf.Tensor], kwargs: dict[str, Any]
    ) -> list[tf.Tensor]:
        """Calls a function with each x whose image is y, and its log determinant."""
        inverse = self._bijector.inverse(y, **kwargs)
        ildj = self._bijector.inverse_log_det_jacobian(y, event_ndims=self._event_ndims(), **kwargs)
        if self._bijector._is_injective:
            return [of_one(inverse, ildj)]
        return [of_one(x, each) for x, each in zip(inverse, ildj)]

    def _shaped(self, value: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        event_ndims = self._event_ndims() if self._shapes.may_have_event else None
        if isinstance(event_ndims, int):
            of_y = y.shape.with_rank_at_least(1)[:-event_ndims]
            value.set_shape(tf.broadcast_static_shape(of_y, self.batch_shape))
        return value

    def _invertible(self, statistic: str) -> None:
        if self._shapes.may_have_event:
            raise NotImplementedError(f"{statistic} is not implemented when overriding event_shape")
        if not self._bijector._is_injective:
            raise NotImplementedError(
                f"{statistic} is not implemented when bijector is not injective."
            )

    def _of_base(self, statistic: str, y: tf.Tensor, kwargs: dict[str, Any]) -> tf.Tensor:
        self._invertible(statistic)
        base_kwargs, bijector_kwargs = self._parted(kwargs)
        x = self._bijector.inverse(y, **bijector_kwargs)
        return getattr(self._distribution, statistic)(x, **base_kwargs)

    def _log_cdf(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._of_base("log_cdf", y, kwargs)

    def _cdf(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._of_base("cdf", y, kwargs)

    def _log_survival_function(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._of_base("log_survival_function", y, kwargs)

    def _survival_function(self, y: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        return self._of_base("survival_function", y, kwargs)

    def _quantile(self, value: tf.Tensor, **kwargs: Any) -> tf.Tensor:
        self._invertible("quantile")
        base_kwargs, bijector_kwargs = self._parted(kwargs)
        x = self._distribution.quantile(value, **base_kwargs)
        return self._bijector.forward(x, **bijector_kwargs)

    def _entropy(self) -> tf.Tensor:
        if not self._bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        if not self._bijector._is_injective:
            raise NotImplementedError("entropy is not implemented when bijector is not injective.")
        entropy = self._shapes.entropy(
            self._distribution.entropy(), self._distribution.batch_shape_tensor()
        )
        # The Jacobian is the same everywhere: any y will do.
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        anywhere = tf.zeros(shape, dtype=self.dtype)
        ndims = self.event_shape.rank
        if ndims is None:
            ndims = tf.size(self.event_shape_tensor())
        ildj = self._bijector.inverse_log_det_jacobian(anywhere, event_ndims=ndims)
        entropy -= tf.cast(ildj, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy
