"""The area under a curve from all predictions, not from counts at thresholds."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.metrics.concatenation import streaming_concat
from estimator_bridge_contrib.metrics.state import Metric, aligned, result

__all__ = ["AucData", "auc_with_confidence_intervals", "streaming_dynamic_auc"]

_v1 = tf.compat.v1
_SMALL = 1e-7  # keeps denominators from 0


class AucData(NamedTuple):
    """An area under a curve, with the bounds of its confidence interval."""

    auc: Any
    lower: Any
    upper: Any


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> Metric:
    """Computes the area under a curve through a point for each prediction, by the trapezoid rule.

    It keeps all predictions in memory.

    Args:
      labels: zeros and ones, or bools.
      predictions: any numbers, of the labels' shape.
      curve: "ROC", of (false positive rate, recall); or "PR", of (recall, precision).
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.
      weights: the weight of each prediction.

    Returns:
      The area, 0 without examples of both classes; and its update.

    Raises:
      ValueError: the curve is unknown, or the shapes do not match.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    area = _roc_area if curve == "ROC" else _pr_area
    with _v1.variable_scope(name, "dynamic_auc"):
        samples, update = _all_seen(labels, predictions, weights, tf.float64)
        (value,) = _or_zeros(samples, lambda: [area(*_cumulated(*samples))])
    return result(value, update, metrics_collections, updates_collections)


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> Metric:
    """Computes the area under the ROC curve and its confidence interval.

    The variance is that of DeLong, DeLong and Clarke-Pearson, "Comparing the Areas under Two or
    More Correlated Receiver Operating Characteristic Curves" (1988). It keeps all predictions in
    memory.

    Args:
      labels: zeros and ones, or bools.
      predictions: any numbers, of the labels' shape.
      weights: the weight of each prediction.
      alpha: the probability that the interval holds the area.
      logit_transformation: whether the interval is one of the area's logit, so that it stays
        between 0 and 1.
      metrics_collections: collections to add the value to.
      updates_collections: collections to add the update to.
      name: the variable scope's name.

    Returns:
      An ``AucData`` of scalars, zeros without examples of both classes; and its update.

    Raises:
      ValueError: alpha is not between 0 and 1, or the shapes do not match.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.2f}")
    quantile = tf.math.ndtri(tf.constant((1 + alpha) / 2, tf.float64))
    with _v1.variable_scope(name, "auc_with_confidence_intervals"):
        samples, update = _all_seen(labels, predictions, weights, tf.float32)
        labels, predictions, weights = samples

        def interval() -> list[tf.Tensor]:
            area, variance = _area_and_variance(labels, predictions, tf.cast(weights, tf.float64))
            bounds = _bounds(area, quantile * tf.sqrt(variance), logit_transformation)
            return [tf.cast(each, tf.float32) for each in (area, *bounds)]

        enough = tf.reduce_sum(weights) >= 1  # fewer examples have no variance
        value = AucData(*_or_zeros(samples, interval, tf.float32, 3, enough))
        with tf.control_dependencies([update]):
            update = tf.constant(True)
    return result(value, update, metrics_collections, updates_collections)


def _all_seen(
    labels: Any, predictions: Any, weights: Any, weight_type: tf.DType
) -> tuple[tuple[Any, Any, Any], Any]:
    """Returns all labels, predictions and weights, flat, and the operation that adds a batch.

    Without weights, the dynamic metric keeps none; they are all 1.
    """
    labels = tf.cast(labels, tf.int64)
    predictions = tf.cast(predictions, tf.float64)
    predictions.shape.assert_is_compatible_with(labels.shape)
    has_weights = weights is not None or weight_type == tf.float32
    weights = aligned(predictions, labels, 1.0 if weights is None else weights)[2]
    # TensorFlow's optimizer drops a reshape to the same shape, with what it depends on.
    with tf.control_dependencies(_checks(labels)):
        labels = tf.identity(labels)
    flat = [
        ("concat_preds", tf.reshape(predictions, [-1])),
        ("concat_labels", tf.reshape(labels, [-1])),
    ]
    if has_weights:
        flat.append(("concat_weights", tf.reshape(tf.cast(weights, weight_type), [-1])))
    metrics = [streaming_concat(values, name=part) for part, values in flat]
    values = [value for value, _ in metrics]
    if len(values) < 3:
        values.append(tf.ones_like(values[0]))
    return (values[1], values[0], values[2]), tf.group(*(update for _, update in metrics))


def _checks(labels: tf.Tensor) -> list[Any]:
    """Returns operations that fail for labels other than 0 and 1.

    tf.compat.v1.assert_less_equal would raise the error for constants while the graph is built.
    """
    message = "labels must be 0 or 1, at least one is {}; labels:".format
    return [
        tf.raw_ops.Assert(condition=tf.reduce_all(correct), data=[message(wrong), labels])
        for correct, wrong in ((labels <= 1, ">1"), (labels >= 0, "<0"))
    ]


def _has_both_classes(labels: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    positive = tf.reduce_sum(weights * tf.cast(labels, weights.dtype))
    negative = tf.reduce_sum(weights) - positive
    return tf.logical_and(positive > 0, negative > 0)


def _or_zeros(
    samples: Any, compute: Any, dtype: tf.DType = tf.float64, count: int = 1, enough: Any = True
) -> Any:
    """Returns results; zeros if not both classes, or not enough examples, have been seen."""
    labels, _, weights = samples
    is_defined = tf.logical_and(_has_both_classes(labels, weights), enough)
    zeros = [tf.zeros([], dtype)] * count
    return tf.nest.flatten(_v1.cond(is_defined, compute, lambda: zeros))


def _cumulated(labels: Any, predictions: Any, weights: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns true and false positives at each different prediction, from the largest one."""
    order = tf.argsort(predictions, direction="DESCENDING", stable=True)
    predictions = tf.gather(predictions, order)
    weights = tf.gather(weights, order)
    hits = weights * tf.cast(tf.gather(labels, order), weights.dtype)
    is_last = tf.concat([predictions[1:] < predictions[:-1], [True]], 0)
    return (
        tf.boolean_mask(tf.cumsum(hits), is_last),
        tf.boolean_mask(tf.cumsum(weights - hits), is_last),
    )


