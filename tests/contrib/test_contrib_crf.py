"""tf.contrib.crf against all sequences of tags, enumerated in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge_contrib import crf

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANDOM = np.random.RandomState(3)
INPUTS = RANDOM.randn(5, 4, 3).astype(np.float32)
TRANSITIONS = RANDOM.randn(3, 3).astype(np.float32)
TAGS = np.array([[2, 0, 1, 1], [0, 0, 2, -1], [1, 2, 0, 0], [2, 9, 9, 9], [0, 0, 0, 0]], np.int32)
LENGTHS = np.array([4, 3, 2, 1, 0], np.int32)


def score(potentials, tags):
    return sum(potentials[t, tag] for t, tag in enumerate(tags)) + sum(
        TRANSITIONS[a, b] for a, b in zip(tags, tags[1:])
    )


def all_scores(potentials):
    sequences = itertools.product(range(3), repeat=len(potentials))
    return {tags: score(potentials, tags) for tags in sequences}


def each(function):
    """A number of each example's own places, in NumPy."""
    return [function(INPUTS[i, : LENGTHS[i]], TAGS[i, : LENGTHS[i]]) for i in range(len(INPUTS))]


def log_norm(potentials, tags=None):
    return np.log(np.sum(np.exp(list(all_scores(potentials).values()))))


def run(*fetches):
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        return session.run(list(fetches))


@pytest.fixture(params=["static", "dynamic"])
def inputs(request):
    with tf.Graph().as_default():
        shape = INPUTS.shape if request.param == "static" else [None, None, 3]
        yield v1.placeholder_with_default(INPUTS, shape)


