"""Distributions whose last batch dimensions become dimensions of the event."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import graph_parents, registers_divergence
from estimator_bridge_contrib.distributions.scalars import arguments_of

__all__ = ["Independent"]

_v1 = tf.compat.v1
_kl_divergence = _v1.distributions.kl_divergence


class Independent(tf.compat.v1.distributions.Distribution):
    """A distribution that takes some batch dimensions of another as dimensions of its event.

    Args:
      distribution: the other.
      reinterpreted_batch_ndims: how many of its last batch dimensions; all but the first by
        default.
      validate_args: whether to check that number when the graph runs, if the number of batch
        dimensions is not known before.
      name: the operations' name; "Independent" and the other's name by default.

    Raises:
      ValueError: the distribution has fewer batch dimensions.
    """

    def __init__(
        self,
        distribution: Any,
        reinterpreted_batch_ndims: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ):
        arguments = arguments_of(locals())
        self._distribution = distribution
        with _v1.name_scope(name or f"Independent{distribution.name}") as scope:
            count = reinterpreted_batch_ndims
            if count is None:
                count = _all_but_one(distribution)
            count = tf.convert_to_tensor(count, dtype=tf.int32, name="reinterpreted_batch_ndims")
            self._known_count = tf.get_static_value(count)
            self._count = count if self._known_count is None else self._known_count
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=distribution.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=distribution.allow_nan_stats,
                parameters=arguments,
                graph_parents=[count, *graph_parents(distribution)],
                name=scope,
            )
            self._checks = self._checks_of(count)

    @property
    def distribution(self) -> Any:
        """The other distribution."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """The number of batch dimensions of the event: a tensor, or a number where it is known."""
        return self._count

    def _checks_of(self, count: tf.Tensor) -> list[Any]:
        ndims = self._distribution.batch_shape.rank
        if ndims is not None and self._known_count is not None:
            if self._known_count > ndims:
                raise ValueError(
                    f"reinterpreted_batch_ndims({self._known_count}) cannot exceed "
                    f"distribution.batch_ndims({ndims})"
                )
            return []
        if not self.validate_args:
            return []
        message = "reinterpreted_batch_ndims cannot exceed distribution.batch_ndims"
        whole = self._distribution.batch_shape_tensor()
        return [_v1.assert_less_equal(count, tf.size(whole), message=message)]

    def _split(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the batch dimensions that stay, and those that are taken."""
        whole = self._distribution.batch_shape_tensor()
        place = tf.size(whole) - self._count
        return whole[:place], whole[place:]

    def _known_split(self) -> tuple[tf.TensorShape, tf.TensorShape]:
        whole = self._distribution.batch_shape
        if self._known_count is None or whole.rank is None:
            return tf.TensorShape(None), tf.TensorShape(None)
        place = whole.rank - int(self._known_count)
        return whole[:place], whole[place:]

    def _batch_shape(self) -> tf.TensorShape:
        return self._known_split()[0]

    def _batch_shape_tensor(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._split()[0]

    def _event_shape(self) -> tf.TensorShape:
        dims = self._known_split()[1]
        return dims.concatenate(self._distribution.event_shape) if dims.rank is not None else dims

    def _event_shape_tensor(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return tf.concat([self._split()[1], self._distribution.event_shape_tensor()], 0)

    def _sample_n(self, n: Any, seed: Any = None) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._distribution.sample(n, seed=seed)

    def _summed(self, values: tf.Tensor) -> tf.Tensor:
        count = self._count
        axes = list(range(-count, 0)) if self._known_count is not None else tf.range(-count, 0)
        return tf.reduce_sum(values, axis=axes)

    def _log_prob(self, x: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._summed(self._distribution.log_prob(x))

    def _entropy(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._summed(self._distribution.entropy())

    def _mean(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._distribution.mean()

    def _variance(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._distribution.variance()

    def _stddev(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._distribution.stddev()

    def _mode(self) -> tf.Tensor:
        with tf.control_dependencies(self._checks):
            return self._distribution.mode()


def _all_but_one(distribution: Any) -> Any:
    ndims = distribution.batch_shape.rank
    if ndims is None:
        return tf.maximum(0, tf.size(distribution.batch_shape_tensor()) - 1)
    return max(0, ndims - 1)


@registers_divergence(Independent)
def _kl(a: Independent, b: Independent, name: str = "kl_independent") -> tf.Tensor:
    """Returns the divergence of b from a, of the shape of the batches.

    Raises:
      ValueError: the events have several shapes.
      NotImplementedError: the events of the distributions below have several shapes.
    """
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape != b.event_shape:
            raise ValueError("Event shapes do not match.")
        if p.event_shape != q.event_shape:
            raise NotImplementedError(
                "KL between Independents with different event shapes not supported."
            )
        count = a.event_shape.rank - p.event_shape.rank
        return tf.reduce_sum(_kl_divergence(p, q, name=name), axis=list(range(-count, 0)))
    checks = [
        _v1.assert_equal(a.event_shape_tensor(), b.event_shape_tensor()),
        _v1.assert_equal(p.event_shape_tensor(), q.event_shape_tensor()),
    ]
    with tf.control_dependencies(checks):
        ndims = tf.size(a.event_shape_tensor()) - tf.size(p.event_shape_tensor())
        return tf.reduce_sum(_kl_divergence(p, q, name=name), axis=tf.range(-ndims, 0))
