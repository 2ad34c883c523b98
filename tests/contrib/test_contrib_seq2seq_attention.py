"""tf.contrib.seq2seq's attention: weights, names of variables, beams, and a trained model."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

import estimator_bridge as eb
from estimator_bridge_contrib import rnn, seq2seq

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
MEMORY = RNG.normal(size=(3, 5, 4)).astype(np.float32)
LENGTHS = np.array([5, 2, 3], np.int32)
QUERY = RNG.normal(size=(3, 6)).astype(np.float32)


def softmax(scores, lengths=LENGTHS):
    shares = np.exp(scores) * (np.arange(scores.shape[1]) < lengths[:, None])
    return shares / shares.sum(1, keepdims=True)


def attend(make, query=QUERY):
    """Weighs a memory once; returns the run, and its variables without their scope."""

    def build(memory, query):
        mechanism = make(memory)
        weights, state = mechanism(query, mechanism.initial_state(3, tf.float32))
        assert mechanism.values.shape.as_list()[1:] == [5, 4]
        return weights, state, mechanism.values

    run = Run(build, MEMORY, query)
    return run, {name.split("/", 1)[1]: value for name, value in run.variables.items()}


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau(normalize):
    run, own = attend(lambda m: seq2seq.BahdanauAttention(7, m, LENGTHS, normalize))
    expected = [
        "memory_layer/kernel",
        *(f"bahdanau_attention/{name}" for name in ("query_layer/kernel", "attention_v")),
    ]
    if normalize:
        expected += ["bahdanau_attention/attention_g", "bahdanau_attention/attention_b"]
    assert list(run.shapes) == expected
    masked = MEMORY * (np.arange(5) < LENGTHS[:, None])[:, :, None]
    hidden = masked @ own["kernel"] + (QUERY @ own["query_layer/kernel"])[:, None]
    v = own["attention_v"]
    if normalize:
        v = v / np.linalg.norm(v) * np.sqrt(1 / 7)
    weights, state, values = run.result
    np.testing.assert_allclose(weights, softmax((v * np.tanh(hidden)).sum(2)), atol=1e-5)
    np.testing.assert_array_equal(state, weights)
    np.testing.assert_array_equal(values, masked)


@pytest.mark.parametrize("scale", [False, True])
def test_luong(scale):
    run, own = attend(lambda m: seq2seq.LuongAttention(6, m, LENGTHS, scale))
    assert list(run.shapes) == ["memory_layer/kernel"] + (
        ["luong_attention/attention_g"] if scale else []
    )
    masked = MEMORY * (np.arange(5) < LENGTHS[:, None])[:, :, None]
    scores = ((masked @ own["kernel"]) * QUERY[:, None]).sum(2)
    np.testing.assert_allclose(run.result[0], softmax(scores), atol=1e-5)


def test_hard_attention_and_wrong_arguments():
    run, _ = attend(lambda m: seq2seq.LuongAttention(6, m, probability_fn=seq2seq.hardmax))
    assert (run.result[0].sum(1) == 1).all()
    assert run.result[0].max() == 1
    with pytest.raises(ValueError, match=r"set num_units to the query's dimension \(6\)"):
        attend(lambda m: seq2seq.LuongAttention(5, m))
    with pytest.raises(TypeError, match="probability_fn must be callable, saw: 3"):
        seq2seq.attention_memory.Memory(None, MEMORY, 3, memory_layer=v1.layers.Dense(3))
    with tf.Graph().as_default(), pytest.raises(ValueError, match="fully defined inner dims"):
        seq2seq.LuongAttention(5, v1.placeholder(tf.float32, [None, None, None]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
        attend(lambda m: seq2seq.LuongAttention(6, m, tf.constant([1, 0, 2])))


@pytest.mark.parametrize("mode", ["recursive", "parallel"])
def test_monotonic_attention_is_a_race(mode):
    choose = RNG.uniform(0.1, 0.9, (3, 5)).astype(np.float32)
    previous = softmax(RNG.normal(size=(3, 5)), np.full(3, 5)).astype(np.float32)
    got = Run(lambda c, p: seq2seq.monotonic_attention(c, p, mode), choose, previous).result
    for b in range(3):
        # From each entry where it stood, attention walks on until it stops.
        expected = np.zeros(5)
        for start in range(5):
            reached = previous[b, start]
            for i in range(start, 5):
                expected[i] += reached * choose[b, i]
                reached *= 1 - choose[b, i]
        np.testing.assert_allclose(got[b], expected, atol=1e-5)


def test_hard_monotonic_attention_and_products():
    choose = np.array([[0, 1, 0, 1]], np.float32)
    previous = np.array([[0, 0, 1, 0]], np.float32)

    def build(choose, previous):
        return (
            seq2seq.monotonic_attention(choose, previous, "hard"),
            seq2seq.safe_cumprod(tf.constant([0.5, 0.5, 0.0, 1.0]), exclusive=True),
        )

    hard, products = Run(build, choose, previous).result
    np.testing.assert_array_equal(hard, [[0, 0, 0, 1]])
    np.testing.assert_allclose(products, [1, 0.5, 0.25, 0], atol=1e-6)
    with pytest.raises(ValueError, match="got 'soft'"):
        seq2seq.monotonic_attention(choose, previous, "soft")


@pytest.mark.parametrize(
    ("kind", "scope", "names"),
    [
        (
            seq2seq.BahdanauMonotonicAttention,
            "bahdanau_monotonic_attention",
            ["query_layer/kernel", "attention_v", "attention_score_bias"],
        ),
        (seq2seq.LuongMonotonicAttention, "luong_monotonic_attention", ["attention_score_bias"]),
    ],
)
def test_monotonic_mechanisms(kind, scope, names):
    run, own = attend(lambda m: kind(6, m, score_bias_init=-1.0, mode="recursive"))
    assert list(run.shapes) == ["memory_layer/kernel", *(f"{scope}/{name}" for name in names)]
    assert own["attention_score_bias"] == -1
    # Attention starts on the first entry, and what never stops is lost.
    assert (run.result[0] >= 0).all()
    assert (run.result[0].sum(1) < 1).all()
    noisy, _ = attend(lambda m: kind(6, m, mode="hard", sigmoid_noise=1.0, sigmoid_noise_seed=1))
    assert set(np.unique(noisy.result[0])) <= {0, 1}


def wrapper(memory, cell=None, **options):
    mechanism = seq2seq.LuongAttention(6, memory, LENGTHS)
    return seq2seq.AttentionWrapper(cell or rnn.GRUCell(6), mechanism, **options)


def test_a_wrapped_cell_and_its_names():
    steps = RNG.normal(size=(3, 2, 4)).astype(np.float32)

    def build(memory, steps):
        cell = wrapper(memory, attention_layer_size=8, alignment_history=True)
        state = cell.zero_state(3, tf.float32).clone(cell_state=0.5 * tf.ones([3, 6]))
        decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(steps, [2, 2, 1]), state)
        outputs, state, _ = seq2seq.dynamic_decode(decoder)
        return outputs.rnn_output, state.alignment_history.stack(), state.attention, state.time

    run = Run(build, MEMORY, steps)
    assert run.shapes == {
        "memory_layer/kernel": (4, 6),
        "decoder/attention_wrapper/gru_cell/gates/kernel": (4 + 8 + 6, 12),
        "decoder/attention_wrapper/gru_cell/gates/bias": (12,),
        "decoder/attention_wrapper/gru_cell/candidate/kernel": (4 + 8 + 6, 6),
        "decoder/attention_wrapper/gru_cell/candidate/bias": (6,),
        "decoder/attention_wrapper/attention_layer/kernel": (6 + 4, 8),
    }
    outputs, history, attention, time = run.result
    assert history.shape == (2, 3, 5)
    np.testing.assert_allclose(history.sum(2), 1, rtol=1e-5)
    assert not history[:, 1, 2:].any()  # behind the memory's length
    np.testing.assert_allclose(outputs[:, 1], attention, rtol=1e-5)
    assert time == 2


def test_the_attention_is_the_weighted_memory():
    def build(memory, query):
        cell = wrapper(
            memory,
            rnn.BasicRNNCell(6),
            output_attention=False,
            cell_input_fn=lambda inputs, attention: inputs,
            initial_cell_state=tf.ones([3, 6]),
        )
        assert cell.output_size == 6
        state = cell.zero_state(3, tf.float32)
        output, new = cell(query, state)
        return output, new.attention, new.alignments, state.cell_state

    output, attention, weights, first = Run(build, MEMORY, QUERY).result
    assert (first == 1).all()
    assert output.shape == (3, 6)
    np.testing.assert_allclose(attention, (weights[:, :, None] * MEMORY).sum(1), atol=1e-5)


def test_several_mechanisms_and_layers_of_one_s_own():
    def build(memory, query):
        both = [seq2seq.LuongAttention(6, memory), seq2seq.BahdanauAttention(3, memory)]
        cell = seq2seq.AttentionWrapper(rnn.GRUCell(6), both, attention_layer_size=[2, 3])
        output, state = cell(query, cell.zero_state(3, tf.float32))
        assert len(state.alignments) == len(cell.state_size.alignments) == 2
        own = seq2seq.AttentionWrapper(
            rnn.GRUCell(6), both[0], attention_layer=v1.layers.Dense(7), name="own"
        )
        return output, own(query, own.zero_state(3, tf.float32))[0]

    run = Run(build, MEMORY, QUERY)
    assert [result.shape for result in run.result] == [(3, 5), (3, 7)]
    assert {
        "attention_wrapper/attention_layer/kernel",
        "attention_wrapper/attention_layer_1/kernel",
        "attention_wrapper/bahdanau_attention/query_layer/kernel",
        "memory_layer_1/kernel",
    } <= set(run.shapes)


def test_what_a_wrapper_refuses():
    def refused(error, words, **options):
        with tf.Graph().as_default(), pytest.raises(error, match=words):
            wrapper(tf.constant(MEMORY), **options).zero_state(3, tf.float32)

    refused(
        ValueError,
        "exactly one entry per attention_mechanism, saw: 2 vs 1",
        attention_layer_size=[1, 2],
    )
    refused(
        ValueError,
        "Only one of attention_layer_size and attention_layer",
        attention_layer_size=1,
        attention_layer=v1.layers.Dense(3),
    )
    refused(TypeError, "cell_input_fn must be callable, saw: 3", cell_input_fn=3)
    refused(TypeError, "is not an RNNCell", cell=3)
    with pytest.raises(TypeError, match="attention_mechanism must be an AttentionMechanism"):
        seq2seq.AttentionWrapper(rnn.GRUCell(6), [3])
    with tf.Graph().as_default():
        cell = wrapper(tf.constant(MEMORY))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"tile_batch, multiple=beam"):
            cell.zero_state(6, tf.float32)
        with pytest.raises(TypeError, match=r"Start with wrapper\.zero_state"):
            cell(tf.zeros([3, 4]), tf.zeros([3, 6]))
        with pytest.raises(ValueError, match="expected to be same as the one to clone"):
            cell.zero_state(3, tf.float32).clone(cell_state=tf.zeros([3, 7]))


def test_beams_with_attention_and_its_history():
    width = 3

    def build(memory):
        tiled = seq2seq.tile_batch(memory, width)
        mechanism = seq2seq.BahdanauAttention(6, tiled, seq2seq.tile_batch(LENGTHS, width))
        cell = seq2seq.AttentionWrapper(
            rnn.MultiRNNCell([rnn.LSTMCell(6), rnn.GRUCell(5)]), mechanism, alignment_history=True
        )
        never_ends = tf.constant_initializer([0.0, -50.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        output = v1.layers.Dense(7, bias_initializer=never_ends)

        def search(**options):
            decoder = seq2seq.BeamSearchDecoder(
                cell,
                lambda ids: tf.one_hot(ids, 7),
                tf.zeros([3], tf.int32),
                1,
                cell.zero_state(3 * width, tf.float32),
                width,
                output,
                length_penalty_weight=0.6,
                coverage_penalty_weight=0.2,
                **options,
            )
            with v1.variable_scope("", reuse=v1.AUTO_REUSE):
                return seq2seq.dynamic_decode(decoder, maximum_iterations=4)

        outputs, state, lengths = search()
        _, unsorted, _ = search(reorder_tensor_arrays=False)
        return (
            outputs.predicted_ids,
            outputs.beam_search_decoder_output.parent_ids,
            state.cell_state.alignment_history,
            unsorted.cell_state.alignment_history.stack(),
            state.accumulated_attention_probs,
            lengths,
        )

    ids, parents, history, written, seen, lengths = Run(build, MEMORY).result
    assert ids.shape == (3, 4, width) == parents.shape
    assert lengths.shape == (3, width)
    assert (lengths == 4).all()
    np.testing.assert_allclose(seen.sum(2), 4, rtol=1e-5)
    history, written = (each.reshape(4, 3, width, 5) for each in (history, written))
    np.testing.assert_allclose(written.sum(-1), 1, rtol=1e-4)
    assert not history[:, 1, :, 2:].any()
    for example, beam in np.ndindex(3, width):
        place = beam
        for t in reversed(range(4)):
            np.testing.assert_array_equal(history[t, example, beam], written[t, example, place])
            place = parents[example, t, place]


def test_a_model_learns_to_copy_on_two_cores(tmp_path):
    tokens = RNG.integers(2, 6, (16, 3)).astype(np.int32)

    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices(tokens)
        if params.get("repeat", True):
            data = data.repeat()
        return data.batch(params["batch_size"], drop_remainder=True)

    def model_fn(features, mode, params):
        size = features.shape[0]
        table = v1.get_variable("embedding", [6, 8])
        memory, state = v1.nn.dynamic_rnn(
            rnn.GRUCell(16), tf.nn.embedding_lookup(table, features), dtype=tf.float32
        )
        cell = seq2seq.AttentionWrapper(
            rnn.GRUCell(16), seq2seq.LuongAttention(16, memory), attention_layer_size=16
        )
        first = cell.zero_state(size, tf.float32).clone(cell_state=state)
        output = v1.layers.Dense(6, name="output")
        start, end = tf.zeros([size], tf.int32), 1
        if mode == "infer":
            helper = seq2seq.GreedyEmbeddingHelper(table, start, end)
        else:
            shifted = tf.concat([start[:, None], features[:, :-1]], 1)
            helper = seq2seq.TrainingHelper(
                tf.nn.embedding_lookup(table, shifted), tf.fill([size], 3)
            )
        decoder = seq2seq.BasicDecoder(cell, helper, first, output)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=3)
        if mode == "infer":
            ids = tf.ensure_shape(outputs.sample_id, [size, 3])
            return eb.tpu.TPUEstimatorSpec(mode, predictions={"ids": ids})
        loss = seq2seq.sequence_loss(
            tf.ensure_shape(outputs.rnn_output, [size, 3, 6]), features, tf.ones([size, 3])
        )
        optimizer = v1.train.AdamOptimizer(0.03)
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = eb.tpu.TPUEstimator(
        model_fn,
        str(tmp_path),
        eb.tpu.RunConfig(
            master="emulated:2",
            tf_random_seed=1,
            tpu_config=eb.tpu.TPUConfig(iterations_per_loop=50),
        ),
        train_batch_size=16,
        eval_batch_size=16,
        predict_batch_size=16,
    )
    estimator.train(input_fn, steps=150)
    decoded = [
        each["ids"]
        for each in estimator.predict(lambda params: input_fn({**params, "repeat": False}))
    ]
    assert (np.array(decoded) == tokens).mean() > 0.8
    assert "decoder/attention_wrapper/attention_layer/kernel" in estimator.get_variable_names()


# Under TensorFlow 1.15.5 as under `run --tf1`: prints what a mechanism that is written from the
# private parts gives, as Tacotron's and pointer networks' are.
DERIVED = """
import json
import numpy as np
import tensorflow as tf
from tensorflow.contrib.seq2seq.python.ops import attention_wrapper as parts
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import (
    _BaseAttentionMechanism, _BaseMonotonicAttentionMechanism, _bahdanau_score, _compute_attention,
    _luong_score, _maybe_mask_score, _monotonic_probability_fn, _prepare_memory,
    _zero_state_tensors)

