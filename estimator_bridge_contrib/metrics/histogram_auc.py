"""The area under the ROC curve from histograms of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["auc_using_histogram"]

_v1 = tf.compat.v1


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Sequence[str] | None = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[tf.Tensor, Any]:
    """Computes the area under the ROC curve from one histogram of scores per class.

    Args:
      boolean_labels: bools.
      scores: numbers, of the labels' shape.
      score_range: the least and the largest score; others are counted in the first or last bin.
      nbins: the number of bins.
      collections: collections to add the histograms to; LOCAL_VARIABLES by default.
      check_shape: whether to check that both tensors have the same number of elements.
      name: the variable scope's name.

    Returns:
      The area, NaN without examples of both classes; and the operation that adds a batch.

    Raises:
      ValueError: the labels are no bools, or the shapes do not match.
    """
    if collections is None:
        collections = [_v1.GraphKeys.LOCAL_VARIABLES]
    with _v1.variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        labels, scores = tf.convert_to_tensor(boolean_labels), tf.convert_to_tensor(scores)
        if labels.dtype != tf.bool:
            raise ValueError(
                f"Argument boolean_labels should have dtype bool.  Found: {labels.dtype.name}. "
                "Compare numbers first: labels > 0."
            )
        checks = []
        if check_shape:
            scores.shape.assert_is_compatible_with(labels.shape)
            checks.append(_v1.assert_equal(tf.shape(scores), tf.shape(labels)))
        score_range = tf.cast(score_range, scores.dtype)
        with tf.control_dependencies(checks):
            batch = [
                tf.histogram_fixed_width(scores[of], score_range, nbins, tf.int64)
                for of in (labels, tf.logical_not(labels))
            ]
        with _v1.variable_scope("hist_accumulate"):
            histograms = [
                _v1.get_variable(
                    part,
                    [nbins],
                    tf.int64,
                    _v1.zeros_initializer(),
                    trainable=False,
                    collections=list(collections),
                    synchronization=tf.VariableSynchronization.ON_READ,
                    aggregation=tf.VariableAggregation.SUM,
                )
                for part in ("hist_true_acc", "hist_false_acc")
            ]
            added = [_v1.assign_add(*pair) for pair in zip(histograms, batch)]
            update = tf.group(*added, name="update_op")
        positives, negatives = (tf.cast(tf.identity(each), tf.float32) for each in histograms)
        # A positive example is above the negative ones of lower bins, and half of those of its own.
        below = tf.cumsum(negatives, exclusive=True) + negatives / 2
        pairs = tf.reduce_sum(positives) * tf.reduce_sum(negatives)
        return tf.divide(tf.reduce_sum(positives * below), pairs, name="auc"), update
