"""tf.contrib.rnn's wrappers and layers, tf.nn.rnn_cell's cells, and training with them."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

import estimator_bridge as eb
from estimator_bridge_contrib import rnn

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, 4)).astype(np.float32)


def test_projections_and_embeddings_around_a_cell():
    ids = np.array([[1, 2], [0, 3]])

    def build(ids):
        cell = rnn.EmbeddingWrapper(
            rnn.InputProjectionWrapper(
                rnn.OutputProjectionWrapper(rnn.BasicRNNCell(6), 2, tf.nn.relu), 3
            ),
            4,
            5,
        )
        assert cell.state_size == 6
        return v1.nn.dynamic_rnn(cell, ids[:, :, None], dtype=tf.float32)

    run = Run(build, ids)
    outer = "rnn/embedding_wrapper/input_projection_wrapper"
    assert run.shapes == {
        "rnn/embedding_wrapper/embedding": (4, 5),
        f"{outer}/kernel": (5, 3),
        f"{outer}/bias": (3,),
        f"{outer}/output_projection_wrapper/basic_rnn_cell/kernel": (9, 6),
        f"{outer}/output_projection_wrapper/basic_rnn_cell/bias": (6,),
        f"{outer}/output_projection_wrapper/kernel": (6, 2),
        f"{outer}/output_projection_wrapper/bias": (2,),
    }
    table, w_in, _, w, _, w_out, _ = run.variables.values()
    h = np.zeros((2, 6))
    for t in range(2):
        h = np.tanh(np.concatenate([table[ids[:, t]] @ w_in, h], 1) @ w)
        np.testing.assert_allclose(run.result[0][:, t], np.maximum(h @ w_out, 0), atol=1e-5)
    with pytest.raises(ValueError, match="must be > 0: 0"):
        rnn.OutputProjectionWrapper(rnn.BasicRNNCell(6), 0)
    with pytest.raises(TypeError, match=r"'cell' \(3\) is not an RNNCell: it has no output_size"):
        rnn.InputProjectionWrapper(3, 4)


@pytest.mark.parametrize("as_tuple", [True, False])
def test_attention_over_a_cell_s_own_outputs(as_tuple):
    def build(x):
        cell = rnn.AttentionCellWrapper(rnn.GRUCell(6), 3, 5, 7, state_is_tuple=as_tuple)
        with v1.variable_scope("m", initializer=v1.random_uniform_initializer(-0.5, 0.5, seed=1)):
            outputs, state = v1.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        return outputs, state if as_tuple else tf.split(state, [6, 5, 15], 1)

    run = Run(build, X)
    scope = "m/rnn/attention_cell_wrapper/"
    values = {name.removeprefix(scope): value for name, value in run.variables.items()}
    assert {name: value.shape for name, value in values.items() if "gru" not in name} == {
        "kernel": (9, 4),
        "bias": (4,),
        "attention/attn_w": (1, 1, 5, 7),
        "attention/attn_v": (7,),
        "attention/kernel": (6, 7),
        "attention/bias": (7,),
        "attn_output_projection/kernel": (11, 5),
        "attn_output_projection/bias": (5,),
    }
    outputs, (inner, attention, seen) = run.result
    # The last outputs are kept, and the attention is over those before the last step.
    np.testing.assert_allclose(seen.reshape(3, 3, 5), outputs[:, -3:], atol=1e-5)
    before = outputs[:, -4:-1]
    hidden = np.tanh(
        before @ values["attention/attn_w"][0, 0]
        + (inner @ values["attention/kernel"] + values["attention/bias"])[:, None]
    )
    scores = np.exp((hidden * values["attention/attn_v"]).sum(2))
    shares = scores / scores.sum(1, keepdims=True)
    np.testing.assert_allclose(attention, (shares[:, :, None] * before).sum(1), atol=1e-5)


def test_attention_needs_a_tuple_and_a_length():
    with pytest.raises(ValueError, match="state_is_tuple is not set"):
        rnn.AttentionCellWrapper(rnn.BasicLSTMCell(3), 2, state_is_tuple=False)
    with pytest.raises(ValueError, match="attn_length should be greater than zero, got 0"):
        rnn.AttentionCellWrapper(rnn.GRUCell(3), 0)


@pytest.mark.parametrize("coupled", [True, False])
def test_highway(coupled):
    def build(x):
        cell = rnn.HighwayWrapper(rnn.BasicRNNCell(4), coupled, carry_bias_init=2.0)
        return v1.nn.dynamic_rnn(cell, x, dtype=tf.float32)

    run = Run(build, X[:, :1])
    values = {name.removeprefix("rnn/"): value for name, value in run.variables.items()}
    x = X[:, 0]
    inner = np.tanh(np.concatenate([x, 0 * x], 1) @ values["basic_rnn_cell/kernel"])
    gate = 1 / (1 + np.exp(-(x @ values["carry_w"] + 2)))
    other = 1 - gate if coupled else 1 / (1 + np.exp(-(x @ values["transform_w"] - 2)))
    np.testing.assert_allclose(run.result[0][:, 0], gate * x + other * inner, atol=1e-5)


def test_stacks_in_both_directions():
    def cells():
        return [rnn.BasicLSTMCell(units) for units in (6, 2)]

    def build(x):
        x = tf.ensure_shape(x, [3, 5, 4])
        dynamic = rnn.stack_bidirectional_dynamic_rnn(
            cells(), cells(), x, dtype=tf.float32, sequence_length=[5, 3, 1]
        )
        static = rnn.stack_bidirectional_rnn(
            cells(), cells(), tf.unstack(x, axis=1), dtype=tf.float32, scope="static"
        )
        return dynamic, static

    run = Run(build, X)
    (outputs, forward, backward), (steps, *_) = run.result
    assert outputs.shape == (3, 5, 4)
    assert [state.h.shape for state in forward] == [(3, 6), (3, 2)]
    np.testing.assert_allclose(outputs[0, -1, :2], forward[1].h[0], atol=1e-6)
    np.testing.assert_allclose(outputs[:, 0, 2:], backward[1].h, atol=1e-6)
    assert not outputs[2, 1:].any()
    assert len(steps) == 5
    ends = [f"{way}/basic_lstm_cell/kernel" for way in ("fw", "bw")]
    assert [name for name in run.shapes if name.endswith("kernel")] == [
        *(f"stack_bidirectional_rnn/cell_0/bidirectional_rnn/{end}" for end in ends),
        *(f"stack_bidirectional_rnn/cell_1/bidirectional_rnn/{end}" for end in ends),
        *(f"static/cell_0/{end}" for end in ends),
        *(f"static/cell_1/{end}" for end in ends),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([], [1]), "at least one fw cell"),
        ((3, [1]), "cells_fw must be a list of RNNCells"),
        (([1], [1, 2]), "same depth, got 1 and 2"),
        (([1], [1], None, [1, 2]), "initial_states_fw must be a list"),
    ],
)
def test_stacks_need_lists_of_equal_length(arguments, words):
    forward, backward, *rest = arguments
    with pytest.raises(ValueError, match=words):
        rnn.stack_bidirectional_dynamic_rnn(forward, backward, *(rest or [None]))


def test_the_linear_layer_that_programs_import():
    from estimator_bridge_contrib.rnn.core_rnn_cell import _linear

    def build(x):
        with v1.variable_scope("a"):
            plain = _linear([x[:, 0], x[:, 1]], 3, False)
        with v1.variable_scope("b"):
            shifted = _linear(x[:, 0], 3, True, v1.ones_initializer(), v1.zeros_initializer())
        return plain, shifted

    run = Run(build, X)
    assert run.shapes == {"a/kernel": (8, 3), "b/kernel": (4, 3), "b/bias": (3,)}
    both = np.concatenate([X[:, 0], X[:, 1]], 1)
    np.testing.assert_allclose(run.result[0], both @ run.variables["a/kernel"], atol=1e-5)
    assert (run.result[1] == 1).all()
    with pytest.raises(ValueError, match="2D arguments"):
        _linear(tf.zeros([1, 2, 3]), 3, True)


def test_small_helpers():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 5, 4])
        assert rnn.transpose_batch_time(x).shape.as_list() == [5, None, 4]
        assert rnn.transpose_batch_time(tf.zeros([3])).shape == [3]
        assert rnn.best_effort_input_batch_size([x]) == 5
        unknown = v1.placeholder(tf.float32, [5, None, 4])
        assert tf.is_tensor(rnn.best_effort_input_batch_size([unknown]))


def test_what_is_missing_says_what_to_use():
    with pytest.raises(AttributeError, match=r"no attribute 'no_such_cell'"):
        _ = rnn.no_such_cell
    assert set(rnn.__all__) <= set(dir(rnn))


def test_the_cells_of_tf_nn_keep_their_names():
    def build(x):
        cell = rnn.MultiRNNCell(
            [
                rnn.DropoutWrapper(rnn.LSTMCell(4, use_peepholes=True, num_proj=3), 0.9),
                rnn.ResidualWrapper(rnn.GRUCell(3)),
            ]
        )
        return v1.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]

    run = Run(build, X)
    first, second = (f"rnn/multi_rnn_cell/cell_{i}/" for i in (0, 1))
    assert set(run.shapes) == {
        *(f"{first}lstm_cell/{name}" for name in ("kernel", "bias", "projection/kernel")),
        *(f"{first}lstm_cell/w_{gate}_diag" for gate in "ifo"),
        *(f"{second}gru_cell/{part}/{v}" for part in ("gates", "candidate") for v in _AFFINE),
    }


_AFFINE = ("kernel", "bias")


@pytest.mark.parametrize("cores", [0, 2])
def test_a_recurrent_model_learns_and_is_read_back(tmp_path, cores):
    labels = (X.sum((1, 2)) > 0).astype(np.float32)

    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices((X, labels)).repeat()
        return data.batch(params["batch_size"], drop_remainder=True)

    def model_fn(features, labels, mode, params):
        net, _ = rnn.LSTMBlockFusedCell(4)(tf.transpose(features, [1, 0, 2]), dtype=tf.float32)
        cell = rnn.LayerNormBasicLSTMCell(4)
        _, state = v1.nn.dynamic_rnn(cell, net, dtype=tf.float32, time_major=True)
        logits = v1.layers.dense(state.h, 1)[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
        optimizer = v1.train.AdamOptimizer(0.05)
        if params["use_tpu"]:
            optimizer = eb.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = eb.tpu.TPUEstimator(
        model_fn,
        str(tmp_path),
        eb.tpu.RunConfig(master=f"emulated:{cores}" if cores else None, tf_random_seed=1),
        use_tpu=bool(cores),
        train_batch_size=2,
        eval_batch_size=2,
    )
    losses = []
    for _ in range(2):
        estimator.train(input_fn, steps=10)
        losses.append(estimator.evaluate(input_fn, steps=3)["loss"])
    assert losses[1] < losses[0]
    names = set(estimator.get_variable_names())
    assert {
        "lstm_fused_cell/kernel",
        "lstm_fused_cell/bias",
        "rnn/layer_norm_basic_lstm_cell/kernel",
        "rnn/layer_norm_basic_lstm_cell/state/gamma",
        "lstm_fused_cell/kernel/Adam",
    } <= names
