"""tf.contrib.metrics against NumPy, over several batches, in sessions and in estimators."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import metrics

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANDOM = np.random.RandomState(1)
SCORES = RANDOM.rand(30).astype(np.float32)
LABELS = (RANDOM.rand(30) < SCORES).astype(np.int32)
WEIGHTS = RANDOM.randint(0, 3, 30).astype(np.float32)


def over_batches(metric, *arrays):
    """A metric's value after three batches of ten, and what its update gave last."""
    with tf.Graph().as_default(), v1.Session() as session:
        fed = [v1.placeholder(a.dtype, [None, *a.shape[1:]]) for a in arrays]
        value, update = metric(*fed)
        session.run(v1.local_variables_initializer())
        for part in range(0, 30, 10):
            feed = {p: a[part : part + 10] for p, a in zip(fed, arrays)}
            last = session.run(update, feed)
        assert v1.get_collection(v1.GraphKeys.METRIC_VARIABLES)
        return session.run(value), last


def share(condition, of, weights=WEIGHTS):
    return weights[condition & of].sum() / weights[of].sum()


IS = LABELS == 1
GUESS = SCORES > 0.5


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (metrics.streaming_accuracy, WEIGHTS[GUESS == IS].sum() / WEIGHTS.sum()),
        (metrics.streaming_precision, share(IS, GUESS)),
        (metrics.streaming_recall, share(GUESS, IS)),
        (metrics.streaming_false_positive_rate, share(GUESS, ~IS)),
        (metrics.streaming_false_negative_rate, share(~GUESS, IS)),
        (metrics.streaming_true_positives, WEIGHTS[GUESS & IS].sum()),
        (metrics.streaming_false_positives, WEIGHTS[GUESS & ~IS].sum()),
        (metrics.streaming_false_negatives, WEIGHTS[~GUESS & IS].sum()),
        (metrics.streaming_true_negatives, WEIGHTS[~GUESS & ~IS].sum()),
        (
            lambda p, y, w: metrics.streaming_mean_iou(p, y, 2, w),
            np.mean([share(GUESS & IS, GUESS | IS), share(~GUESS & ~IS, ~(GUESS & IS))]),
        ),
        (
            lambda p, y, w: metrics.cohen_kappa(y, p, 2, w),
            None,
        ),
    ],
)
def test_right_and_wrong(metric, expected):
    guess = GUESS.astype(np.int32)
    if expected is None:  # kappa = (agreed - by chance) / (1 - by chance)
        agreed = WEIGHTS[GUESS == IS].sum() / WEIGHTS.sum()
        a, b = (WEIGHTS[x].sum() / WEIGHTS.sum() for x in (GUESS, IS))
        chance = a * b + (1 - a) * (1 - b)
        expected = (agreed - chance) / (1 - chance)
    value, last = over_batches(metric, guess, LABELS, WEIGHTS)
    np.testing.assert_allclose(
        [value, last] if np.ndim(last) == 0 else [value], expected, rtol=1e-5
    )