def test_scores(inputs):
    lengths = tf.constant(LENGTHS)
    unary = crf.crf_unary_score(TAGS, lengths, inputs)
    binary = crf.crf_binary_score(TAGS, lengths, TRANSITIONS)
    total = crf.crf_sequence_score(inputs, TAGS, lengths, TRANSITIONS)
    got = run(unary, binary, total, crf.crf_log_norm(inputs, lengths, TRANSITIONS))
    np.testing.assert_allclose(got[2], each(score), rtol=1e-5)
    np.testing.assert_allclose(got[0] + got[1], got[2], rtol=1e-5)
    np.testing.assert_allclose(got[3], each(log_norm), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_likelihoods_of_all_sequences_add_up_to_one(dtype):
    sequences = np.array(list(itertools.product(range(3), repeat=4)), dtype)
    potentials = np.repeat(INPUTS[:1], len(sequences), axis=0)
    with tf.Graph().as_default():
        lengths = tf.fill([len(sequences)], dtype(4))
        logs, transitions = crf.crf_log_likelihood(
            tf.constant(potentials), sequences, lengths, TRANSITIONS
        )
        assert transitions is TRANSITIONS
        (logs,) = run(logs)
    np.testing.assert_allclose(np.exp(logs).sum(), 1.0, rtol=1e-5)


def test_several_tags_may_be_right(inputs):
    allowed = RANDOM.rand(5, 4, 3) < 0.6
    allowed[..., 1] = True
    total = crf.crf_multitag_sequence_score(inputs, allowed, tf.constant(LENGTHS), TRANSITIONS)

    def expected(i):
        scores = all_scores(INPUTS[i, : LENGTHS[i]])
        fits = [
            s for tags, s in scores.items() if all(allowed[i, t, y] for t, y in enumerate(tags))
        ]
        return np.log(np.sum(np.exp(fits)))

    np.testing.assert_allclose(run(total)[0], [expected(i) for i in range(5)], rtol=1e-5, atol=1e-6)


def test_decoding(inputs):
    tags, scores = run(*crf.crf_decode(inputs, TRANSITIONS, tf.constant(LENGTHS)))
    assert tags.dtype == np.int32
    for i, length in enumerate(LENGTHS[:-1]):
        best, highest = max(all_scores(INPUTS[i, :length]).items(), key=lambda pair: pair[1])
        assert tags[i].tolist() == [*best, *[0] * (4 - length)]
        np.testing.assert_allclose(scores[i], highest, rtol=1e-5)
        decoded, score = crf.viterbi_decode(INPUTS[i, :length], TRANSITIONS)
        assert decoded == list(best)
        np.testing.assert_allclose(score, highest, rtol=1e-5)


def test_sequences_of_one_place():
    with tf.Graph().as_default():
        one = tf.constant(INPUTS[:, :1])
        lengths = tf.ones([5], tf.int32)
        tags, scores = run(*crf.crf_decode(one, TRANSITIONS, lengths))
        (norm,) = run(crf.crf_log_norm(one, lengths, TRANSITIONS))
    np.testing.assert_array_equal(tags, INPUTS[:, :1].argmax(axis=2))
    np.testing.assert_allclose(scores, INPUTS[:, 0].max(axis=1))
    np.testing.assert_allclose(norm, np.log(np.exp(INPUTS[:, 0]).sum(axis=1)), rtol=1e-5)


def test_gradients_are_those_of_the_likelihood():
    """The gradient by a potential is whether its tag is right, less its marginal probability."""
    with tf.Graph().as_default():
        inputs = tf.constant(INPUTS[:1])
        logs, _ = crf.crf_log_likelihood(inputs, TAGS[:1], tf.constant([4]), TRANSITIONS)
        (gradient,) = run(tf.gradients(logs, inputs)[0])
    scores = all_scores(INPUTS[0])
    total = sum(np.exp(s) for s in scores.values())
    expected = np.zeros([4, 3])
    for tags, s in scores.items():
        expected[range(4), tags] -= np.exp(s) / total
    expected[range(4), TAGS[0]] += 1
    np.testing.assert_allclose(gradient[0], expected, atol=1e-5)


@pytest.mark.parametrize("cores", [0, 2])
def test_a_tagger_trains(cores, tmp_path):
    """As BERT's taggers have it: the loss from transitions of its own, decoded for predictions."""

    def model_fn(features, labels, mode, params):
        lengths = tf.reduce_sum(tf.cast(features >= 0, tf.int32), axis=1)
        logits = v1.layers.dense(tf.one_hot(features, 5), 3, name="logits")
        with v1.variable_scope("crf_loss"):
            logs, transitions = crf.crf_log_likelihood(logits, labels, lengths)
        if mode == eb.ModeKeys.PREDICT:
            return eb.tpu.TPUEstimatorSpec(mode, predictions={"logits": logits})
        tags, _ = crf.crf_decode(logits, transitions, lengths)
        if mode == eb.ModeKeys.EVAL:
            weights = tf.cast(features >= 0, tf.float32)
            metrics = (
                lambda *arguments: {"right": v1.metrics.accuracy(*arguments)},
                [labels, tags, weights],
            )
            return eb.tpu.TPUEstimatorSpec(mode, loss=-tf.reduce_mean(logs), eval_metrics=metrics)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.3))
        train_op = optimizer.minimize(-tf.reduce_mean(logs), v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=-tf.reduce_mean(logs), train_op=train_op)

    words = np.array([[0, 1, 4, -1], [4, 0, 1, 1], [1, 1, -1, -1], [0, 4, 0, 4]], np.int32)
    tags = np.array([[0, 1, 2, 0], [2, 0, 1, 2], [1, 2, 0, 0], [0, 2, 0, 2]], np.int32)

    def input_fn(params):
        return tf.data.Dataset.from_tensors((words, tags)).repeat(40)

    config = eb.tpu.RunConfig(
        master=f"emulated:{cores or 1}", model_dir=str(tmp_path), tf_random_seed=1,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=40),
    )  # fmt: skip
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=4, eval_batch_size=4, use_tpu=bool(cores)
    )
    estimator.train(input_fn, steps=40)
    # The same word is tagged 1 at first and 2 when it follows itself: transitions are needed.
    assert estimator.evaluate(input_fn, steps=1)["right"] == 1.0
    assert "crf_loss/transitions" in estimator.get_variable_names()
