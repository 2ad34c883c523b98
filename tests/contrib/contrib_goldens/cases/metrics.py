"""tf.contrib.metrics: an update twice, and the value after each."""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import any_of, array, classes, shares, unknown, x
from contrib_goldens.observe import Steps

metrics = tf.contrib.metrics
P, Y = (6,), any_of(6)
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0, 1.0, 3.0], np.float32)
SORTED = np.array([0] * 5 + [1] * 5)
SCORES = np.array([0.1, 0.2, 0.5, 0.3, 0.0, 0.1, 0.45, 0.5, 0.8, 0.9], np.float32)


def steps(metric):
    """A metric's update, value, update and value."""
    value, update = metric
    return Steps([update, value, update, value])


def numbers(metric, *args, **options):
    """A metric of numbers from 0 to 1 and labels of zeros and ones."""
    options.setdefault("weights", None)
    return lambda: steps(getattr(metrics, metric)(shares(*P), Y, *args, **options))


def weighted(metric, *args, **options):
    return numbers(metric, *args, weights=WEIGHTS, **options)


def flags(metric, *args, **options):
    """A metric of predicted and true bools."""
    return lambda: steps(
        getattr(metrics, metric)(
            tf.constant(any_of(8)[2:] > 0), tf.constant(Y > 0), *args, **options
        )
    )


def collected(metric, *args):
    """A metric in collections, with a name."""
    return lambda: steps(
        getattr(metrics, metric)(
            shares(*P),
            Y,
            *args,
            metrics_collections=["values"],
            updates_collections="updates",
            name="own",
        )
    )


def ranked(metric, **options):
    return lambda: steps(
        getattr(metrics, metric)(shares(6, 4), tf.constant(classes(6, 4)[:, None]), **options)
    )


def equal_thresholds(labels=None, **options):
    def build():
        data, update = metrics.precision_recall_at_equal_thresholds(
            tf.constant(Y > 0) if labels is None else tf.constant(labels),
            shares(*P),
            num_thresholds=5,
            **options,
        )
        return steps((tuple(data), update))

    return build


def aggregated():
    values, updates = metrics.aggregate_metrics(
        metrics.streaming_mean(shares(*P)), metrics.streaming_accuracy(Y, any_of(7)[1:])
    )
    return Steps([updates, values])


def aggregated_map():
    values, updates = metrics.aggregate_metric_map(
        {"mean": metrics.streaming_mean(shares(*P)), "all": metrics.count(x(3))}
    )
    return Steps([updates, values])


def exact(metric, labels=Y, predictions=None, **options):
    """A metric that keeps all labels and predictions."""
    return lambda: steps(
        getattr(metrics, metric)(
            tf.constant(labels, tf.int32),
            shares(*P) if predictions is None else tf.constant(predictions),
            **options,
        )
    )


def histogram(**options):
    return lambda: steps(
        metrics.auc_using_histogram(
            tf.constant(SORTED > 0), tf.constant(SCORES), [0.0, 1.0], nbins=5, **options
        )
    )


def best_classes(*shape, **options):
    return lambda: steps(
        metrics.streaming_sparse_average_precision_at_top_k(
            tf.constant(classes(12, 4).reshape(6, 2)) if not shape else tf.zeros(shape, tf.int64),
            tf.constant(classes(6, 4)[:, None]),
            **options,
        )
    )