memory = tf.constant(np.sin(np.arange(30)).reshape(2, 3, 5), tf.float32)
query = tf.constant(np.cos(np.arange(8)).reshape(2, 4), tf.float32)
lengths = tf.constant([2, 3])

class Located(tf.contrib.seq2seq.BahdanauAttention):
    def __call__(self, query, state):
        score = _bahdanau_score(self.query_layer(query), self._keys, tf.ones([self._num_units]))
        weights = self._probability_fn(score + state, state)
        return weights, state + weights

class Product(_BaseAttentionMechanism):
    def __init__(self, units, memory, lengths):
        super().__init__(None, memory, lambda scores, last: tf.nn.softmax(scores), lengths,
                         tf.layers.Dense(units, use_bias=False, dtype=tf.float32, name="keys"),
                         name="product")

    def __call__(self, query, state):
        weights = self._probability_fn(_luong_score(query, self.keys, tf.constant(0.5)), state)
        return weights, weights

class Wrapper(tf.contrib.seq2seq.AttentionWrapper):
    def call(self, inputs, state):
        output, cell_state = self._cell(self._cell_input_fn(inputs, state.attention),
                                        state.cell_state)
        with tf.control_dependencies(self._batch_size_checks(2, "batch sizes")):
            output = tf.identity(output)
        attention, weights, new = _compute_attention(
            self._attention_mechanisms[0], output, state.attention_state,
            self._attention_layers[0] if self._attention_layers else None)
        return tf.concat([output, attention], 1), tf.contrib.seq2seq.AttentionWrapperState(
            cell_state=cell_state, attention=attention, time=state.time + 1,
            alignments=self._item_or_tuple([weights]), alignment_history=(),
            attention_state=self._item_or_tuple([new]))