def test_predictions_come_first():
    """tf.metrics takes labels first; exchanged, precision and recall would be each other."""
    assert share(IS, GUESS) != share(GUESS, IS)
    value, _ = over_batches(
        lambda p, y, w: metrics.streaming_precision(predictions=p, labels=y, weights=w),
        GUESS.astype(np.int32),
        LABELS,
        WEIGHTS,
    )
    np.testing.assert_allclose(value, share(IS, GUESS), rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_covariance_and_correlation(weighted):
    x = RANDOM.randn(30).astype(np.float32) + 3
    y = (x * 0.5 + RANDOM.randn(30) * 0.3 - 2).astype(np.float32)
    arrays = [x, y, WEIGHTS] if weighted else [x, y]
    counts = WEIGHTS.astype(int) if weighted else np.ones(30, int)  # whole weights: repetitions
    many = np.cov(np.repeat(x, counts), np.repeat(y, counts))
    covariance = over_batches(metrics.streaming_covariance, *arrays)
    np.testing.assert_allclose(covariance, [many[0, 1]] * 2, rtol=1e-4)
    correlation = over_batches(metrics.streaming_pearson_correlation, *arrays)
    expected = many[0, 1] / np.sqrt(many[0, 0] * many[1, 1])
    np.testing.assert_allclose(correlation, [expected] * 2, rtol=1e-4)


def test_covariance_of_one_pair_is_unknown():
    with tf.Graph().as_default(), v1.Session() as session:
        value, update = metrics.streaming_covariance(tf.constant([1.0]), tf.constant([2.0]))
        session.run(v1.local_variables_initializer())
        assert np.isnan(session.run([update, value])).all()


def curve(threshold):
    """(precision, recall) of scores above a threshold."""
    above = threshold < SCORES
    return (above & IS).sum() / max(above.sum(), 1), (above & IS).sum() / IS.sum()


GRID = [i / 199 for i in range(1, 199)]


def test_f1_score():
    best = max(2 * p * r / (p + r) for p, r in map(curve, GRID) if p + r)
    np.testing.assert_allclose(
        over_batches(metrics.f1_score, LABELS, SCORES), [best] * 2, rtol=1e-4
    )


def test_operating_points():
    precisions, recalls = np.array([curve(t) for t in [-1e-7, *GRID]]).T
    at = np.argmin(np.abs(precisions - 0.8))
    got = over_batches(lambda y, s: metrics.recall_at_precision(y, s, 0.8), LABELS, SCORES)
    np.testing.assert_allclose(got, [recalls[at]] * 2, rtol=1e-4)
    at = np.flatnonzero(recalls >= 0.6)[-1]  # the largest threshold that reaches it
    got = over_batches(lambda y, s: metrics.precision_at_recall(y, s, 0.6), LABELS, SCORES)
    np.testing.assert_allclose(got, [precisions[at]] * 2, rtol=1e-4)
    strict = over_batches(
        lambda y, s: metrics.recall_at_precision(y, s, 1.0, strict_mode=True),
        LABELS,
        np.float32(1) - SCORES,
    )
    assert 0 <= strict[0] <= 0.2
    with pytest.raises(ValueError, match=r"`precision` must be in the range \[0, 1\]"):
        metrics.recall_at_precision(LABELS, SCORES, 2)
    with pytest.raises(ValueError, match="`target_recall` must be in the range"):
        metrics.precision_at_recall(LABELS, SCORES, -1)


def test_rates_and_curves_at_thresholds():
    thresholds = [0.2, 0.7]
    rates = {
        metrics.streaming_false_positive_rate_at_thresholds: lambda t: (t < SCORES)[~IS].mean(),
        metrics.streaming_false_negative_rate_at_thresholds: lambda t: (t >= SCORES)[IS].mean(),
        metrics.streaming_precision_at_thresholds: lambda t: curve(t)[0],
        metrics.streaming_recall_at_thresholds: lambda t: curve(t)[1],
    }
    for metric, expected in rates.items():
        value, _ = over_batches(
            lambda s, y, metric=metric: metric(s, y, thresholds), SCORES, LABELS
        )
        np.testing.assert_allclose(value, [expected(t) for t in thresholds], rtol=1e-4)
    points, _ = over_batches(
        lambda y, s: metrics.streaming_curve_points(y, s, num_thresholds=3), LABELS, SCORES
    )
    np.testing.assert_allclose(points[1], [(SCORES > 0.5)[~IS].mean(), curve(0.5)[1]], rtol=1e-4)
    np.testing.assert_allclose(points[::2], [[1, 1], [0, 0]], atol=1e-4)
    with pytest.raises(ValueError, match="curve must be either ROC or PR"):
        metrics.streaming_curve_points(LABELS, SCORES, curve="DET")


def test_areas_and_errors():
    order = np.argsort(SCORES)
    ranks = np.empty(30)
    ranks[order] = np.arange(1, 31)
    positives = IS.sum()
    area = (ranks[IS].sum() - positives * (positives + 1) / 2) / (positives * (30 - positives))
    value, _ = over_batches(metrics.streaming_auc, SCORES, LABELS)
    np.testing.assert_allclose(value, area, atol=0.02)  # thresholds in steps of 1/199
    y = LABELS.astype(np.float32)
    for metric, expected in {
        metrics.streaming_mean_absolute_error: np.abs(SCORES - y).mean(),
        metrics.streaming_mean_squared_error: np.square(SCORES - y).mean(),
        metrics.streaming_root_mean_squared_error: np.sqrt(np.square(SCORES - y).mean()),
    }.items():
        np.testing.assert_allclose(over_batches(metric, SCORES, y), [expected] * 2, rtol=1e-5)
    below, _ = over_batches(lambda s: metrics.streaming_percentage_less(s, 0.5), SCORES)
    np.testing.assert_allclose(below, (SCORES < 0.5).mean(), rtol=1e-5)


def test_best_k():
    scores = RANDOM.rand(30, 5).astype(np.float32)
    classes = RANDOM.randint(0, 5, 30)
    best = np.argsort(-scores, axis=1)[:, :2]
    hits = (best == classes[:, None]).any(axis=1)
    expected = [hits.mean()] * 2
    got = over_batches(lambda s, y: metrics.streaming_recall_at_k(s, y, 2), scores, classes)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    sparse = classes[:, None]
    got = over_batches(lambda s, y: metrics.streaming_sparse_recall_at_k(s, y, 2), scores, sparse)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    got = over_batches(metrics.sparse_recall_at_top_k, sparse, best)
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    got = over_batches(metrics.streaming_sparse_precision_at_top_k, best, sparse)
    np.testing.assert_allclose(got, [hits.mean() / 2] * 2, rtol=1e-5)


@pytest.mark.parametrize(("axis", "most"), [(0, None), (0, 12), (1, None), (-1, 25)])
def test_concat_keeps_all_values(axis, most):
    rows = np.arange(60).reshape(30, 2)

    def metric(batch):
        values = batch if axis == 0 else tf.transpose(batch)
        return metrics.streaming_concat(values, axis=axis, max_size=most)

    value, size = over_batches(metric, rows)
    expected = rows[:most] if axis == 0 else rows[:most].T
    np.testing.assert_array_equal(value, expected)
    assert size == (most or 30)


def test_counting():
    assert over_batches(metrics.count, SCORES) == (30.0, 30.0)
    assert over_batches(metrics.count, SCORES, WEIGHTS) == (WEIGHTS.sum(),) * 2


def test_accuracy_of_a_batch():
    with tf.Graph().as_default(), v1.Session() as session:
        guess, y = tf.constant(GUESS.astype(np.int32)), tf.constant(LABELS)
        got = session.run([metrics.accuracy(guess, y), metrics.accuracy(guess, y, WEIGHTS)])
    expected = [(GUESS == IS).mean(), WEIGHTS[GUESS == IS].sum() / WEIGHTS.sum()]
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="Labels should have bool, integer, or string dtype"):
        metrics.accuracy(tf.constant([1.0]), tf.constant([1.0]))


