"""tf.contrib.rnn's cells: names of variables, and steps written out in numpy."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge_contrib import rnn

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 5, 4)).astype(np.float32)  # [batch, time, size]
LENGTHS = np.array([5, 2, 3])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, kernel, bias, forget_bias=1.0, clip=None, diagonals=None, norm=lambda x, _: x):
    """All outputs [batch, time, units], and the last states, of an LSTM in numpy."""
    units = kernel.shape[1] // 4
    c = h = np.zeros((x.shape[0], units))
    in_diagonal, forget_diagonal, out_diagonal = diagonals or (0, 0, 0)
    outputs = []
    for t in range(x.shape[1]):
        gates = np.split(np.concatenate([x[:, t], h], 1) @ kernel + bias, 4, axis=1)
        i, new, f, o = (
            norm(gate, name)
            for gate, name in zip(gates, ("input", "transform", "forget", "output"))
        )
        new_part = sigmoid(i + in_diagonal * c) * np.tanh(new)
        c = new_part + sigmoid(f + forget_diagonal * c + forget_bias) * c
        c = norm(c, "state")
        c = c if clip is None else np.clip(c, -clip, clip)
        h = sigmoid(o + out_diagonal * c) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs, 1), c, h


def run(cell, x=X, **options):
    """Runs a cell (made by a function) over a sequence with dynamic_rnn."""

    def build(x):
        with v1.variable_scope("m", initializer=v1.random_uniform_initializer(-0.7, 0.7, seed=2)):
            return v1.nn.dynamic_rnn(cell(), x, dtype=tf.float32, **options)

    return Run(build, x)


@pytest.mark.parametrize(("clip", "peephole"), [(None, False), (0.2, True)])
def test_lstm_block_cell(clip, peephole):
    network = run(lambda: rnn.LSTMBlockCell(6, 0.5, clip, peephole))
    names = {"kernel": (10, 24), "bias": (24,)}
    if peephole:
        names |= dict.fromkeys(("w_i_diag", "w_f_diag", "w_o_diag"), (6,))
    assert network.shapes == {f"m/rnn/lstm_cell/{name}": shape for name, shape in names.items()}
    values = {name.split("/")[-1]: value for name, value in network.variables.items()}
    diagonals = [values[f"w_{gate}_diag"] for gate in "ifo"] if peephole else None
    outputs, c, h = lstm(X, values["kernel"], values["bias"], 0.5, clip, diagonals)
    got, state = network.result
    np.testing.assert_allclose(got, outputs, atol=1e-5)
    np.testing.assert_allclose(state.c, c, atol=1e-5)
    np.testing.assert_allclose(state.h, h, atol=1e-5)
    assert not values["bias"].any()


def test_lstm_block_cell_reads_what_lstm_cell_wrote():
    block, plain = (
        run(lambda cell=cell: cell(6, name="c")) for cell in (rnn.LSTMBlockCell, rnn.LSTMCell)
    )
    assert block.shapes == plain.shapes
    np.testing.assert_allclose(block.result[0], plain.result[0], atol=1e-5)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (rnn.GRUBlockCell, ("w_ru", "b_ru", "w_c", "b_c")),
        (rnn.GRUBlockCellV2, ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")),
    ],
)
def test_gru_block_cells(cell, names):
    network = run(lambda: cell(6))
    assert list(network.shapes) == [f"m/rnn/gru_cell/{name}" for name in names]
    gate_kernel, gate_bias, kernel, bias = network.variables.values()
    assert (gate_bias == 1).all()
    h = np.zeros((3, 6))
    for t in range(5):
        gates = sigmoid(np.concatenate([X[:, t], h], 1) @ gate_kernel + gate_bias)
        r, u = np.split(gates, 2, axis=1)
        h = u * h + (1 - u) * np.tanh(np.concatenate([X[:, t], r * h], 1) @ kernel + bias)
        np.testing.assert_allclose(network.result[0][:, t], h, atol=1e-5)
    with pytest.raises(ValueError, match="Exactly one of num_units or cell_size"):
        cell(6, 6)


def test_layer_norm_lstm():
    network = run(lambda: rnn.LayerNormBasicLSTMCell(6, norm_gain=0.5, norm_shift=0.1))
    scope = "m/rnn/layer_norm_basic_lstm_cell/"
    gates = ("input", "transform", "forget", "output", "state")
    assert set(network.shapes) == {f"{scope}kernel"} | {
        f"{scope}{gate}/{name}" for gate in gates for name in ("gamma", "beta")
    }
    values = network.variables

    def norm(x, gate):
        mean, deviation = x.mean(1, keepdims=True), x.std(1, keepdims=True)
        return (
            values[f"{scope}{gate}/gamma"] * (x - mean) / deviation
            + (values[f"{scope}{gate}/beta"])
        )

    outputs, c, _ = lstm(X, values[f"{scope}kernel"], 0, norm=norm)
    np.testing.assert_allclose(network.result[0], outputs, atol=1e-4)
    np.testing.assert_allclose(network.result[1].c, c, atol=1e-4)


def test_layer_norm_lstm_without_norm_and_with_dropout():
    plain = run(lambda: rnn.LayerNormBasicLSTMCell(6, layer_norm=False))
    kernel, bias = plain.variables.values()
    np.testing.assert_allclose(plain.result[0], lstm(X, kernel, bias)[0], atol=1e-5)
    dropped = run(lambda: rnn.LayerNormBasicLSTMCell(6, dropout_keep_prob=1e-6, layer_norm=False))
    assert not dropped.result[1].c.any()  # no new value is kept


def test_ugrnn_and_nas_cells():
    network = run(lambda: rnn.UGRNNCell(6, forget_bias=0.5))
    assert network.shapes == {"m/rnn/ugrnn_cell/kernel": (10, 12), "m/rnn/ugrnn_cell/bias": (12,)}
    kernel, bias = network.variables.values()
    h = np.zeros((3, 6))
    for t in range(5):
        gate, new = np.split(np.concatenate([X[:, t], h], 1) @ kernel + bias, 2, axis=1)
        gate = sigmoid(gate + 0.5)
        h = gate * h + (1 - gate) * np.tanh(new)
    np.testing.assert_allclose(network.result[1], h, atol=1e-5)
    network = run(lambda: rnn.NASCell(6, num_proj=2, use_bias=True))
    assert network.shapes == {
        "m/rnn/nas_cell/recurrent_kernel": (2, 48),
        "m/rnn/nas_cell/kernel": (4, 48),
        "m/rnn/nas_cell/bias": (48,),
        "m/rnn/nas_cell/projection_weights": (6, 2),
    }
    recurrent, kernel, bias, projection = network.variables.values()
    c, h = np.zeros((3, 6)), np.zeros((3, 2))
    for t in range(5):
        a, b = (np.split(each, 8, 1) for each in (X[:, t] @ kernel, h @ recurrent + bias))
        total = [p + q for p, q in zip(a, b)]
        l1, l2 = np.tanh(sigmoid(total[0]) * np.maximum(total[1], 0)), sigmoid(total[2])
        l2 = np.tanh(l2 + np.maximum(a[3] * b[3], 0))
        l3 = np.tanh(np.tanh(total[4]) * sigmoid(total[5]))
        l4 = sigmoid(np.tanh(total[6]) + sigmoid(total[7]))
        c = np.tanh(l1 + c) * l2
        h = np.tanh(c * np.tanh(l3 + l4)) @ projection
    np.testing.assert_allclose(network.result[1].h, h, atol=1e-5)


def test_convolutional_lstm():
    x = RNG.normal(size=(2, 3, 6, 2)).astype(np.float32)  # [batch, time, position, channels]

    def cell():
        return rnn.Conv1DLSTMCell(
            input_shape=[6, 2], output_channels=3, kernel_shape=[1], skip_connection=False
        )

    network = run(cell, x)
    assert network.shapes == {
        "m/rnn/conv_1d_lstm_cell/kernel": (1, 5, 12),
        "m/rnn/conv_1d_lstm_cell/biases": (12,),
    }
    # With filters of size 1, each position is an LSTM of its own.
    kernel, bias = network.variables.values()
    alone = x.transpose(0, 2, 1, 3).reshape(12, 3, 2)
    outputs = lstm(alone, kernel[0], bias)[0].reshape(2, 6, 3, 3).transpose(0, 2, 1, 3)
    np.testing.assert_allclose(network.result[0], outputs, atol=1e-5)
    skipping = run(
        lambda: rnn.Conv2DLSTMCell(
            input_shape=[2, 3, 2], output_channels=1, kernel_shape=[2, 2], skip_connection=True
        ),
        x.reshape(2, 3, 2, 3, 2),
    )
    np.testing.assert_allclose(skipping.result[0][..., 1:], x.reshape(2, 3, 2, 3, 2), atol=1e-6)
    with pytest.raises(ValueError, match="it has 1 positions besides the channels"):
        rnn.Conv3DLSTMCell(input_shape=[4, 1], output_channels=1, kernel_shape=[1])


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("as_list", [False, True])
def test_the_fused_lstm(lengths, as_list):
    def build(x):
        cell = rnn.LSTMBlockFusedCell(6, use_peephole=True)
        steps = tf.unstack(x, 5) if as_list else x
        outputs, state = cell(steps, dtype=tf.float32, sequence_length=lengths)
        return tf.stack(outputs), state

    network = Run(build, X.transpose(1, 0, 2)[:, :3])
    assert list(network.shapes) == [
        f"lstm_fused_cell/{name}" for name in ("kernel", "bias", "w_i_diag", "w_f_diag", "w_o_diag")
    ]
    kernel, bias, *diagonals = network.variables.values()
    outputs, state = network.result
    expected, _, _ = lstm(X, kernel, bias, diagonals=diagonals)
    if lengths is None:
        lengths = np.full(3, 5)
    for example, length in enumerate(lengths):
        np.testing.assert_allclose(outputs[:length, example], expected[example, :length], atol=1e-5)
        assert not outputs[length:, example].any()
        np.testing.assert_allclose(state.h[example], expected[example, length - 1], atol=1e-5)


def test_the_fused_lstm_starts_and_refuses():
    def build(x):
        cell = rnn.LSTMBlockFusedCell(4)
        start = (tf.ones([3, 4]), tf.zeros([3, 4]))
        first, state = cell(x[:2], initial_state=start)
        second, _ = cell(x[2:], initial_state=state)
        whole, _ = cell(x, initial_state=start)
        return tf.concat([first, second], 0) - whole

    network = Run(build, X.transpose(1, 0, 2))
    np.testing.assert_allclose(network.result, 0, atol=1e-6)
    assert len(network.shapes) == 2
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Either initial_state or dtype"):
            rnn.LSTMBlockFusedCell(4)(tf.zeros([2, 3, 4]))
        with pytest.raises(ValueError, match="tuple with length 2"):
            rnn.LSTMBlockFusedCell(4)(tf.zeros([2, 3, 4]), initial_state=[tf.zeros([3, 4])])
        with pytest.raises(ValueError, match=r"size of the inputs of lstm_cell is unknown"):
            rnn.LSTMBlockCell(4)(v1.placeholder(tf.float32, [2, None]), (tf.zeros([2, 4]),) * 2)


@pytest.mark.parametrize("dynamic", [False, True])
def test_adapted_and_reversed_cells(dynamic):
    def build(x):
        x = tf.reshape(x, [5, 3, 4])
        fused = rnn.FusedRNNCellAdaptor(rnn.BasicLSTMCell(6, name="c"), dynamic)
        back = rnn.TimeReversedFusedRNN(fused)
        with v1.variable_scope("s") as scope:
            forward, _ = fused(tf.reverse(x, [0]), dtype=tf.float32, scope=scope)
        with v1.variable_scope("s", reuse=True) as scope:
            backward, _ = back(x, dtype=tf.float32, scope=scope)
            some, _ = back(x, dtype=tf.float32, sequence_length=LENGTHS, scope=scope)
            steps, _ = back(tf.unstack(x), dtype=tf.float32, scope=scope)
        return tf.reverse(forward, [0]), backward, some, tf.stack(steps)

    forward, backward, some, steps = Run(build, X.transpose(1, 0, 2)).result
    np.testing.assert_allclose(forward, backward, atol=1e-6)
    np.testing.assert_allclose(steps, backward, atol=1e-6)
    np.testing.assert_allclose(some[:, 0], backward[:, 0], atol=1e-6)
    assert not some[2:, 1].any()


def test_cells_have_gradients():
    def build(x):
        outputs, _ = v1.nn.dynamic_rnn(rnn.LSTMBlockCell(3, use_peephole=True), x, dtype=tf.float32)
        fused, _ = rnn.LSTMBlockFusedCell(3)(tf.transpose(x, [1, 0, 2]), dtype=tf.float32)
        loss = tf.reduce_sum(outputs) + tf.reduce_sum(fused)
        return tf.gradients(loss, v1.trainable_variables())

    gradients = Run(build, X).result
    assert len(gradients) == 7
    assert all(np.abs(each).sum() > 0 for each in gradients)
