"""Cohen's kappa."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.metrics.state import Metric, aligned, metric_variable, result

__all__ = ["cohen_kappa"]

_v1 = tf.compat.v1


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """Computes Cohen's kappa: the agreement of predictions with labels beyond chance.

    It is (agreed - expected) / (1 - expected), where ``expected`` is the agreement of two
    independent raters with these class shares (Cohen 1960).

    Args:
      labels: [batch] or [batch, 1], classes.
      predictions_idx: [batch] or [batch, 1], predicted classes.
      num_classes: the number of classes.
      weights: the weight of each example.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      The kappa, 0 if it is undefined; and its update.

    Raises:
      ValueError: there are fewer than two classes.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with _v1.variable_scope(name, "cohen_kappa"):
        predicted, labels, weights = aligned(predictions_idx, labels, weights)
        dtype = tf.int64 if weights is None else weights.dtype
        counts = [metric_variable([num_classes], dtype, part) for part in _PARTS]
        flat = [tf.reshape(classes, [-1]) for classes in (labels, predicted)]
        flat_weights = None if weights is None else tf.reshape(weights, [-1])
        table = tf.math.confusion_matrix(*flat, num_classes, flat_weights, dtype)
        batch = tf.linalg.diag_part(table), tf.reduce_sum(table, 0), tf.reduce_sum(table, 1)
        added = [tf.identity(_v1.assign_add(*pair)) for pair in zip(counts, batch)]
        value = _kappa("value", *(tf.identity(each) for each in counts))
        update = _kappa("update_op", *added)
    return result(value, update, metrics_collections, updates_collections)


_PARTS = ("po", "pe_row", "pe_col")  # by class: agreements, predictions, labels


def _kappa(name: str, agreed: tf.Tensor, predicted: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    agreed, predicted, labels = (tf.cast(each, tf.float64) for each in (agreed, predicted, labels))
    total = tf.reduce_sum(predicted)
    expected = tf.math.divide_no_nan(tf.reduce_sum(predicted * labels), total)
    return tf.math.divide_no_nan(tf.reduce_sum(agreed) - expected, total - expected, name=name)