def test_several_metrics():
    assert metrics.aggregate_metrics(("v1", "u1"), ("v2", "u2")) == (["v1", "v2"], ["u1", "u2"])
    assert metrics.aggregate_metric_map({"a": ("v1", "u1"), "b": ("v2", "u2")}) == (
        {"a": "v1", "b": "v2"},
        {"a": "u1", "b": "u2"},
    )
    with pytest.raises(ValueError, match="Expected at least one"):
        metrics.aggregate_metrics()


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"Shapes \(3,\) of predictions"):
        metrics.streaming_covariance(np.zeros(3), np.zeros(2))


@pytest.mark.parametrize("cores", [0, 2])
def test_bert_evaluates_sts_b(cores, tmp_path):
    """Pearson's correlation and the squared error of a regression, as BERT's forks have it."""
    scores, labels = SCORES[:24], SCORES[:24] * 2 + WEIGHTS[:24]

    def metric_fn(predictions, labels):
        return {
            "pearson": metrics.streaming_pearson_correlation(predictions, labels),
            "mse": metrics.streaming_mean_squared_error(predictions, labels),
            "all": metrics.streaming_concat(predictions),
        }

    def model_fn(features, labels, mode, params):
        metrics_of = (metric_fn, [features, labels])
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(features), eval_metrics=metrics_of)

    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices((scores, labels))
        return data.batch(params["batch_size"], drop_remainder=True)

    config = eb.tpu.RunConfig(master=f"emulated:{cores or 1}", model_dir=str(tmp_path))
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=8, eval_batch_size=8, use_tpu=bool(cores)
    )
    got = estimator.evaluate(input_fn, steps=3)
    np.testing.assert_allclose(got["pearson"], np.corrcoef(scores, labels)[0, 1], rtol=1e-4)
    np.testing.assert_allclose(got["mse"], np.square(scores - labels).mean(), rtol=1e-5)
    np.testing.assert_allclose(got["all"], scores)


def test_what_is_missing_says_what_to_use():
    with pytest.raises(AttributeError, match=r"no attribute 'no_such_metric'"):
        _ = metrics.no_such_metric


def test_precision_at_recall_takes_the_largest_threshold_that_reaches_it():
    """It took the threshold with the nearest recall. Recorded on TensorFlow 1.15.5."""
    labels, scores = [0] * 5 + [1] * 5, [0.1, 0.2, 0.5, 0.3, 0.0, 0.1, 0.45, 0.5, 0.8, 0.9]
    with tf.Graph().as_default(), v1.Session() as session:
        value, update = metrics.precision_at_recall(labels, scores, 0.8)
        session.run(v1.local_variables_initializer())
        assert session.run(update) == pytest.approx(0.8)
        assert session.run(value) == pytest.approx(0.8)
