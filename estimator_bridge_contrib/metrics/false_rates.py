"""False positive and false negative rates, which tf.metrics does not have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import Metric, result
from estimator_bridge_contrib.metrics.thresholds import EPSILON, at_thresholds

__all__ = [
    "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds",
]

_v1 = tf.compat.v1


def streaming_false_positive_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Returns the share of negative examples that are predicted positive.

    Args:
      predictions: cast to bool.
      labels: cast to bool.
      weights: the weight of each example.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The share, 0 if there is no negative example; and its update.
    """
    with _v1.variable_scope(name, "false_positive_rate"):
        wrong = _v1.metrics.false_positives(labels, predictions, weights)
        right = _v1.metrics.true_negatives(labels, predictions, weights)
        rate = _share(wrong, right)
    return result(*rate, metrics_collections, updates_collections)


def streaming_false_negative_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Returns the share of positive examples that are predicted negative.

    The arguments are those of ``streaming_false_positive_rate``.

    Returns:
      The share, 0 if there is no positive example; and its update.
    """
    with _v1.variable_scope(name, "false_negative_rate"):
        wrong = _v1.metrics.false_negatives(labels, predictions, weights)
        right = _v1.metrics.true_positives(labels, predictions, weights)
        rate = _share(wrong, right)
    return result(*rate, metrics_collections, updates_collections)


def streaming_false_positive_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Like ``streaming_false_positive_rate``, for predictions above each of several thresholds.

    Returns:
      [thresholds], the shares; and their update.
    """
    with _v1.variable_scope(name, "false_positive_rate_at_thresholds"):
        rate = at_thresholds(
            ("fp", "tn"),
            _share_of_counts,
            labels,
            predictions,
            weights,
            thresholds,
            named=("fpr_value", "fpr_update_op"),
        )
    return result(*rate, metrics_collections, updates_collections)


def streaming_false_negative_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Like ``streaming_false_negative_rate``, for predictions above each of several thresholds.

    Returns:
      [thresholds], the shares; and their update.
    """
    with _v1.variable_scope(name, "false_negative_rate_at_thresholds"):
        rate = at_thresholds(
            ("fn", "tp"),
            _share_of_counts,
            labels,
            predictions,
            weights,
            thresholds,
            named=("fnr_value", "fnr_update_op"),
        )
    return result(*rate, metrics_collections, updates_collections)


def _share(wrong: Metric, right: Metric) -> Metric:
    """Returns the share of wrong predictions: its value and its update."""
    names = ("value", "update_op")
    value, update = (
        tf.math.divide_no_nan(w, w + r, name) for w, r, name in zip(wrong, right, names)
    )
    return value, update


def _share_of_counts(wrong: Any, right: Any) -> tf.Tensor:
    return wrong / (EPSILON + wrong + right)
