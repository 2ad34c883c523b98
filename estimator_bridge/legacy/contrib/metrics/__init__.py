"""tf.contrib.metrics: what became tf.metrics, and metrics that it does not have."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.legacy.contrib.metrics.collecting import (
    accuracy,
    aggregate_metric_map,
    aggregate_metrics,
    cohen_kappa,
    count,
    streaming_concat,
)
from estimator_bridge.legacy.contrib.metrics.correlation import (
    streaming_covariance,
    streaming_pearson_correlation,
)
from estimator_bridge.legacy.contrib.metrics.operating_points import (
    f1_score,
    precision_at_recall,
    recall_at_precision,
    streaming_curve_points,
)
from estimator_bridge.legacy.contrib.metrics.ranking import (
    sparse_recall_at_top_k,
    streaming_recall_at_k,
    streaming_sparse_precision_at_top_k,
)
from estimator_bridge.legacy.contrib.metrics.rates import (
    streaming_false_negative_rate,
    streaming_false_negative_rate_at_thresholds,
    streaming_false_positive_rate,
    streaming_false_positive_rate_at_thresholds,
)
from estimator_bridge.legacy.contrib.metrics.twins import (
    streaming_accuracy,
    streaming_auc,
    streaming_false_negatives,
    streaming_false_negatives_at_thresholds,
    streaming_false_positives,
    streaming_false_positives_at_thresholds,
    streaming_mean,
    streaming_mean_absolute_error,
    streaming_mean_cosine_distance,
    streaming_mean_iou,
    streaming_mean_relative_error,
    streaming_mean_squared_error,
    streaming_mean_tensor,
    streaming_percentage_less,
    streaming_precision,
    streaming_precision_at_thresholds,
    streaming_recall,
    streaming_recall_at_thresholds,
    streaming_root_mean_squared_error,
    streaming_sensitivity_at_specificity,
    streaming_sparse_average_precision_at_k,
    streaming_sparse_precision_at_k,
    streaming_sparse_recall_at_k,
    streaming_specificity_at_sensitivity,
    streaming_true_negatives,
    streaming_true_negatives_at_thresholds,
    streaming_true_positives,
    streaming_true_positives_at_thresholds,
)
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "accuracy",
    "aggregate_metric_map",
    "aggregate_metrics",
    "cohen_kappa",
    "confusion_matrix",
    "count",
    "f1_score",
    "precision_at_recall",
    "recall_at_precision",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "sparse_recall_at_top_k",
    "streaming_accuracy",
    "streaming_auc",
    "streaming_concat",
    "streaming_covariance",
    "streaming_curve_points",
    "streaming_false_negative_rate",
    "streaming_false_negative_rate_at_thresholds",
    "streaming_false_negatives",
    "streaming_false_negatives_at_thresholds",
    "streaming_false_positive_rate",
    "streaming_false_positive_rate_at_thresholds",
    "streaming_false_positives",
    "streaming_false_positives_at_thresholds",
    "streaming_mean",
    "streaming_mean_absolute_error",
    "streaming_mean_cosine_distance",
    "streaming_mean_iou",
    "streaming_mean_relative_error",
    "streaming_mean_squared_error",
    "streaming_mean_tensor",
    "streaming_pearson_correlation",
    "streaming_percentage_less",
    "streaming_precision",
    "streaming_precision_at_thresholds",
    "streaming_recall",
    "streaming_recall_at_k",
    "streaming_recall_at_thresholds",
    "streaming_root_mean_squared_error",
    "streaming_sensitivity_at_specificity",
    "streaming_sparse_average_precision_at_k",
    "streaming_sparse_precision_at_k",
    "streaming_sparse_precision_at_top_k",
    "streaming_sparse_recall_at_k",
    "streaming_specificity_at_sensitivity",
    "streaming_true_negatives",
    "streaming_true_negatives_at_thresholds",
    "streaming_true_positives",
    "streaming_true_positives_at_thresholds",
]

_sets = tf.compat.v1.sets

confusion_matrix = tf.compat.v1.confusion_matrix
set_difference = _sets.set_difference
set_intersection = _sets.set_intersection
set_size = _sets.set_size
set_union = _sets.set_union

_AUC = "is not there. Use tf.metrics.auc(labels, predictions, num_thresholds=...)."

__getattr__ = missing_getattr(
    __name__,
    {
        "auc_using_histogram": _AUC,
        "auc_with_confidence_intervals": _AUC,
        "precision_recall_at_equal_thresholds": "is not there. Use "
        "tf.metrics.precision_at_thresholds and tf.metrics.recall_at_thresholds.",
        "streaming_dynamic_auc": _AUC,
        "streaming_sparse_average_precision_at_top_k": "is not there. Use "
        "tf.metrics.average_precision_at_k, of scores.",
    },
    "tf.contrib.metrics",
)
