"""tf.contrib.seq2seq's decoders and helpers, against loops and searches written out."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge_contrib import rnn, seq2seq

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, 4)).astype(np.float32)
LENGTHS = np.array([5, 2, 3], np.int32)
VOCABULARY, END = 5, 4
CHAIN = (2 * RNG.normal(size=(VOCABULARY, VOCABULARY))).astype(np.float32)


class Chain:
    """A cell whose logits depend on the last token alone; its state counts the steps."""

    output_size = VOCABULARY
    state_size = 1

    def zero_state(self, batch_size, dtype):
        return tf.zeros([batch_size, 1], dtype)

    def __call__(self, inputs, state, scope=None):
        return tf.matmul(inputs, CHAIN), state + 1


def one_hot(ids):
    return tf.one_hot(ids, VOCABULARY)


def test_training_reads_the_given_inputs():
    def build(x):
        cell = rnn.LSTMCell(6)
        helper = seq2seq.TrainingHelper(x, LENGTHS)
        assert helper.inputs is x
        decoder = seq2seq.BasicDecoder(
            cell, helper, cell.zero_state(3, tf.float32), v1.layers.Dense(7, name="out")
        )
        decoded = seq2seq.dynamic_decode(decoder, impute_finished=True)
        with v1.variable_scope("decoder", reuse=True):
            outputs, state = v1.nn.dynamic_rnn(
                rnn.LSTMCell(6, name="lstm_cell"), x, LENGTHS, dtype=tf.float32, scope=_same()
            )
            logits = v1.layers.dense(outputs, 7, name="out")
        return decoded, (logits, state)

    run = Run(build, X)
    (outputs, state, lengths), (logits, expected) = run.result
    assert list(run.shapes) == [
        "decoder/lstm_cell/kernel",
        "decoder/lstm_cell/bias",
        "decoder/out/kernel",
        "decoder/out/bias",
    ]
    np.testing.assert_array_equal(lengths, LENGTHS)
    for example, length in enumerate(LENGTHS):
        np.testing.assert_allclose(
            outputs.rnn_output[example, :length], logits[example, :length], atol=1e-5
        )
        assert not outputs.rnn_output[example, length:].any()
    np.testing.assert_allclose(state.c, expected.c, atol=1e-5)
    np.testing.assert_array_equal(outputs.sample_id[0], outputs.rnn_output[0].argmax(-1))


def _same():
    return v1.get_variable_scope()


@pytest.mark.parametrize("time_major", [False, True])
def test_the_loop_stops_with_the_longest_sequence(time_major):
    def build(x):
        steps = tf.transpose(x, [1, 0, 2]) if time_major else x
        cell = rnn.GRUCell(2)
        helper = seq2seq.TrainingHelper(steps, [1, 2, 0], time_major=time_major)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32))
        whole = seq2seq.dynamic_decode(decoder, output_time_major=True)
        cut = seq2seq.dynamic_decode(decoder, maximum_iterations=1, scope="cut")
        none = seq2seq.dynamic_decode(decoder, maximum_iterations=0, scope="none")
        return whole, cut, none

    whole, cut, none = Run(build, X).result
    assert whole[0].rnn_output.shape == (2, 3, 2)
    np.testing.assert_array_equal(whole[2], [1, 2, 0])
    assert cut[0].rnn_output.shape == (3, 1, 2)
    np.testing.assert_array_equal(cut[2], [1, 1, 0])
    assert none[0].sample_id.shape == (3, 0)


def greedy(start, steps):
    """The most probable token after each, until the end token."""
    ids = []
    while len(ids) < steps and (not ids or ids[-1] != END):
        ids.append(int(CHAIN[ids[-1] if ids else start].argmax()))
    return ids


@pytest.mark.parametrize("kind", ["greedy", "sample"])
def test_tokens_are_fed_back(kind):
    def build():
        start = tf.constant([0, 1, 2, 3])
        if kind == "greedy":
            helper = seq2seq.GreedyEmbeddingHelper(np.eye(VOCABULARY, dtype=np.float32), start, END)
        else:  # at a low temperature the most probable token is drawn
            helper = seq2seq.SampleEmbeddingHelper(one_hot, start, END, softmax_temperature=1e-3)
        cell = Chain()
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4, tf.float32))
        return seq2seq.dynamic_decode(decoder, maximum_iterations=6)

    outputs, state, lengths = Run(build).result
    for start in range(4):
        expected = greedy(start, 6)
        assert lengths[start] == len(expected)
        np.testing.assert_array_equal(outputs.sample_id[start, : len(expected)], expected)
    assert state.max() == lengths.max()


def test_samples_follow_the_probabilities():
    def build():
        helper = seq2seq.SampleEmbeddingHelper(one_hot, tf.zeros([4000], tf.int32), END, seed=3)
        logits = tf.tile(CHAIN[:1], [4000, 1])
        return helper.sample(time=0, outputs=logits, state=None)

    drawn = np.bincount(Run(build).result, minlength=VOCABULARY) / 4000
    np.testing.assert_allclose(drawn, np.exp(CHAIN[0]) / np.exp(CHAIN[0]).sum(), atol=0.03)


def test_helpers_of_functions():
    def build():
        cell = Chain()
        start = one_hot([0, 1])

        def ended(samples):
            return tf.reduce_sum(samples, 1) > 1e9

        inference = seq2seq.InferenceHelper(
            tf.nn.softmax, [VOCABULARY], tf.float32, start, ended, lambda samples: samples
        )
        custom = seq2seq.CustomHelper(
            lambda: (tf.constant([False, False]), start),
            lambda time, outputs, state: tf.nn.softmax(outputs),
            lambda time, outputs, state, sample_ids: (time >= [0, 1], sample_ids, state),
            sample_ids_shape=[VOCABULARY],
            sample_ids_dtype=tf.float32,
        )
        with pytest.raises(ValueError, match="before initialize was called"):
            _ = custom.batch_size
        state = cell.zero_state(2, tf.float32)
        return [
            seq2seq.dynamic_decode(
                seq2seq.BasicDecoder(cell, helper, state), maximum_iterations=limit
            )
            for helper, limit in ((inference, 3), (custom, None))
        ]

    (inference, _, _), (custom, _, lengths) = Run(build).result
    x = np.eye(VOCABULARY)[:2]
    for t in range(3):
        x = np.exp(x @ CHAIN)
        x /= x.sum(1, keepdims=True)
        np.testing.assert_allclose(inference.sample_id[:, t], x, atol=1e-5)
    np.testing.assert_array_equal(lengths, [1, 2])
    np.testing.assert_allclose(custom.sample_id, inference.sample_id[:, :2], atol=1e-6)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_scheduled_sampling(probability):
    inputs = np.eye(VOCABULARY, dtype=np.float32)[[[0, 1, 2], [3, 0, 1]]]

    def build(x):
        cell = Chain()
        helpers = [
            seq2seq.ScheduledEmbeddingTrainingHelper(x, [3, 3], one_hot, probability),
            seq2seq.ScheduledOutputTrainingHelper(
                x, [3, 3], [probability] * 2, next_inputs_fn=tf.nn.softmax
            ),
        ]
        state = cell.zero_state(2, tf.float32)
        return [
            seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, state))[0]
            for helper in helpers
        ]

    embedded, output = Run(build, inputs).result
    if probability == 0:
        np.testing.assert_allclose(embedded.rnn_output, inputs @ CHAIN, atol=1e-5)
        np.testing.assert_allclose(output.rnn_output, inputs @ CHAIN, atol=1e-5)
        assert (embedded.sample_id == -1).all()
        assert not output.sample_id.any()
    else:
        tokens = embedded.sample_id
        np.testing.assert_allclose(embedded.rnn_output[:, 1:], CHAIN[tokens[:, :-1]], atol=1e-5)
        softmax = np.exp(output.rnn_output[:, 0])
        softmax /= softmax.sum(1, keepdims=True)
        np.testing.assert_allclose(output.rnn_output[:, 1], softmax @ CHAIN, atol=1e-5)


def test_auxiliary_inputs_stand_beside_the_outputs():
    def build(x):
        more = 10 + tf.cumsum(tf.ones([3, 5, 1]), 1)
        helper = seq2seq.ScheduledOutputTrainingHelper(x, LENGTHS, 1.0, auxiliary_inputs=more)
        _, first = helper.initialize()
        _, second, _ = helper.next_inputs(0, 7 + x[:, 0], None, helper.sample(0, None))
        return first, second

    first, second = Run(build, X).result
    np.testing.assert_allclose(first, np.concatenate([X[:, 0], np.full((3, 1), 11)], 1))
    np.testing.assert_allclose(second, np.concatenate([7 + X[:, 0], np.full((3, 1), 12)], 1))


def every_sequence(start, steps, weight=0.0):
    """All sequences up to a length with their scores, the best first."""
    log = CHAIN - np.log(np.exp(CHAIN).sum(1, keepdims=True))
    scores = {}
    for tokens in itertools.product(range(VOCABULARY), repeat=steps):
        cut = tokens[: tokens.index(END) + 1] if END in tokens else tokens
        total = sum(log[a, b] for a, b in zip((start, *cut), cut))
        # The end token counts from the step after it on.
        length = len(cut) - (cut[-1] == END and len(cut) == steps)
        scores[cut] = total / ((5 + length) / 6) ** weight
    return sorted(scores.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_wide_beam_finds_the_best_of_all_sequences(weight):
    width, steps = 40, 3

    def build():
        cell = Chain()
        decoder = seq2seq.BeamSearchDecoder(
            cell,
            one_hot,
            [0, 2],
            END,
            seq2seq.tile_batch(cell.zero_state(2, tf.float32), width),
            width,
            length_penalty_weight=weight,
        )
        return seq2seq.dynamic_decode(decoder, maximum_iterations=steps)

    outputs, state, _ = Run(build).result
    assert outputs.predicted_ids.shape == (2, steps, width)
    for example, start in enumerate((0, 2)):
        best = every_sequence(start, steps, 0.0)[:5] if weight == 0 else None
        scores = outputs.beam_search_decoder_output.scores[example, -1]
        assert (np.diff(scores) <= 1e-6).all()
        for beam in range(5):
            tokens = outputs.predicted_ids[example, :, beam]
            cut = tuple(tokens[: list(tokens).index(END) + 1] if END in tokens else tokens)
            if best is not None:
                assert cut == best[beam][0]
            # With few sequences, those of each length are all among the beams.
            np.testing.assert_allclose(
                scores[beam], dict(every_sequence(start, steps, weight))[cut], rtol=1e-4
            )
    assert state.finished.shape == (2, width)


def test_a_beam_of_one_is_greedy():
    def build():
        cell = Chain()
        decoder = seq2seq.BeamSearchDecoder(
            cell,
            np.eye(VOCABULARY, dtype=np.float32),
            tf.range(4),
            END,
            cell.zero_state(4, tf.float32),
            1,
        )
        return seq2seq.dynamic_decode(decoder, maximum_iterations=6)

    outputs, state, _ = Run(build).result
    for start in range(4):
        expected = greedy(start, 6)
        np.testing.assert_array_equal(outputs.predicted_ids[start, : len(expected), 0], expected)
        assert (outputs.predicted_ids[start, len(expected) :] == END).all()
        assert state.lengths[start, 0] == len(expected)


def tree(ids, parents, lengths, end):
    """gather_tree, entry by entry."""
    time, batch, beams = ids.shape
    tokens = np.full_like(ids, end)
    for b, k in itertools.product(range(batch), range(beams)):
        beam = k
        for t in reversed(range(min(time, lengths[b]))):
            tokens[t, b, k], beam = ids[t, b, beam], parents[t, b, beam]
        ends = np.flatnonzero(tokens[:, b, k] == end)
        if len(ends):
            tokens[ends[0] :, b, k] = end
    return tokens


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_gather_tree(seed, time, batch, beams):
    random = np.random.default_rng(seed)
    ids = random.integers(0, 5, (time, batch, beams)).astype(np.int32)
    parents = random.integers(0, beams, (time, batch, beams)).astype(np.int32)
    lengths = random.integers(0, time + 1, batch).astype(np.int32)
    run = Run(lambda i, p, n: seq2seq.gather_tree(i, p, n, 4), ids, parents, lengths)
    np.testing.assert_array_equal(run.result, tree(ids, parents, lengths, 4))


def test_tile_batch():
    def build(x):
        tiled = seq2seq.tile_batch((x, rnn.LSTMStateTuple(x, 2 * x)), 2)
        assert tiled[0].shape.as_list() == [None, 5, 4]
        assert seq2seq.tile_batch(tf.zeros([3, 2]), 4).shape == [12, 2]
        return tiled

    plain, state = Run(build, X).result
    np.testing.assert_array_equal(plain, np.repeat(X, 2, axis=0))
    np.testing.assert_array_equal(state.h, 2 * plain)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="statically known rank"):
        seq2seq.tile_batch(tf.zeros([]), 2)


def test_the_loss_of_sequences():
    logits = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    targets = np.array([[1, 0, 3], [2, 2, 0]])
    weights = np.array([[1, 2, 0], [0.5, 0, 0]], np.float32)
    log = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log, targets[..., None], 2)[..., 0] * weights

    def build(logits, weights):
        def loss(*flags):
            return seq2seq.sequence_loss(logits, tf.constant(targets), weights, *flags)

        return [
            loss(),
            loss(False, True),
            loss(True, False),
            loss(False, False),
            loss(False, False, True, True),
            loss(False, False, True, False),
        ]

    both, by_time, by_example, each, total, summed = Run(build, logits, weights).result
    np.testing.assert_allclose(both, losses.sum() / weights.sum(), rtol=1e-5)
    np.testing.assert_allclose(by_time, losses.sum(0) / [1.5, 2, 1], rtol=1e-5)  # 0 / 0 is 0
    np.testing.assert_allclose(by_example, losses.sum(1) / weights.sum(1), rtol=1e-5)
    np.testing.assert_allclose(each, losses, rtol=1e-5)
    np.testing.assert_allclose(total, losses.sum() / 3, rtol=1e-5)
    np.testing.assert_allclose(summed, losses.sum(1) / [2, 1], rtol=1e-5)
    with pytest.raises(ValueError, match=r"Targets must be a .* tensor, got the shape"):
        seq2seq.sequence_loss(tf.zeros([1, 2, 3]), tf.zeros([2]), tf.zeros([1, 2]))
    with pytest.raises(ValueError, match="average_across_batch and sum_over_batch cannot"):
        seq2seq.sequence_loss(
            tf.zeros([1, 2, 3]), tf.zeros([1, 2]), tf.zeros([1, 2]), sum_over_batch=True
        )


def test_what_is_refused():
    with tf.Graph().as_default():
        helper = seq2seq.GreedyEmbeddingHelper(one_hot, [0], END)
        with pytest.raises(TypeError, match="helper must be a Helper, received: <class 'int'>"):
            seq2seq.BasicDecoder(Chain(), 3, None)
        with pytest.raises(TypeError, match=r"output_layer must be a Layer.*tf.layers.Dense\(size"):
            seq2seq.BasicDecoder(Chain(), helper, None, v1.layers.dense)
        with pytest.raises(TypeError, match="Expected decoder to be type Decoder"):
            seq2seq.dynamic_decode(helper)
        with pytest.raises(ValueError, match="start_tokens must be a vector"):
            seq2seq.GreedyEmbeddingHelper(one_hot, 0, END)
        with pytest.raises(ValueError, match="end_token must be a scalar"):
            seq2seq.BeamSearchDecoder(Chain(), one_hot, [0], [END], tf.zeros([2, 1]), 2)
        with pytest.raises(ValueError, match="Perhaps you forgot to create a zero_state"):
            seq2seq.BeamSearchDecoder(Chain(), one_hot, [0], END, tf.zeros([1, 1]), 2)
        with pytest.raises(ValueError, match="sequence_length to be a vector"):
            seq2seq.TrainingHelper(tf.zeros([1, 2, 3]), 2)
        with pytest.raises(ValueError, match="sampling_probability must be"):
            seq2seq.ScheduledOutputTrainingHelper(tf.zeros([1, 2, 3]), [2], [[0.5]])
        with pytest.raises(ValueError, match=r"coverage_penalty_weight must be 0\.0"):
            seq2seq.BeamSearchDecoder(
                Chain(), one_hot, [0], END, tf.zeros([2, 1]), 2, coverage_penalty_weight=0.5
            ).initialize()
    with pytest.raises(
        AttributeError, match=r"simple_decoder_fn_train was removed in TensorFlow 1\.2"
    ):
        _ = seq2seq.simple_decoder_fn_train
