"""Mixtures of the batch members of one distribution."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters, graph_parents
from estimator_bridge_contrib.distributions.mixture_parts import at_components
from estimator_bridge_contrib.distributions.scalars import arguments_of

__all__ = ["MixtureSameFamily"]

_v1 = tf.compat.v1


class MixtureSameFamily(tf.compat.v1.distributions.Distribution):
    """A distribution that draws a number, and then from that member of a batch.

    Args:
      mixture_distribution: a ``Categorical`` of the members' numbers, with the batch [*batch], or
        a scalar one.
      components_distribution: a distribution with the batch [*batch, components].
      validate_args: whether to check, when it runs, that the shapes agree.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      name: the operations' name.

    Raises:
      ValueError: the first distribution is not of integers that are scalars, or the shapes do not
        agree.
    """

    def __init__(
        self,
        mixture_distribution: Any,
        components_distribution: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ):
        arguments = arguments_of(locals())
        self._chooser, self._members = mixture_distribution, components_distribution
        with _v1.name_scope(name) as scope:
            event = self._members.event_shape_tensor()
            ndims = tf.compat.dimension_value(event.shape[0])
            self._event_ndims = tf.size(event) if ndims is None else ndims
            self._checks = self._type_checks(validate_args) + self._batch_checks(validate_args)
            self._checks += self._count_checks(validate_args)
            super().__init__(
                dtype=self._members.dtype,
                reparameterization_type=_v1.distributions.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=arguments,
                graph_parents=graph_parents(self._chooser) + graph_parents(self._members),
                name=scope,
            )

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the members' numbers."""
        return self._chooser

    @property
    def components_distribution(self) -> Any:
        """The distribution whose batch has the members."""
        return self._members

    def _type_checks(self, validate_args: bool) -> list[Any]:
        if not self._chooser.dtype.is_integer:
            raise ValueError(
                f"`mixture_distribution.dtype` ({self._chooser.dtype.name}) is not over integers"
            )
        message = "`mixture_distribution` must have scalar `event_dim`s"
        ndims = self._chooser.event_shape.rank
        if ndims:
            raise ValueError(message)
        if ndims is None and validate_args:
            event = self._chooser.event_shape_tensor()
            return [_v1.assert_equal(tf.size(event), 0, message=message)]
        return []

    def _batch_checks(self, validate_args: bool) -> list[Any]:
        chooser = self._chooser.batch_shape
        members = self._members.batch_shape.with_rank_at_least(1)[:-1]
        if chooser.is_fully_defined() and members.is_fully_defined():
            if chooser.rank != 0 and chooser != members:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` (`{chooser.as_list()}`) is not compatible "
                    f"with `components_distribution.batch_shape` (`{members.as_list()}`)"
                )
            return []
        if not validate_args:
            return []
        component_shape = self._members.batch_shape_tensor()[:-1]
        mixture_shape = distribution_parameters.pick_vector(
            self._chooser.is_scalar_batch(), component_shape, self._chooser.batch_shape_tensor()
        )
        message = (
            "`mixture_distribution.batch_shape` is not compatible with "
            "`components_distribution.batch_shape`"
        )
        return [_v1.assert_equal(mixture_shape, component_shape, message=message)]

    def _count_checks(self, validate_args: bool) -> list[Any]:
        """Keeps the number of members, and returns checks that both distributions have it."""
        logits = self._chooser.logits
        logit_count = tf.compat.dimension_value(logits.shape.with_rank_at_least(1)[-1])
        component_count = tf.compat.dimension_value(
            self._members.batch_shape.with_rank_at_least(1)[-1]
        )
        self._count = tf.shape(logits)[-1] if logit_count is None else logit_count
        if logit_count is not None and component_count is not None:
            if logit_count != component_count:
                raise ValueError(
                    f"`mixture_distribution components` ({logit_count}) does not equal "
                    f"`components_distribution.batch_shape[-1]` ({component_count})"
                )
            return []
        if not validate_args:
            return []
        message = (
            "`mixture_distribution components` does not equal "
            "`components_distribution.batch_shape[-1:]`"
        )
        component_count = self._members.batch_shape_tensor()[-1]
        return [_v1.assert_equal(tf.shape(logits)[-1], component_count, message=message)]

    def _batch_shape(self) -> tf.TensorShape:
        return self._members.batch_shape.with_rank_at_least(1)[:-1]

    def _batch_shape_tensor(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._members.batch_shape_tensor()[:-1]

    def _event_shape(self) -> tf.TensorShape:
        return self._members.event_shape

    def _event_shape_tensor(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._members.event_shape_tensor()

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        # As in TensorFlow 1.15, the seed is not used.
        with tf.control_dependencies(self._checks):
            x = self._members.sample(n)
            mask = tf.one_hot(self._chooser.sample(n), self._count, dtype=x.dtype)
            return self._summed(x * self._at_members(mask))

    def _at_members(self, weights: tf.Tensor) -> tf.Tensor:
        return at_components(weights, self, self._chooser, self.event_shape.rank)

    def _summed(self, values: tf.Tensor) -> tf.Tensor:
        """Sums over the members."""
        return tf.reduce_sum(values, axis=-1 - self._event_ndims)

    def _for_members(self, x: tf.Tensor) -> tf.Tensor:
        """Gives x a dimension of 1 for the members, before the event's."""
        with _v1.name_scope("pad_sample_dims", values=[x]):
            ndims = tf.rank(x) if x.shape.rank is None else x.shape.rank
            shape, place = tf.shape(x), ndims - self._event_ndims
            return tf.reshape(x, tf.concat([shape[:place], [1], shape[place:]], 0))

    def _log_of_sum(self, logarithms: tf.Tensor) -> tf.Tensor:
        weights = tf.nn.log_softmax(self._chooser.logits, axis=-1)
        return tf.reduce_logsumexp(logarithms + weights, axis=-1)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._log_of_sum(self._members.log_prob(self._for_members(x)))

    def _log_cdf(self, x: tf.Tensor) -> tf.Tensor:
        return self._log_of_sum(self._members.log_cdf(self._for_members(x)))

    def _mean(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            weights = self._at_members(self._chooser.probs)
            return self._summed(weights * self._members.mean())

    def _variance(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            weights = self._at_members(self._chooser.probs)
            within = self._summed(weights * self._members.variance())
            distances = tf.math.squared_difference(
                self._members.mean(), self._for_members(self._mean())
            )
            return within + self._summed(weights * distances)

    def _covariance(self) -> tf.Tensor:
        if self.event_shape.rank != 1:
            raise NotImplementedError("covariance is not implemented")
        with tf.control_dependencies(self._checks):
            weights = self._at_members(self._at_members(self._chooser.probs))
            within = tf.reduce_sum(weights * self._members.covariance(), axis=-3)
            centered = self._members.mean() - self._for_members(self._mean())
            products = centered[..., tf.newaxis, :] * centered[..., tf.newaxis]
            return within + tf.reduce_sum(weights * products, axis=-3)
