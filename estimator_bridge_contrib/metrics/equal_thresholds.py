"""Counts at evenly spaced thresholds, found by the bucket of each prediction."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import Metric, aligned, metric_variable

__all__ = ["PrecisionRecallData", "precision_recall_at_equal_thresholds"]

_v1 = tf.compat.v1


class PrecisionRecallData(NamedTuple):
    """The results at each threshold, all of the shape [num_thresholds].

    Attributes:
      tp: the weight of true positives.
      fp: the weight of false positives.
      tn: the weight of true negatives.
      fn: the weight of false negatives.
      precision: the precision.
      recall: the recall.
      thresholds: the thresholds, from 0 to 1.
    """

    tp: tf.Tensor
    fp: tf.Tensor
    tn: tf.Tensor
    fn: tf.Tensor
    precision: tf.Tensor
    recall: tf.Tensor
    thresholds: tf.Tensor


def precision_recall_at_equal_thresholds(
    labels: tf.Tensor,
    predictions: tf.Tensor,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Metric:
    """Returns counts, precision and recall at evenly spaced thresholds.

    Args:
      labels: bools, of the shape of the predictions.
      predictions: floats from 0 to 1.
      weights: the weight of each prediction.
      num_thresholds: the number of thresholds; 201 by default.
      use_locking: whether updates of the variables block each other; True by default.
      name: the variable scope's name.

    Returns:
      The PrecisionRecallData, and its update.

    Raises:
      TypeError: the labels are not bools.
      ValueError: the shapes of predictions and labels do not match.
    """
    count = 201 if num_thresholds is None else num_thresholds
    lock = True if use_locking is None else use_locking
    _v1.assert_type(labels, tf.bool)
    with _v1.variable_scope(name, "precision_recall_at_equal_thresholds", [labels, predictions]):
        message = "predictions must be in [0, 1]"
        zero, one = (tf.cast(each, predictions.dtype) for each in (0.0, 1.0))
        checks = [
            _v1.assert_greater_equal(predictions, zero, message=message),
            _v1.assert_less_equal(predictions, one, message=message),
        ]
        with tf.control_dependencies(checks):
            predictions, labels, weights = aligned(predictions, labels, weights)
            predictions = tf.reshape(tf.identity(predictions), [-1])
        each = tf.cast(1.0 if weights is None else weights, tf.float64)
        is_true = tf.cast(labels, tf.float64)
        buckets = tf.cast(tf.floor(predictions * (count - 1)), tf.int32)
        with tf.name_scope("variables"):
            true_in = metric_variable([count], tf.float64, "tp_buckets")
            false_in = metric_variable([count], tf.float64, "fp_buckets")
        with tf.name_scope("update_op"):
            updates = [
                _v1.scatter_add(into, buckets, tf.reshape(part * each, [-1]), use_locking=lock)
                for into, part in ((true_in, is_true), (false_in, 1.0 - is_true))
            ]
        tp, fp = (tf.cumsum(into, reverse=True) for into in (true_in, false_in))
        fn, tn = tp[0] - tp, fp[0] - fp
        smallest = tf.constant(1e-7, tf.float64)
        precision, recall = (tp / tf.maximum(smallest, tp + wrong) for wrong in (fp, fn))
        thresholds = tf.range(count, dtype=tf.float32) / (count - 1)
        thresholds = tf.identity(thresholds, name="LinSpace")
        fields = (tp, fp, tn, fn, precision, recall, thresholds)
        data = PrecisionRecallData(*(tf.cast(part, predictions.dtype) for part in fields))
        return data, tf.group(*updates)