with tf.variable_scope("all", initializer=tf.constant_initializer(0.25)):
    located = Located(4, memory, lengths, name="located")
    weights, _ = located(query, located.initial_state(2, tf.float32))
    product = Product(4, memory, lengths)
    products, _ = product(query, None)
    wrapper = Wrapper(tf.nn.rnn_cell.GRUCell(4), located)
    outputs, _ = wrapper(query, wrapper.zero_state(2, tf.float32))
print(json.dumps([
    type(wrapper._alignment_history).__name__, wrapper._attention_layer_size,
    wrapper._initial_cell_state, wrapper._is_multi, wrapper._output_attention]))
scores = tf.constant([[0.5, -1.0, 2.0]])
masked = _maybe_mask_score(scores, memory_mask=[[True, False, True]], score_mask_value=-9.0)
monotonic = _monotonic_probability_fn(scores, tf.constant([[1.0, 0.0, 0.0]]), 0.0, "parallel")
states = _zero_state_tensors((2, tf.TensorShape([3])), 2, tf.float32)
print([state.shape.as_list() for state in states])
first = _BaseMonotonicAttentionMechanism.initial_alignments(product, 2, tf.float32)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    ends = _prepare_memory(memory, lengths)[:, 2, 0]
    for value in session.run([weights, products, outputs, masked, monotonic, ends, first]):
        print(np.round(value, 5).tolist())
