"""The head of sequences passes the steps without padding to another head."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge.heads import SequentialHeadWrapper
from estimator_bridge.heads.sequence_steps import real_steps

MASK = np.array([[True, True], [True, False]])


@settings(max_examples=25, deadline=None)
@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4), width=st.integers(0, 3))
def test_steps_of_dense_and_sparse_tensors_are_those_of_the_sequences(lengths, width):
    most, size = max(lengths), width or 1
    mask = np.arange(most)[None, :] < np.array(lengths)[:, None]
    values = np.arange(1, mask.size * size + 1, dtype=np.float32).reshape([*mask.shape, size])
    expected = np.concatenate([values[i, :n] for i, n in enumerate(lengths)])
    shaped = values if width else values[..., 0]
    np.testing.assert_array_equal(real_steps(tf.constant(shaped), tf.constant(mask)), expected)
    indices = np.argwhere(mask if not width else np.repeat(mask[..., None], size, -1))
    sparse = tf.SparseTensor(indices[::-1].copy(), shaped[tuple(indices[::-1].T)], shaped.shape)
    np.testing.assert_array_equal(real_steps(sparse, tf.constant(mask)), expected)


def test_the_loss_is_that_of_the_steps():
    head = eb.BinaryClassHead(weight_column="w")
    wrapped = SequentialHeadWrapper(head, "mask", "w")
    logits = tf.constant([[[1.0], [-2.0]], [[0.5], [9.0]]])
    labels = tf.constant([[1, 0], [1, 0]])
    features = {"mask": tf.constant(MASK), "w": tf.constant([[1.0, 2.0], [3.0, 9.0]])}
    steps = tf.constant([[1.0], [-2.0], [0.5]])
    weights = {"w": tf.constant([[1.0], [2.0], [3.0]])}
    expected = head.loss(labels=tf.constant([[1], [0], [1]]), logits=steps, features=weights)
    assert float(wrapped.loss(logits, labels, features)) == pytest.approx(float(expected))
    metrics = wrapped.update_metrics(wrapped.metrics(), features, logits, labels)
    assert float(metrics["label/mean"].result()) == pytest.approx(4 / 6)
    assert wrapped.name is None
    assert SequentialHeadWrapper(eb.RegressionHead(name="a")).name == "a_sequential"


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((1,), TypeError, "`sequence_mask` column must be a string"),
        (("mask", 1), TypeError, "`feature_columns` must be either a string or an iterable of str"),
        (("mask", [1]), TypeError, "Column must a string"),
    ],
)
def test_keys_are_strings(arguments, error, match):
    with pytest.raises(error, match=match):
        SequentialHeadWrapper(eb.RegressionHead(), *arguments)


def test_heads_of_several_objectives_are_refused():
    with pytest.raises(ValueError, match="`MultiHead` is not supported"):
        SequentialHeadWrapper(eb.MultiHead([eb.RegressionHead(name="a")]))


@pytest.mark.parametrize(
    ("features", "match"),
    [
        ({"x": 1}, r"key `mask` should be included .* Found keys: \['x'\]"),
        ({"mask": tf.constant([True])}, "Mask is expected to have two dimensions.*got 1"),
        ({"mask": tf.constant(MASK)}, "`w` column expected in features dictionary"),
        ({"mask": tf.constant(MASK), "w": tf.constant([1.0])}, "at least 2 dimensions, got 1"),
        ({"mask": tf.constant(MASK), "w": 3}, "expected to be a `Tensor` or  `SparseTensor`"),
    ],
)
def test_features_that_do_not_fit(features, match):
    head = SequentialHeadWrapper(eb.RegressionHead(), "mask", "w")
    values = tf.ones([2, 2, 1])
    with pytest.raises(ValueError, match=match):
        head.loss(values, values, features)


def test_labels_of_another_length_are_refused():
    sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
    with pytest.raises(ValueError, match="Tensor shape is incompatible with provided mask"):
        real_steps(sparse, tf.constant(MASK))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        steps = real_steps(tf.SparseTensor([[0, 0]], [1.0], [2, 2]), tf.constant(MASK))
        with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible with provided mask"):
            session.run(steps)
