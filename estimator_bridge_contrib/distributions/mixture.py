"""Mixtures of several distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import distribution_parameters, graph_parents
from estimator_bridge_contrib.distributions.mixture_parts import at_components, deviations
from estimator_bridge_contrib.distributions.scalars import arguments_of

__all__ = ["Mixture"]

_v1 = tf.compat.v1
_Distribution = _v1.distributions.Distribution


class Mixture(tf.compat.v1.distributions.Distribution):
    """A distribution that draws a component's number, and then from the component.

    Args:
      cat: a ``Categorical`` of the components' numbers, with the components' batch.
      components: the distributions, a list, with one type, batch and event.
      validate_args: whether to check, when it runs, that the batches agree.
      allow_nan_stats: whether a statistic that is not defined is NaN, or an error.
      use_static_graph: whether samples are drawn from all components, and then chosen. Without it,
        a component draws as many as are needed of it.
      name: the operations' name.

    Raises:
      TypeError: ``cat`` is no ``Categorical``, or the components are no list of distributions of
        one type.
      ValueError: there are no components, or another number than ``cat`` knows; the number of the
        event's dimensions is not known; or shapes do not agree.
    """

    def __init__(
        self,
        cat: Any,
        components: Sequence[Any],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ):
        arguments = arguments_of(locals())
        _check_types(cat, components)
        self._known_event, self._known_batch = _known_shapes(cat, components)
        with _v1.name_scope(name, values=[cat.logits]) as scope:
            self._num_components = _count(cat, components)
            self._checks = _batch_checks(cat, components) if validate_args else []
            self._cat, self._components = cat, list(components)
            self._use_static_graph = use_static_graph
        super().__init__(
            dtype=components[0].dtype,
            reparameterization_type=_v1.distributions.NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=arguments,
            graph_parents=[parent for each in (cat, *components) for parent in graph_parents(each)],
            name=scope,
        )

    @property
    def cat(self) -> Any:
        """The distribution of the components' numbers."""
        return self._cat

    @property
    def components(self) -> list[Any]:
        """The components."""
        return self._components

    @property
    def num_components(self) -> int:
        """The number of components."""
        return self._num_components

    def _batch_shape(self) -> tf.TensorShape:
        return self._known_batch

    def _batch_shape_tensor(self) -> tf.Tensor:
        return self._cat.batch_shape_tensor()

    def _event_shape(self) -> tf.TensorShape:
        return self._known_event

    def _event_shape_tensor(self) -> tf.Tensor:
        return self._components[0].event_shape_tensor()

    def _weights(self) -> list[tf.Tensor]:
        """Returns the probability of each component, of the batch's shape."""
        return tf.unstack(tf.nn.softmax(self._cat.logits), num=self._num_components, axis=-1)

    def _event_weights(self) -> list[tf.Tensor]:
        """Returns the same, with a dimension of 1 for each of the event."""
        ones = (tf.newaxis,) * self.event_shape.rank
        return [each[(..., *ones)] if ones else each for each in self._weights()]

    def _log_of_sum(self, logarithms: Sequence[tf.Tensor]) -> tf.Tensor:
        """Returns the logarithm of the weighed sum of values, given their logarithms."""
        weights = tf.unstack(tf.nn.log_softmax(self._cat.logits), num=self._num_components, axis=-1)
        terms = [weight + each for weight, each in zip(weights, logarithms)]
        return tf.reduce_logsumexp(tf.stack(terms, 0), [0])

    def _log_prob(self, x: Any) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            x = tf.convert_to_tensor(x, name="x")
            return self._log_of_sum([each.log_prob(x) for each in self._components])

    def _log_cdf(self, x: Any) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            x = tf.convert_to_tensor(x, name="x")
            return self._log_of_sum([each.log_cdf(x) for each in self._components])

    def _mean(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            means = [each.mean() for each in self._components]
            return tf.add_n([w * mean for w, mean in zip(self._event_weights(), means)])

    def _stddev(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            means = tf.stack([each.mean() for each in self._components], axis=-1)
            stddevs = tf.stack([each.stddev() for each in self._components], axis=-1)
            weights = tf.stack(self._event_weights(), axis=-1) * tf.ones_like(means)
            flat = [-1, self._num_components]
            values = deviations(*(tf.reshape(each, flat) for each in (weights, means, stddevs)))
            return tf.reshape(values, tf.shape(weights)[:-1])

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> tf.Tensor:
        """Returns the components' mean entropy, which is not above the mixture's.

        Args:
          name: the operations' name.
        """
        scope = self._name_scope(name, values=[self._cat.logits])
        with scope, tf.control_dependencies(self._checks):
            entropies = [each.entropy() for each in self._components]
            return tf.add_n([w * each for w, each in zip(self._weights(), entropies)])

    def _seeds(self, seed: Any) -> list[Any]:
        """Returns a seed for each component."""
        seeds = []
        for _ in self._components:
            seed = distribution_parameters.gen_new_seed(seed, "mixture")
            seeds.append(seed)
        return seeds

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        if self._use_static_graph:
            return self._sample_all(n, seed)
        with tf.control_dependencies(self._checks):
            return self._sample_needed(n, seed)

    def _sample_all(self, n: Any, seed: Any) -> tf.Tensor:
        ndims = self._known_event.rank
        chosen = self._cat.sample(n, seed=seed)
        drawn = [each.sample(n, seed=own) for each, own in zip(self._components, self._seeds(seed))]
        x = tf.stack(drawn, -ndims - 1)
        mask = tf.one_hot(chosen, self._num_components, dtype=x.dtype)
        return tf.reduce_sum(x * at_components(mask, self, self._cat, ndims), axis=-1 - ndims)

    def _sample_needed(self, n: Any, seed: Any) -> tf.Tensor:
        # Each component draws for the whole batch, as often as it is chosen anywhere; of a draw,
        # the place in the batch that chose it is kept.
        n = tf.convert_to_tensor(n, name="n")
        known_n = tf.get_static_value(n)
        chosen = self._cat.sample(n if known_n is None else int(known_n), seed=seed)
        batch_size = tf.reduce_prod(self.batch_shape_tensor())
        shape, count = tf.shape(chosen), tf.size(chosen)
        places = self._by_component(tf.reshape(tf.range(count), shape), chosen)
        in_batch = tf.tile(tf.range(batch_size), [n])
        in_batch = self._by_component(tf.reshape(in_batch, shape), chosen)
        event = self.event_shape_tensor()
        drawn = []
        for i, own in enumerate(self._seeds(seed)):
            times = tf.size(places[i])
            of_batches = self._components[i].sample(times, seed=own)
            of_batches = tf.reshape(of_batches, tf.concat([[times * batch_size], event], 0))
            indices = batch_size * tf.range(times) + in_batch[i]
            drawn.append(tf.gather(of_batches, indices, name="samples_class_c_gather"))
        samples = tf.reshape(tf.dynamic_stitch(places, drawn), tf.concat([shape, event], 0))
        samples.set_shape(chosen.shape.concatenate(self.event_shape))
        return samples

    def _by_component(self, values: tf.Tensor, chosen: tf.Tensor) -> list[tf.Tensor]:
        return tf.dynamic_partition(values, chosen, self._num_components)


def _check_types(cat: Any, components: Any) -> None:
    if not isinstance(cat, _v1.distributions.Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(each, _Distribution) for each in components):
        raise TypeError(
            f"all entries in components must be Distribution instances but saw: {components}"
        )
    if any(each.dtype != components[0].dtype for each in components):
        types = [(each.name, each.dtype) for each in components]
        raise TypeError(f"All components must have the same dtype, but saw dtypes: {types}")


def _known_shapes(cat: Any, components: Sequence[Any]) -> tuple[tf.TensorShape, tf.TensorShape]:
    """Returns the event's and the batch's shape, as far as any part knows them."""
    event, batch = components[0].event_shape, cat.batch_shape
    for each in components:
        event, batch = event.merge_with(each.event_shape), batch.merge_with(each.batch_shape)
    if event.rank is None:
        raise ValueError(
            "Expected to know rank(event_shape) from components, but none of the components "
            "provide a static number of ndims"
        )
    return event, batch


def _count(cat: Any, components: Sequence[Any]) -> int:
    class_count = tf.get_static_value(cat.event_size)
    if class_count is None:
        raise ValueError(
            "Could not infer number of classes from cat and unable to compare this value to the "
            "number of components passed in."
        )
    if int(class_count) != len(components):
        raise ValueError(
            f"cat.num_classes != len(components): {int(class_count)} vs. {len(components)}"
        )
    return int(class_count)


def _batch_checks(cat: Any, components: Sequence[Any]) -> list[Any]:
    whole = cat.batch_shape_tensor()
    shapes = [each.batch_shape_tensor() for each in components]
    pairs = [(tf.size(whole), tf.size(each)) for each in shapes] + [
        (whole, each) for each in shapes
    ]
    return [
        _v1.assert_equal(
            *pair,
            message=f"components[{i % len(shapes)}] batch shape must match cat batch shape",
        )
        for i, pair in enumerate(pairs)
    ]