def _roc_area(hits: tf.Tensor, misses: tf.Tensor) -> tf.Tensor:
    zero = tf.zeros([1], hits.dtype)
    return _below(tf.concat([zero, misses / misses[-1]], 0), tf.concat([zero, hits / hits[-1]], 0))


def _pr_area(hits: tf.Tensor, misses: tf.Tensor) -> tf.Tensor:
    precision = tf.math.divide_no_nan(hits, hits + misses)
    zero, one = tf.zeros([1], hits.dtype), tf.ones([1], hits.dtype)
    return _below(tf.concat([zero, hits / hits[-1]], 0), tf.concat([one, precision], 0))


def _below(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Returns the area below a curve, by the trapezoid rule."""
    return tf.reduce_sum((x[1:] - x[:-1]) * (y[1:] + y[:-1])) / 2


def _area_and_variance(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any]:
    """Returns the area under the ROC curve, and its variance.

    Each positive example is placed by the share of negative ones below it, and each negative one
    by the share of positive ones above it. The area is the mean of either, and the variance the
    sum of those of both means.
    """
    hits, misses = _cumulated(labels, predictions, weights)
    values = tf.sort(tf.unique(predictions)[0], direction="DESCENDING")
    at = tf.searchsorted(-values, -predictions)
    zero = tf.zeros([1], hits.dtype)
    above = [
        (tf.gather(tf.concat([zero, sums], 0), at) + tf.gather(sums, at)) / 2 / sums[-1]
        for sums in (hits, misses)
    ]
    positives = weights * tf.cast(labels, weights.dtype)
    area = tf.reduce_sum(positives * (1 - above[1])) / hits[-1]
    variance = tf.zeros([], area.dtype)
    for place, examples in ((1 - above[1], positives), (above[0], weights - positives)):
        total = tf.reduce_sum(examples)
        squares = tf.reduce_sum(examples * tf.square(place - area))
        variance += squares / (total - 1 + _SMALL) / total
    return area, variance


def _bounds(area: Any, distance: Any, is_logit: bool) -> tuple[tf.Tensor, tf.Tensor]:
    if not is_logit:
        return area - distance, area + distance
    spread = area * (1 - area)
    is_inside = spread > _SMALL
    logit = tf.math.log(area / (1 - area))
    lower, upper = (
        tf.where(is_inside, tf.sigmoid(logit + sign * distance / spread), area)
        for sign in (-1.0, 1.0)
    )
    return lower, upper