"""


# What TensorFlow 1.15.5 prints.
OF_THE_ORIGINAL = [
    [[0.57242, 0.42758, 0.0], [0.08127, 0.25461, 0.66412]],
    [[0.50132, 0.49868, 0.0], [0.26909, 0.32859, 0.40232]],
    [
        [0.0088, 0.0088, 0.0088, 0.0088, -0.40914, 0.36323, 0.80165, 0.50303, -0.25807],
        [0.06743, 0.06743, 0.06743, 0.06743, 0.15722, 0.70607, 0.60576, -0.05148, -0.66139],
    ],
    [[0.5, -9.0, 2.0]],
    [[0.62246, 0.10154, 0.2431]],
    [-0.0, -0.13235],
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
]


def test_mechanisms_and_wrappers_of_programs_are_written_from_the_private_parts(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(DERIVED)
    done = subprocess.run(
        [sys.executable, "-m", "estimator_bridge", "run", "--tf1", str(program)],
        cwd=Path(__file__).parents[2],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    attributes, states, *values = (json.loads(line) for line in done.stdout.splitlines()[-9:])
    assert attributes == ["bool", 5, None, False, True]
    assert states == [[2, 2], [2, 3]]
    for value, expected in zip(values, OF_THE_ORIGINAL):
        np.testing.assert_allclose(value, expected, atol=2e-5)
