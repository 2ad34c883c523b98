"""Metrics of the k best classes."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import average_precision_at_top_k
from estimator_bridge_contrib.metrics.state import Metric

__all__ = [
    "sparse_recall_at_top_k",
    "streaming_recall_at_k",
    "streaming_sparse_average_precision_at_top_k",
    "streaming_sparse_precision_at_top_k",
]

_metrics = tf.compat.v1.metrics


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Returns the share of examples whose class is among the k best.

    Args:
      predictions: [batch, classes], scores.
      labels: [batch], classes.
      k: the number of classes.
      weights: the weight of each example.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The share, and its update.
    """
    hits = tf.cast(tf.math.in_top_k(labels, predictions, k), tf.float32)
    name = name or f"recall_at_{k}"
    return _metrics.mean(hits, weights, metrics_collections, updates_collections, name)


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Calls tf.metrics.precision_at_top_k, with predictions before labels."""
    return _metrics.precision_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Calls tf.metrics.recall_at_top_k, under its older name."""
    return _metrics.recall_at_top_k(
        labels,
        top_k_predictions,
        class_id=class_id,
        weights=weights,
        metrics_collections=metrics_collections,
        updates_collections=updates_collections,
        name=name,
    )


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Returns the mean of the precisions at each of the k best classes that is right.

    Args:
      top_k_predictions: [..., k], classes, the best one first; k is known statically.
      labels: [..., labels], classes; dense or sparse.
      weights: the weight of each example.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The mean over the examples, and its update.

    Raises:
      ValueError: k is unknown.
    """
    return average_precision_at_top_k(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )
