"""What the metrics of this package share: their variables, weights and results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["Metric", "aligned", "metric_variable", "result", "thresholds_between"]

_v1 = tf.compat.v1
_EPSILON = 1e-7

Metric = tuple[Any, Any]  # a value, and the operation that takes another batch into account


def metric_variable(shape: Sequence[int | None], dtype: tf.DType, name: str) -> tf.Variable:
    """A local variable of zeros that sums up over replicas, like those of tf.metrics.

    Args:
      shape: where a dimension is None, its first size is 0, and it may change.
      dtype: the values' type.
      name: within the current scope.
    """
    return _v1.Variable(
        lambda: tf.zeros([size or 0 for size in shape], dtype),
        trainable=False,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.METRIC_VARIABLES],
        validate_shape=None not in shape,
        use_resource=None in shape or None,  # a reference variable cannot change its size
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
        shape=tf.TensorShape(shape),
        name=name,
    )


def aligned(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Tensors without a last dimension of 1 that the others lack; weights in labels' shape.

    Raises:
      ValueError: the shapes of predictions and labels do not match.
    """
    predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
    if None not in (predictions.shape.rank, labels.shape.rank):
        more = predictions.shape.rank - labels.shape.rank
        predictions = tf.squeeze(predictions, [-1]) if more == 1 else predictions
        labels = tf.squeeze(labels, [-1]) if more == -1 else labels
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(
            f"Shapes {predictions.shape} of predictions and {labels.shape} of labels are "
            "incompatible. A metric compares them element by element."
        )
    if weights is not None:
        weights = tf.cast(weights, tf.float32)
        rank = labels.shape.rank
        if rank is not None and weights.shape.rank not in (None, 0):
            if weights.shape.rank == rank + 1:
                weights = tf.squeeze(weights, [-1])
            elif weights.shape.rank == rank - 1:
                weights = tf.expand_dims(weights, -1)
        weights = tf.broadcast_to(weights, tf.shape(labels))
    return predictions, labels, weights


def thresholds_between(count: int) -> list[float]:
    """Thresholds in equal steps, from a little below 0 to a little above 1."""
    inner = [i / (count - 1) for i in range(1, count - 1)]
    return [-_EPSILON, *inner, 1.0 + _EPSILON]


def result(
    value: Any,
    update: Any,
    metrics_collections: Iterable[str] | str | None,
    updates_collections: Iterable[str] | str | None,
) -> Metric:
    """A metric's value and update, which join collections."""
    for collections, tensor in ((metrics_collections, value), (updates_collections, update)):
        if collections:
            _v1.add_to_collections(collections, tensor)
    return value, update
