"""Metrics of right and wrong at thresholds, which tf.metrics does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.contrib.metrics.state import Metric, result, thresholds_between

__all__ = [
    "f1_score",
    "precision_at_recall",
    "recall_at_precision",
    "streaming_curve_points",
    "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds",
]

_v1 = tf.compat.v1
_EPSILON = 1e-7
_COUNTS = {
    "tp": _v1.metrics.true_positives_at_thresholds,
    "fp": _v1.metrics.false_positives_at_thresholds,
    "fn": _v1.metrics.false_negatives_at_thresholds,
    "tn": _v1.metrics.true_negatives_at_thresholds,
}


def _at_thresholds(
    names: Sequence[str],
    compute: Callable[..., Any],
    labels: Any,
    predictions: Any,
    weights: Any,
    thresholds: Sequence[float],
) -> Metric:
    """A function of counts [thresholds], such as of the true positives: of the value and update."""
    pairs = [_COUNTS[name](labels, predictions, thresholds, weights) for name in names]
    values, updates = zip(*pairs)
    return compute(*values), compute(*updates)


def streaming_false_positive_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How many of the negative examples are taken for positive ones.

    Args:
      predictions: cast to bool.
      labels: cast to bool.
      weights: how often each example counts.
      metrics_collections: that the value joins.
      updates_collections: that the update joins.
      name: of the variable scope.

    Returns:
      The share, 0 where there is no negative example; and its update.
    """
    with _v1.variable_scope(name, "false_positive_rate"):
        wrong = _v1.metrics.false_positives(labels, predictions, weights)
        right = _v1.metrics.true_negatives(labels, predictions, weights)
        value, update = (tf.math.divide_no_nan(w, w + r) for w, r in zip(wrong, right))
    return result(value, update, metrics_collections, updates_collections)


def streaming_false_negative_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How many of the positive examples are taken for negative ones.

    The arguments are those of ``streaming_false_positive_rate``.

    Returns:
      The share, 0 where there is no positive example; and its update.
    """
    with _v1.variable_scope(name, "false_negative_rate"):
        wrong = _v1.metrics.false_negatives(labels, predictions, weights)
        right = _v1.metrics.true_positives(labels, predictions, weights)
        value, update = (tf.math.divide_no_nan(w, w + r) for w, r in zip(wrong, right))
    return result(value, update, metrics_collections, updates_collections)


def streaming_false_positive_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """As ``streaming_false_positive_rate``, of predictions above each of several thresholds.

    Returns:
      [thresholds], the shares; and their update.
    """
    with _v1.variable_scope(name, "false_positive_rate_at_thresholds"):
        value, update = _at_thresholds(
            ("fp", "tn"),
            lambda fp, tn: fp / (_EPSILON + fp + tn),
            labels,
            predictions,
            weights,
            thresholds,
        )
    return result(value, update, metrics_collections, updates_collections)


def streaming_false_negative_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """As ``streaming_false_negative_rate``, of predictions above each of several thresholds.

    Returns:
      [thresholds], the shares; and their update.
    """
    with _v1.variable_scope(name, "false_negative_rate_at_thresholds"):
        value, update = _at_thresholds(
            ("fn", "tp"),
            lambda fn, tp: fn / (_EPSILON + fn + tp),
            labels,
            predictions,
            weights,
            thresholds,
        )
    return result(value, update, metrics_collections, updates_collections)


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The best F1 score, 2 * precision * recall / (precision + recall), over all thresholds.

    Args:
      labels: cast to bool.
      predictions: floats from 0 to 1.
      weights: how often each example counts.
      num_thresholds: how many thresholds are tried.
      metrics_collections: that the value joins.
      updates_collections: that the update joins.
      name: of the variable scope.

    Returns:
      The score, and its update.
    """

    def best(tp: Any, fp: Any, fn: Any) -> tf.Tensor:
        precision, recall = tp / (_EPSILON + tp + fp), tp / (_EPSILON + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))

    with _v1.variable_scope(name, "f1"):
        value, update = _at_thresholds(
            ("tp", "fp", "fn"),
            best,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
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
    """The recall at the threshold whose precision is nearest to a wanted one.

    Args:
      labels: cast to bool.
      predictions: floats from 0 to 1.
      precision: the wanted precision.
      weights: how often each example counts.
      num_thresholds: how many thresholds are tried.
      metrics_collections: that the value joins.
      updates_collections: that the update joins.
      name: of the variable scope.
      strict_mode: whether the precision has to be reached; the recall is 0 where none does.

    Returns:
      The recall, and its update.

    Raises:
      ValueError: ``precision`` is not from 0 to 1.
    """
    _check_share("precision", precision)

    def recall(tp: Any, fp: Any, fn: Any) -> tf.Tensor:
        tp, fp, fn = (tf.convert_to_tensor(count) for count in (tp, fp, fn))
        precisions = tp / (tp + fp + _EPSILON)
        if strict_mode:
            index = tf.argmax(1.0 / (precisions - precision + _EPSILON), output_type=tf.int32)
        else:
            index = tf.argmin(tf.abs(precisions - precision), output_type=tf.int32)
        found = tp[index] / (tp[index] + fn[index] + _EPSILON)
        if strict_mode:
            return tf.where(precisions[index] >= precision, found, tf.zeros_like(found))
        return found

    with _v1.variable_scope(name, "recall_at_precision"):
        value, update = _at_thresholds(
            ("tp", "fp", "fn"),
            recall,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
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
    """The precision at the threshold whose recall is nearest to a wanted one.

    The arguments are those of ``recall_at_precision``.

    Returns:
      The precision, and its update.

    Raises:
      ValueError: ``target_recall`` is not from 0 to 1.
    """
    _check_share("target_recall", target_recall)

    def precision(tp: Any, fp: Any, fn: Any) -> tf.Tensor:
        tp, fp, fn = (tf.convert_to_tensor(count) for count in (tp, fp, fn))
        recalls = tp / (tp + fn + _EPSILON)
        index = tf.argmin(tf.abs(recalls - target_recall), output_type=tf.int32)
        return (tp[index] + _EPSILON) / (tp[index] + fp[index] + _EPSILON)

    with _v1.variable_scope(name, "precision_at_recall"):
        value, update = _at_thresholds(
            ("tp", "fp", "fn"),
            precision,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
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
    """The points of a curve over thresholds.

    Args:
      labels: cast to bool.
      predictions: floats from 0 to 1.
      weights: how often each example counts.
      num_thresholds: how many points there are.
      metrics_collections: that the points join.
      updates_collections: that the update joins.
      curve: "ROC", of (false positive rate, recall); or "PR", of (recall, precision).
      name: of the variable scope.

    Returns:
      [num_thresholds, 2], and an update.

    Raises:
      ValueError: it is another curve.
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
        value, update = _at_thresholds(
            ("tp", "fn", "tn", "fp"),
            points,
            labels,
            predictions,
            weights,
            thresholds_between(num_thresholds),
        )
    return result(value, update, metrics_collections, updates_collections)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1], got {value}.")
