"""Variables, weights and results shared by the metrics of this package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["Metric", "aligned", "metric_variable", "result", "thresholds_between"]

_v1 = tf.compat.v1
_EPSILON = 1e-7

Metric = tuple[Any, Any]  # a value, and the operation that adds a batch to it


def metric_variable(shape: Sequence[int | None], dtype: tf.DType, name: str) -> tf.Variable:
    """Makes a local variable of zeros that is summed over replicas, like those of tf.metrics.

    Args:
      shape: the shape; a dimension of None starts at 0 and may change.
      dtype: the values' type.
      name: the name within the current scope.
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
    """Removes last dimensions of 1 that not all tensors have; gives weights the labels' shape.

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
    """Returns evenly spaced thresholds, from a little below 0 to a little above 1."""
    inner = [i / (count - 1) for i in range(1, count - 1)]
    return [-_EPSILON, *inner, 1.0 + _EPSILON]


def result(
    value: Any,
    update: Any,
    metrics_collections: Iterable[str] | str | None,
    updates_collections: Iterable[str] | str | None,
) -> Metric:
    """Returns a metric's value and update, after adding them to collections."""
    for collections, tensor in ((metrics_collections, value), (updates_collections, update)):
        if collections:
            _v1.add_to_collections(collections, tensor)
    return value, update
