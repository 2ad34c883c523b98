"""tf.contrib.cudnn_rnn: layers that equal stacks of cells, with the names of checkpoints."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge_contrib import cudnn_rnn, rnn

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(5, 3, 4)).astype(np.float32)  # [time, batch, size]
LENGTHS = np.array([5, 2, 3], np.int32)

CELLS = {
    cudnn_rnn.CudnnLSTM: cudnn_rnn.CudnnCompatibleLSTMCell,
    cudnn_rnn.CudnnGRU: cudnn_rnn.CudnnCompatibleGRUCell,
    cudnn_rnn.CudnnRNNTanh: rnn.BasicRNNCell,
    cudnn_rnn.CudnnRNNRelu: lambda units: rnn.BasicRNNCell(units, tf.nn.relu),
}


def outputs_of(state):
    return state.h if isinstance(state, tuple) else state


@pytest.mark.parametrize("layer", CELLS)
def test_a_layer_equals_a_stack_of_cells_with_the_same_names(layer):
    def build(x):
        outputs, state = layer(2, 6, name="here")(x)
        with v1.variable_scope("here", reuse=True):
            cell = rnn.MultiRNNCell([CELLS[layer](6) for _ in range(2)])
            expected, expected_state = v1.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)
        return outputs, state, expected, [outputs_of(each) for each in expected_state]

    outputs, state, expected, expected_state = Run(build, X).result
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    np.testing.assert_allclose(state[0], expected_state, atol=1e-5)
    assert len(state) == (2 if layer is cudnn_rnn.CudnnLSTM else 1)


@pytest.mark.parametrize("layer", [cudnn_rnn.CudnnLSTM, cudnn_rnn.CudnnGRU])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_both_directions(layer, lengths):
    def build(x):
        network = layer(2, 6, direction="bidirectional", name="here")
        outputs, state = network(x, sequence_lengths=lengths)
        batch_major, _ = network(
            tf.transpose(x, [1, 0, 2]), sequence_lengths=lengths, time_major=False
        )
        with v1.variable_scope("here", reuse=True):
            cells = [[CELLS[layer](6) for _ in range(2)] for _ in range(2)]
            expected, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
                *cells, x, dtype=tf.float32, sequence_length=lengths, time_major=True
            )
        states = [outputs_of(each) for pair in zip(forward, backward) for each in pair]
        return outputs, state[0], batch_major, expected, states

    outputs, state, batch_major, expected, states = Run(build, X[:, :3]).result
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    np.testing.assert_allclose(batch_major, expected.transpose(1, 0, 2), atol=1e-5)
    np.testing.assert_allclose(state, states, atol=1e-5)


def test_the_names_in_checkpoints_and_initial_values():
    def build(x):
        layer = cudnn_rnn.CudnnLSTM(1, 30, bias_initializer=v1.constant_initializer(0.25))
        assert layer.state_shape(3) == ([1, 3, 30], [1, 3, 30])
        layer(x, initial_state=tuple(tf.ones([1, 3, 30]) for _ in range(2)))
        cudnn_rnn.CudnnGRU(1, 3, direction="bidirectional")(x)
        return []

    run = Run(build, X)
    cell = "cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell"
    gru = "cudnn_gru/stack_bidirectional_rnn/cell_0/bidirectional_rnn/{}/cudnn_compatible_gru_cell/"
    assert run.shapes[f"{cell}/kernel"] == (34, 120)
    assert {gru.format(way) + "candidate/hidden_projection/kernel" for way in ("fw", "bw")} < set(
        run.shapes
    )
    # cuDNN has two biases for each gate, and a matrix of its own for inputs and for states.
    assert (run.variables[f"{cell}/bias"] == 0.5).all()
    kernel = run.variables[f"{cell}/kernel"]
    for rows, limit in ((kernel[:4], np.sqrt(6 / 34)), (kernel[4:], np.sqrt(6 / 60))):
        assert 0.9 * limit < np.abs(rows).max() <= limit
    assert len(run.names("trainable_variables")) == 2 + 2 * 6


def test_a_layer_that_the_program_builds_has_names_without_the_layer():
    def build(x):
        with v1.variable_scope("main"):
            for name in ("first", "second"):
                layer = cudnn_rnn.CudnnRNNTanh(1, 4, name=name)
                layer.build([None, None, 4])
                layer.build([None, None, 4])
        return layer(x)[0]

    run = Run(build, X)
    cell = "rnn/multi_rnn_cell/cell_0/basic_rnn_cell"
    # As in checkpoints of 1.15.5, which could not save a second layer of the same scope.
    assert set(run.shapes) == {
        f"main/{place}{cell}/{part}" for place in ("", "second/") for part in ("kernel", "bias")
    }


def test_states_have_the_batch_first_if_inputs_have():
    h, c = np.random.default_rng(1).normal(size=(2, 4, 3, 6)).astype(np.float32)

    def build(x):
        layer = cudnn_rnn.CudnnLSTM(2, 6, direction="bidirectional")
        plain = layer(x, initial_state=(h, c))
        state = tuple(tf.transpose(each, [1, 0, 2]) for each in (h, c))
        swapped = layer(tf.transpose(x, [1, 0, 2]), initial_state=state, time_major=False)
        return plain, swapped

    plain, swapped = Run(build, X[:, :3]).result
    np.testing.assert_allclose(swapped[0], plain[0].transpose(1, 0, 2), atol=1e-6)
    for got, expected in zip(swapped[1], plain[1]):
        np.testing.assert_allclose(got, expected.transpose(1, 0, 2), atol=1e-6)


def test_a_built_layer_knows_the_size_of_its_inputs():
    def build(x):
        layer = cudnn_rnn.CudnnRNNTanh(1, 4)
        layer.build([None, None, 4])
        unknown = v1.placeholder_with_default(x, [None, None, None])
        return layer(x)[0], layer(unknown)[0]

    built, unknown = Run(build, X).result
    np.testing.assert_allclose(unknown, built)


def test_values_between_layers_are_dropped_in_training():
    def build(x):
        layer = cudnn_rnn.CudnnRNNTanh(2, 6, dropout=1 - 1e-6, seed=1)
        return layer(x)[0], layer(x, training=False)[0]

    dropped, whole = Run(build, X).result
    assert not dropped[0].any()  # nothing reaches the second layer
    assert whole[0].all()


def test_what_is_refused():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Invalid direction: back"):
            cudnn_rnn.CudnnGRU(1, 2, direction="back")
        with pytest.raises(ValueError, match="Invalid input_mode: skip_input"):
            cudnn_rnn.CudnnGRU(1, 2, input_mode="skip_input")
        with pytest.raises(ValueError, match="means 'skip_input'"):
            cudnn_rnn.CudnnGRU(1, 4, input_mode="auto_select")(tf.zeros([5, 3, 4]))
        with pytest.raises(TypeError, match="expecting tuple"):
            cudnn_rnn.CudnnGRU(1, 4)(tf.zeros([5, 3, 4]), initial_state=tf.zeros([1, 3, 4]))
        with pytest.raises(ValueError, match="initial_state has 2 parts, expected 1"):
            cudnn_rnn.CudnnGRU(1, 4)(tf.zeros([5, 3, 4]), initial_state=(tf.zeros([1, 3, 4]),) * 2)