CASES = {
    "metrics.accuracy": lambda: metrics.accuracy(tf.constant([1, 2, 3]), tf.constant([1, 0, 3])),
    "metrics.accuracy: weights": lambda: metrics.accuracy(
        tf.constant([1, 2, 3]), tf.constant([1, 0, 3]), weights=[1.0, 2.0, 0.0], name="own"
    ),
    "metrics.accuracy: types": lambda: metrics.accuracy(
        tf.constant([1, 2]), tf.constant([1.0, 2.0])
    ),
    "metrics.accuracy: floats": lambda: metrics.accuracy(tf.constant([1.0]), tf.constant([1.0])),
    "metrics.aggregate_metrics": aggregated,
    "metrics.aggregate_metrics: none": lambda: metrics.aggregate_metrics(),
    "metrics.aggregate_metric_map": aggregated_map,
    "metrics.auc_using_histogram": histogram(),
    "metrics.auc_using_histogram: name": histogram(name="own", check_shape=False),
    "metrics.auc_using_histogram: collection": histogram(
        collections=["kept", tf.GraphKeys.LOCAL_VARIABLES]
    ),
    "metrics.auc_using_histogram: labels": lambda: metrics.auc_using_histogram(
        tf.constant(SORTED), tf.constant(SCORES), [0.0, 1.0]
    ),
    "metrics.auc_using_histogram: shapes": lambda: metrics.auc_using_histogram(
        tf.constant(SORTED[1:] > 0), tf.constant(SCORES), [0.0, 1.0]
    ),
    "metrics.auc_with_confidence_intervals": exact("auc_with_confidence_intervals"),
    "metrics.auc_with_confidence_intervals: weights": exact(
        "auc_with_confidence_intervals", weights=WEIGHTS, name="own"
    ),
    "metrics.auc_with_confidence_intervals: no logit": exact(
        "auc_with_confidence_intervals", SORTED, SCORES, logit_transformation=False, alpha=0.8
    ),
    "metrics.auc_with_confidence_intervals: perfect": exact(
        "auc_with_confidence_intervals", SORTED, SORTED.astype(np.float32)
    ),
    "metrics.auc_with_confidence_intervals: one class": exact(
        "auc_with_confidence_intervals", np.ones(6)
    ),
    "metrics.auc_with_confidence_intervals: alpha": exact(
        "auc_with_confidence_intervals", alpha=1.0
    ),
    "metrics.cohen_kappa": lambda: steps(
        metrics.cohen_kappa(tf.constant(classes(6, 3)), tf.constant(classes(7, 3)[1:]), 3)
    ),
    "metrics.cohen_kappa: weights": lambda: steps(
        metrics.cohen_kappa(
            tf.constant(classes(6, 3)),
            tf.constant(classes(7, 3)[1:]),
            3,
            weights=WEIGHTS,
            name="own",
        )
    ),
    "metrics.cohen_kappa: one class": lambda: metrics.cohen_kappa([0], [0], 1),
    "metrics.confusion_matrix": lambda: metrics.confusion_matrix([0, 1, 2], [0, 2, 2], 3),
    "metrics.count": lambda: steps(metrics.count(shares(*P))),
    "metrics.count: weights": lambda: steps(metrics.count(shares(*P), WEIGHTS, name="own")),
    "metrics.f1_score": lambda: steps(metrics.f1_score(Y, shares(*P))),
    "metrics.f1_score: weights": lambda: steps(
        metrics.f1_score(Y, shares(*P), WEIGHTS, num_thresholds=9, name="own")
    ),
    "metrics.precision_at_recall": lambda: steps(metrics.precision_at_recall(SORTED, SCORES, 0.8)),
    "metrics.precision_at_recall: low": lambda: steps(
        metrics.precision_at_recall(SORTED, SCORES, 0.25, num_thresholds=11)
    ),
    "metrics.precision_at_recall: weights": lambda: steps(
        metrics.precision_at_recall(SORTED, SCORES, 0.5, weights=np.arange(10.0), name="own")
    ),
    "metrics.precision_at_recall: target": lambda: metrics.precision_at_recall(Y, shares(*P), 2.0),
    "metrics.precision_recall_at_equal_thresholds": equal_thresholds(),
    "metrics.precision_recall_at_equal_thresholds: weights": equal_thresholds(weights=WEIGHTS),
    "metrics.precision_recall_at_equal_thresholds: floats": equal_thresholds(Y),
    "metrics.recall_at_precision": lambda: steps(metrics.recall_at_precision(SORTED, SCORES, 0.8)),
    "metrics.recall_at_precision: low": lambda: steps(
        metrics.recall_at_precision(SORTED, SCORES, 0.55, num_thresholds=11)
    ),
    "metrics.recall_at_precision: strict": lambda: steps(
        metrics.recall_at_precision(SORTED, SCORES, 0.7, strict_mode=True)
    ),
    "metrics.recall_at_precision: strict, none": lambda: steps(
        metrics.recall_at_precision(SORTED, 1 - SCORES, 0.9, strict_mode=True)
    ),
    "metrics.set_difference": lambda: metrics.set_difference([[1, 2]], [[2, 3]]),
    "metrics.set_intersection": lambda: metrics.set_intersection([[1, 2]], [[2, 3]]),
    "metrics.set_size": lambda: metrics.set_size(tf.contrib.layers.dense_to_sparse([[1, 2]])),
    "metrics.set_union": lambda: metrics.set_union([[1, 2]], [[2, 3]]),
    "metrics.sparse_recall_at_top_k": lambda: steps(
        metrics.sparse_recall_at_top_k(
            tf.constant(classes(6, 4)[:, None]), tf.constant(classes(12, 4).reshape(6, 2))
        )
    ),
    "metrics.sparse_recall_at_top_k: class": lambda: steps(
        metrics.sparse_recall_at_top_k(
            tf.constant(classes(6, 4)[:, None]),
            tf.constant(classes(12, 4).reshape(6, 2)),
            class_id=1,
            weights=WEIGHTS,
            name="own",
        )
    ),
    "metrics.streaming_accuracy": flags("streaming_accuracy"),
    "metrics.streaming_accuracy: weights": flags("streaming_accuracy", weights=WEIGHTS),
    "metrics.streaming_accuracy: collections": collected("streaming_accuracy", None),
    "metrics.streaming_auc": weighted("streaming_auc"),
    "metrics.streaming_auc: PR": numbers("streaming_auc", num_thresholds=20, curve="PR"),
    "metrics.streaming_concat": lambda: steps(metrics.streaming_concat(shares(4, 2))),
    "metrics.streaming_concat: axis": lambda: steps(
        metrics.streaming_concat(shares(4, 2), axis=1, max_size=3, name="own")
    ),
    "metrics.streaming_concat: unknown": lambda: metrics.streaming_concat(unknown(array(2, 2))),
    "metrics.streaming_covariance": lambda: steps(metrics.streaming_covariance(shares(*P), x(6))),
    "metrics.streaming_covariance: weights": lambda: steps(
        metrics.streaming_covariance(shares(*P), x(6), WEIGHTS, name="own")
    ),
    "metrics.streaming_curve_points": lambda: steps(
        metrics.streaming_curve_points(Y, shares(*P), num_thresholds=7)
    ),
    "metrics.streaming_curve_points: PR": lambda: steps(
        metrics.streaming_curve_points(Y, shares(*P), WEIGHTS, num_thresholds=7, curve="PR")
    ),
    "metrics.streaming_curve_points: other": lambda: metrics.streaming_curve_points(
        Y, shares(*P), curve="XY"
    ),
    "metrics.streaming_dynamic_auc": exact("streaming_dynamic_auc"),
    "metrics.streaming_dynamic_auc: weights": exact(
        "streaming_dynamic_auc", weights=WEIGHTS, name="own"
    ),
    "metrics.streaming_dynamic_auc: PR": exact("streaming_dynamic_auc", SORTED, SCORES, curve="PR"),
    "metrics.streaming_dynamic_auc: ties": exact(
        "streaming_dynamic_auc", SORTED, SCORES.round(1), weights=np.arange(10, dtype=np.float32)
    ),
    "metrics.streaming_dynamic_auc: one class": exact("streaming_dynamic_auc", np.zeros(6)),
    "metrics.streaming_dynamic_auc: label": exact("streaming_dynamic_auc", np.full(6, 2)),
    "metrics.streaming_dynamic_auc: curve": exact("streaming_dynamic_auc", curve="XY"),
    "metrics.streaming_false_negative_rate": flags("streaming_false_negative_rate"),
    "metrics.streaming_false_negative_rate: weights": flags(
        "streaming_false_negative_rate", weights=WEIGHTS, name="own"
    ),
    "metrics.streaming_false_negative_rate_at_thresholds": weighted(
        "streaming_false_negative_rate_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_false_positive_rate": flags("streaming_false_positive_rate"),
    "metrics.streaming_false_positive_rate: weights": flags(
        "streaming_false_positive_rate", weights=WEIGHTS, name="own"
    ),
    "metrics.streaming_false_positive_rate_at_thresholds": weighted(
        "streaming_false_positive_rate_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_false_negatives": flags("streaming_false_negatives", weights=WEIGHTS),
    "metrics.streaming_false_negatives_at_thresholds": weighted(
        "streaming_false_negatives_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_false_positives": flags("streaming_false_positives", weights=WEIGHTS),
    "metrics.streaming_false_positives_at_thresholds": weighted(
        "streaming_false_positives_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_mean": lambda: steps(metrics.streaming_mean(shares(*P), WEIGHTS)),
    "metrics.streaming_mean: name": lambda: steps(
        metrics.streaming_mean(shares(*P), metrics_collections=["values"], name="own")
    ),
    "metrics.streaming_mean_absolute_error": weighted("streaming_mean_absolute_error"),
    "metrics.streaming_mean_cosine_distance": lambda: steps(
        metrics.streaming_mean_cosine_distance(shares(4, 3), any_of(4, 3), dim=1)
    ),
    "metrics.streaming_mean_iou": lambda: steps(
        metrics.streaming_mean_iou(classes(6, 3), classes(7, 3)[1:], 3, WEIGHTS)
    ),
    "metrics.streaming_mean_iou: tensors": lambda: steps(
        metrics.streaming_mean_iou(
            tf.constant(classes(6, 3)), tf.constant(classes(7, 3)[1:]), 3, tf.constant(WEIGHTS)
        )
    ),
    "metrics.streaming_mean_relative_error": lambda: steps(
        metrics.streaming_mean_relative_error(shares(*P), Y, shares(*P))
    ),
    "metrics.streaming_mean_squared_error": weighted("streaming_mean_squared_error"),
    "metrics.streaming_mean_tensor": lambda: steps(
        metrics.streaming_mean_tensor(shares(4, 2), any_of(4, 2))
    ),
    "metrics.streaming_pearson_correlation": lambda: steps(
        metrics.streaming_pearson_correlation(shares(*P), x(6))
    ),
    "metrics.streaming_pearson_correlation: weights": lambda: steps(
        metrics.streaming_pearson_correlation(shares(*P), x(6), WEIGHTS, name="own")
    ),
    "metrics.streaming_percentage_less": lambda: steps(
        metrics.streaming_percentage_less(shares(*P), 0.5, WEIGHTS)
    ),
    "metrics.streaming_precision": flags("streaming_precision", weights=WEIGHTS),
    "metrics.streaming_precision: collections": collected("streaming_precision", None),
    "metrics.streaming_precision_at_thresholds": weighted(
        "streaming_precision_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_recall": flags("streaming_recall", weights=WEIGHTS),
    "metrics.streaming_recall_at_k": lambda: steps(
        metrics.streaming_recall_at_k(shares(6, 4), tf.constant(classes(6, 4)), 2)
    ),
    "metrics.streaming_recall_at_k: weights": lambda: steps(
        metrics.streaming_recall_at_k(
            shares(6, 4), tf.constant(classes(6, 4)), 2, WEIGHTS, name="own"
        )
    ),
    "metrics.streaming_recall_at_thresholds": weighted(
        "streaming_recall_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_root_mean_squared_error": weighted("streaming_root_mean_squared_error"),
    "metrics.streaming_sensitivity_at_specificity": weighted(
        "streaming_sensitivity_at_specificity", specificity=0.5
    ),
    "metrics.streaming_sparse_average_precision_at_k": ranked(
        "streaming_sparse_average_precision_at_k", k=2
    ),
    "metrics.streaming_sparse_average_precision_at_top_k": best_classes(),
    "metrics.streaming_sparse_average_precision_at_top_k: weights": best_classes(
        weights=WEIGHTS, name="own"
    ),
    "metrics.streaming_sparse_average_precision_at_top_k: rank": best_classes(6),
    "metrics.streaming_sparse_precision_at_k": ranked("streaming_sparse_precision_at_k", k=2),
    "metrics.streaming_sparse_precision_at_k: class": ranked(
        "streaming_sparse_precision_at_k", k=2, class_id=1, weights=WEIGHTS
    ),
    "metrics.streaming_sparse_precision_at_top_k": lambda: steps(
        metrics.streaming_sparse_precision_at_top_k(
            tf.constant(classes(12, 4).reshape(6, 2)), tf.constant(classes(6, 4)[:, None])
        )
    ),
    "metrics.streaming_sparse_precision_at_top_k: class": lambda: steps(
        metrics.streaming_sparse_precision_at_top_k(
            tf.constant(classes(12, 4).reshape(6, 2)),
            tf.constant(classes(6, 4)[:, None]),
            class_id=1,
            weights=WEIGHTS,
            name="own",
        )
    ),
    "metrics.streaming_sparse_recall_at_k": ranked("streaming_sparse_recall_at_k", k=2),
    "metrics.streaming_specificity_at_sensitivity": weighted(
        "streaming_specificity_at_sensitivity", sensitivity=0.5
    ),
    "metrics.streaming_true_negatives": flags("streaming_true_negatives", weights=WEIGHTS),
    "metrics.streaming_true_negatives_at_thresholds": weighted(
        "streaming_true_negatives_at_thresholds", [0.2, 0.5]
    ),
    "metrics.streaming_true_positives": flags("streaming_true_positives", weights=WEIGHTS),
    "metrics.streaming_true_positives_at_thresholds": weighted(
        "streaming_true_positives_at_thresholds", [0.2, 0.5]
    ),
}
