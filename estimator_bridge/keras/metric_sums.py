"""Keras metrics summed over the batches of all replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import cross_replica_sum
from estimator_bridge.tensorflow_private.keras import metric_update

__all__ = ["MetricSums"]

_v1 = tf.compat.v1


class MetricSums:
    """Metrics that are updated in a replica's graph and counted over all replicas.

    Keras metrics keep sums over examples. Between steps all replicas hold the same sums and a copy
    of them, so that a step adds each replica's own part once.

    Args:
      metrics: the metrics of a compiled model in the default graph.
      replicas: number of replicas.
      is_whole: whether each replica sees the global batch.

    Attributes:
      operations: the operations of a step.
      values: the metrics' values after the step, in order.
      variables: the variables that a reset initializes.
    """

    def __init__(self, metrics: Sequence[Any], replicas: int, is_whole: bool):
        self._replicas, self._seen_by = replicas, replicas if is_whole else 1
        updates = [metric_update(metric) for metric in metrics]
        self.variables = [weight for metric in metrics for weight in metric.weights]
        self.operations = [update.op for update in updates]
        if replicas > 1:
            pairs = [(weight, _kept_beside(weight)) for weight in self.variables]
            self.variables += [before for _, before in pairs]
            with tf.control_dependencies(updates):
                self.operations += [self._sum(*pair) for pair in pairs]
        with tf.control_dependencies(self.operations):
            self.values = [tf.identity(metric.result()) for metric in metrics]

    def _sum(self, weight: Any, before: Any) -> tf.Operation:
        was = before.read_value()
        difference = cross_replica_sum(weight.read_value() - was)
        total = was + tf.cast(difference / self._seen_by, weight.dtype)
        return tf.group(_v1.assign(weight, total), _v1.assign(before, total))


def _kept_beside(weight: Any) -> Any:
    return _v1.get_variable(
        f"before/{weight.op.name}",
        weight.shape,
        weight.dtype,
        initializer=_v1.zeros_initializer(),
        trainable=False,
        collections=[],
        use_resource=True,
    )
