"""Losses and metrics of heads, by formula, for labels and weights of any size and shape."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import estimator_bridge as eb
from estimator_bridge import heads

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
few = settings(max_examples=25, deadline=None)
# What is below the least normal number counts as 0 in TensorFlow, and not in NumPy.
floats = st.floats(-8, 8, width=32, allow_subnormal=False)
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


def drawn(data, shape, elements=floats, dtype=np.float32):
    return data.draw(arrays.arrays(dtype, shape, elements=elements))


def softplus(x):
    return np.logaddexp(0, x)


def sigmoid_losses(labels, logits):
    return labels * softplus(-logits) + (1 - labels) * softplus(logits)


@few
@given(st.data(), shapes, st.booleans(), st.booleans())
def test_binary_loss(data, shape, labels_have_a_last_dimension, weighs):
    logits = drawn(data, (*shape, 1))
    labels = drawn(data, shape, st.floats(0, 1, width=32))
    weights = drawn(data, (*shape, 1), st.floats(0, 4, width=32)) if weighs else np.ones((1, 1))
    expected = sigmoid_losses(labels[..., None], logits) * weights
    given_labels = labels[..., None] if labels_have_a_last_dimension else labels
    head = eb.BinaryClassHead(weight_column="w" if weighs else None)
    loss = head.loss(given_labels, logits, features={"w": weights})
    np.testing.assert_allclose(loss, expected.mean(), rtol=1e-4, atol=1e-5)
    summed = eb.BinaryClassHead("w" if weighs else None, loss_reduction="sum")
    loss = summed.loss(given_labels, logits, features={"w": weights})
    np.testing.assert_allclose(loss, expected.sum(), rtol=1e-4, atol=1e-5)


@few
@given(st.data(), shapes, st.integers(3, 5))
def test_multi_class_loss_accuracy_and_predictions(data, shape, n_classes):
    logits = drawn(data, (*shape, n_classes))
    labels = drawn(data, shape, st.integers(0, n_classes - 1), np.int64)
    head = eb.MultiClassHead(n_classes)
    chosen = np.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    expected = np.log(np.exp(logits.astype(np.float64)).sum(axis=-1)) - chosen
    np.testing.assert_allclose(head.loss(labels, logits), expected.mean(), rtol=1e-4, atol=1e-5)
    metrics = head.update_metrics(head.metrics(), {}, logits, labels)
    right = (logits.argmax(axis=-1) == labels).mean()
    np.testing.assert_allclose(metrics["accuracy"].result(), right, rtol=1e-6)
    predicted = head.predictions(logits)
    assert predicted["class_ids"].shape == (*shape, 1)
    np.testing.assert_allclose(predicted["probabilities"].numpy().sum(axis=-1), 1, rtol=1e-5)


@few
@given(st.data(), st.integers(1, 5), st.integers(1, 3), st.sampled_from(["rows", "ones", "each"]))
def test_regression_weights_broadcast(data, rows, dimension, form):
    logits, labels = drawn(data, (rows, dimension)), drawn(data, (rows, dimension))
    shape = {"rows": (rows,), "ones": (rows, 1), "each": (rows, dimension)}[form]
    weights = drawn(data, shape, st.floats(0.5, 4, width=32))
    wide = np.broadcast_to(weights.reshape(rows, -1), (rows, dimension))
    squares = (labels - logits) ** 2
    head = eb.RegressionHead(dimension, "w")
    loss = head.loss(labels, logits, {"w": weights})
    np.testing.assert_allclose(loss, (squares * wide).mean(), rtol=1e-4, atol=1e-5)
    metrics = head.update_metrics(head.metrics(), {"w": weights}, logits, labels)
    mean = (squares * wide).sum() / wide.sum()
    np.testing.assert_allclose(metrics["average_loss"].result(), mean, rtol=1e-4, atol=1e-5)


@few
@given(st.data(), st.integers(1, 5), st.integers(2, 4))
def test_multi_label_takes_lists_of_classes_as_it_takes_indicators(data, rows, n_classes):
    hot = drawn(data, (rows, n_classes), st.integers(0, 1), np.int64)
    logits = drawn(data, (rows, n_classes))
    indices = tf.where(hot > 0)
    numbers = tf.SparseTensor(indices, indices[:, 1], (rows, n_classes))
    names = [f"class {i}" for i in range(n_classes)]
    named = numbers.with_values(tf.gather(names, indices[:, 1]))
    dense = eb.MultiLabelHead(n_classes).loss(hot, logits)
    np.testing.assert_allclose(dense, sigmoid_losses(hot, logits).mean(), rtol=1e-4, atol=1e-5)
    assert eb.MultiLabelHead(n_classes).loss(numbers, logits) == dense
    assert eb.MultiLabelHead(n_classes, label_vocabulary=names).loss(named, logits) == dense


@few
@given(st.data(), st.integers(1, 6))
def test_v1_and_v2_heads_have_the_same_mean_loss(data, rows):
    logits, labels = drawn(data, (rows, 1)), drawn(data, (rows,), st.integers(0, 1), np.int64)
    second = eb.BinaryClassHead().loss(labels, logits)
    with tf.Graph().as_default(), v1.Session() as session:
        spec = heads.binary_classification_head().create_loss({}, "eval", logits, labels)
        first = session.run(spec.training_loss)
    assert spec.weights == 1.0
    np.testing.assert_allclose(first, second, rtol=1e-6)


@few
@given(st.data(), st.integers(1, 6))
def test_accuracy_baseline_is_the_share_of_the_larger_class(data, rows):
    labels = drawn(data, (rows,), st.integers(0, 1), np.int64)
    weights = drawn(data, (rows,), st.floats(0.5, 4, width=32))
    head = eb.BinaryClassHead(weight_column="w")
    metrics = head.update_metrics(
        head.metrics(), {"w": weights}, np.zeros((rows, 1), np.float32), labels
    )
    ones = weights[labels == 1].sum() / weights.sum()
    baseline = metrics["accuracy_baseline"].result()
    np.testing.assert_allclose(baseline, max(ones, 1 - ones), rtol=1e-5)
