"""tf.contrib.losses against their formulas in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from estimator_bridge_contrib import arg_scope, losses
from estimator_bridge_contrib.losses import metric_learning

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANDOM = np.random.RandomState(0)
P = RANDOM.rand(4, 3).astype(np.float32)
Y = (RANDOM.rand(4, 3) < 0.5).astype(np.float32)
CLASSES = np.array([2, 0, 1, 1])
ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(*fetches):
    with v1.Session() as session:
        return session.run(list(fetches))


def log_softmax(x):
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def entropy(p, y):
    return -y * np.log(p) - (1 - y) * np.log(1 - p)


ELEMENTS = {
    "absolute_difference": (lambda **w: losses.absolute_difference(P, Y, **w), np.abs(P - Y)),
    "mean_squared_error": (lambda **w: losses.mean_squared_error(P, Y, **w), np.square(P - Y)),
    "log_loss": (lambda **w: losses.log_loss(P, Y, **w), entropy(P, Y)),
    "sigmoid_cross_entropy": (
        lambda **w: losses.sigmoid_cross_entropy(P, Y, **w),
        entropy(sigmoid(P), Y),
    ),
    "sigmoid_cross_entropy, smooth": (
        lambda **w: losses.sigmoid_cross_entropy(P, Y, label_smoothing=0.2, **w),
        entropy(sigmoid(P), Y * 0.8 + 0.1),
    ),
    "softmax_cross_entropy": (
        lambda **w: losses.softmax_cross_entropy(P, ONE_HOT, **w),
        -(ONE_HOT * log_softmax(P)).sum(axis=1),
    ),
    "softmax_cross_entropy, smooth": (
        lambda **w: losses.softmax_cross_entropy(P, ONE_HOT, label_smoothing=0.3, **w),
        -((ONE_HOT * 0.7 + 0.1) * log_softmax(P)).sum(axis=1),
    ),
    "sparse_softmax_cross_entropy": (
        lambda **w: losses.sparse_softmax_cross_entropy(P, CLASSES[:, None], **w),
        -(ONE_HOT * log_softmax(P)).sum(axis=1),
    ),
    "cosine_distance": (
        lambda **w: losses.cosine_distance(P, Y, dim=1, **w),
        1 - (P * Y).sum(axis=1, keepdims=True),
    ),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_mean_over_what_counts(name):
    loss, elements = ELEMENTS[name]
    weights = np.float32([0, 2, 0.5, 1])
    per_example = np.broadcast_to(weights.reshape([4] + [1] * (elements.ndim - 1)), elements.shape)
    plain, half, weighted = loss(), loss(weights=0.5), loss(weights=weights)
    assert v1.losses.get_losses() == [plain, half, weighted]
    got = run(plain, half, weighted)
    np.testing.assert_allclose(got[:2], [elements.mean(), elements.mean() / 2], rtol=1e-5)
    expected = (elements * per_example).sum() / (per_example != 0).sum()
    np.testing.assert_allclose(got[2], expected, rtol=1e-5)


def test_weights_of_elements_and_none_that_count():
    each = RANDOM.rand(4, 3).astype(np.float32)
    each[0, 1] = 0
    loss = losses.mean_squared_error(P, Y, weights=each)
    nothing = losses.mean_squared_error(P, Y, weights=0.0)
    expected = (np.square(P - Y) * each).sum() / 11
    np.testing.assert_allclose(run(loss, nothing), [expected, 0.0], rtol=1e-5)
    with pytest.raises(ValueError, match="weights' shape"):
        losses.compute_weighted_loss(P[:, 0], np.ones([4, 3], np.float32))


def test_hinge_loss_is_of_elements_and_joins_nothing():
    loss = losses.hinge_loss(P, Y)
    assert losses.get_losses() == []
    np.testing.assert_allclose(run(loss)[0], np.maximum(0, 1 - (2 * Y - 1) * P), rtol=1e-6)


def test_pairwise_error():
    plain = losses.mean_pairwise_squared_error(P, Y)
    weights = np.float32([1, 0, 2, 0.5])
    weighted = losses.mean_pairwise_squared_error(P, Y, weights)
    differences = (P - Y)[:, :, None] - (P - Y)[:, None, :]
    each = (differences**2).mean(axis=(1, 2))
    np.testing.assert_allclose(run(plain, weighted), [each.sum(), each @ weights], rtol=1e-5)
    assert losses.get_losses() == [plain, weighted]


def test_the_total_loss():
    losses.add_loss(tf.constant(2.0))
    losses.add_loss(tf.constant(100.0), None)
    v1.get_variable("w", initializer=tf.ones([3]), regularizer=lambda w: tf.constant(5.0))
    assert len(losses.get_regularization_losses()) == 1
    assert run(losses.get_total_loss(), losses.get_total_loss(False)) == [7.0, 2.0]


def test_arguments_from_a_scope():
    with arg_scope.arg_scope([losses.softmax_cross_entropy], weights=3.0):
        scoped = losses.softmax_cross_entropy(P, ONE_HOT)
    triple, single = run(scoped, losses.softmax_cross_entropy(P, ONE_HOT))
    np.testing.assert_allclose(triple, 3 * single, rtol=1e-6)


def test_an_axis_is_needed():
    with pytest.raises(ValueError, match="You must specify 'axis'"):
        losses.cosine_distance(P, Y)


LABELS = np.array([0, 0, 1, 1, 2, 0])
EMBEDDED = RANDOM.randn(6, 3).astype(np.float32)
EMBEDDED /= np.linalg.norm(EMBEDDED, axis=1, keepdims=True)
DISTANCES = np.linalg.norm(EMBEDDED[:, None] - EMBEDDED[None], axis=2)
PAIRS = [(a, p) for a in range(6) for p in range(6) if a != p and LABELS[a] == LABELS[p]]


@pytest.mark.parametrize("margin", [0.2, 1.0])
def test_semihard_triplets(margin):
    def loss(a, p):
        negatives = [DISTANCES[a, n] ** 2 for n in range(6) if LABELS[n] != LABELS[a]]
        farther = [n for n in negatives if n > DISTANCES[a, p] ** 2]
        return max(0, margin + DISTANCES[a, p] ** 2 - (min(farther) if farther else max(negatives)))

    actual = metric_learning.triplet_semihard_loss(LABELS, tf.constant(EMBEDDED), margin)
    np.testing.assert_allclose(run(actual)[0], np.mean([loss(*pair) for pair in PAIRS]), rtol=1e-4)


def test_semihard_triplets_have_gradients():
    embedded = tf.constant(EMBEDDED)
    for loss in (metric_learning.triplet_semihard_loss, metric_learning.lifted_struct_loss):
        (gradient,) = run(tf.gradients(loss(LABELS, embedded), embedded)[0])
        assert np.isfinite(gradient).all() and np.abs(gradient).max() > 0


def test_lifted_structures():
    def loss(i, j):
        negatives = [
            np.exp(1.0 - DISTANCES[k, n])
            for k in (i, j)
            for n in range(6)
            if LABELS[n] != LABELS[k]
        ]
        return max(0, np.log(np.sum(negatives)) + DISTANCES[i, j]) ** 2 / 2

    actual = metric_learning.lifted_struct_loss(LABELS, tf.constant(EMBEDDED))
    np.testing.assert_allclose(run(actual)[0], np.mean([loss(*pair) for pair in PAIRS]), rtol=1e-4)


def test_contrastive_and_n_pairs():
    a, b = EMBEDDED[:4], EMBEDDED[2:] * 2
    same = np.array([1, 0, 1, 0])
    d = np.linalg.norm(a - b, axis=1)
    expected = np.mean(same * d**2 + (1 - same) * np.maximum(1.5 - d, 0) ** 2)
    actual = metric_learning.contrastive_loss(same, tf.constant(a), tf.constant(b), 1.5)
    np.testing.assert_allclose(run(actual)[0], expected, rtol=1e-5)

    logs = log_softmax(a @ b.T)
    norms = (a**2).sum(axis=1).mean() + (b**2).sum(axis=1).mean()
    expected = -np.diag(logs).mean() + 0.25 * 0.002 * norms
    actual = metric_learning.npairs_loss(np.arange(4), tf.constant(a), tf.constant(b))
    np.testing.assert_allclose(run(actual)[0], expected, rtol=1e-5)
