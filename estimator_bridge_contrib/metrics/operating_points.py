"""Metrics at the best threshold, at a target, and over all thresholds."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import Metric, result, thresholds_between
from estimator_bridge_contrib.metrics.thresholds import EPSILON, at_thresholds, counts_at_thresholds

__all__ = ["f1_score", "precision_at_recall", "recall_at_precision", "streaming_curve_points"]

_v1 = tf.compat.v1


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Returns the best F1 score, 2 * precision * recall / (precision + recall), of all thresholds.

    Args:
      labels: cast to bool.
      predictions: floats from 0 to 1.
      weights: the weight of each example.
      num_thresholds: the number of thresholds to try.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The score, and its update.
    """

    def best(tp: Any, fp: Any, fn: Any) -> tf.Tensor:
        precision, recall = tp / (EPSILON + tp + fp), tp / (EPSILON + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + EPSILON))

    with _v1.variable_scope(name, "f1"):
        value, update = at_thresholds(
            ("tp", "fp", "fn"),
            best,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
            variable_names=("tp", "fn", "fp"),
        )
    return result(value, update, metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """Returns the recall at the threshold whose precision is nearest to a target.

    Args:
      labels: cast to bool.
      predictions: floats from 0 to 1.
      precision: the target precision.
      weights: the weight of each example.
      num_thresholds: the number of thresholds to try.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.
      strict_mode: whether the precision must be reached; the recall is 0 if no threshold does.

    Returns:
      The recall, and its update.

    Raises:
      ValueError: ``precision`` is not from 0 to 1.
    """
    _check_share("precision", precision)

    def recall(tp: Any, fp: Any, fn: Any) -> tf.Tensor:
        tp, fp, fn = (tf.convert_to_tensor(count) for count in (tp, fp, fn))
        precisions = tp / (tp + fp + EPSILON)
        if strict_mode:
            index = tf.argmax(1.0 / (precisions - precision + EPSILON), output_type=tf.int32)
        else:
            index = tf.argmin(tf.abs(precisions - precision), output_type=tf.int32)
        best_recall = tp[index] / (tp[index] + fn[index] + EPSILON)
        if strict_mode:
            return tf.where(precisions[index] >= precision, best_recall, tf.zeros_like(best_recall))
        return best_recall

    with _v1.variable_scope(name, "recall_at_precision"):
        value, update = at_thresholds(
            ("tp", "fp", "fn"),
            recall,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
            variable_names=("tp", "fn", "tn", "fp"),
            named=("value", "update_op"),
        )
    return result(value, update, metrics_collections, updates_collections)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Returns the precision at the largest threshold whose recall reaches a target.

    The arguments are those of ``recall_at_precision``.

    Returns:
      The precision, and its update.

    Raises:
      ValueError: ``target_recall`` is not from 0 to 1.
    """
    _check_share("target_recall", target_recall)

    def precision(tp: Any, fp: Any, fn: Any) -> tf.Tensor:
        tp, fp, fn = (tf.convert_to_tensor(count) for count in (tp, fp, fn))
        # Recall falls as the threshold rises, so the thresholds that reach the target come first.
        reached = tf.cast(tp / (tp + fn + EPSILON) >= target_recall, tf.int32)
        index = tf.reduce_sum(reached) - 1
        return (tp[index] + EPSILON) / (tp[index] + fp[index] + EPSILON)

    with _v1.variable_scope(name, "precision_at_recall"):
        value, update = at_thresholds(
            ("tp", "fp", "fn"),
            precision,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
            variable_names=("tp", "fn", "tn", "fp"),
            named=("value", "update_op"),
        )
    return result(value, update, metrics_collections, updates_collections)


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """Computes the points of a curve over thresholds.

    Args:
      labels: cast to bool.
      predictions: floats from 0 to 1.
      weights: the weight of each example.
      num_thresholds: the number of points.
      metrics_collections: collections to add the points to.
      updates_collections: collections to add the update to.
      curve: "ROC", of (false positive rate, recall); or "PR", of (recall, precision).
      name: the variable scope's name.

    Returns:
      [num_thresholds, 2], and an update.

    Raises:
      ValueError: the curve is unknown.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    small = 1e-6

    def points(tp: Any, fn: Any, tn: Any, fp: Any) -> tf.Tensor:
        recall = (tp + small) / (tp + fn + small)
        if curve == "ROC":
            return tf.stack([fp / (fp + tn + small), recall], axis=1)
        return tf.stack([recall, (tp + small) / (tp + fp + small)], axis=1)

    with _v1.variable_scope(name, "curve_points"):
        names = ("tp", "fn", "tn", "fp")
        counts, updates = counts_at_thresholds(
            names, labels, predictions, weights, thresholds_between(num_thresholds)
        )
        value = points(*(counts[name] for name in names))
        update = tf.group(*updates.values())
    return result(value, update, metrics_collections, updates_collections)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1], got {value}.")
