"""tf.contrib.cudnn_rnn's networks with an opaque vector: numbers, conversions, gradients."""

import json
import math

import numpy as np
import pytest
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_runs import Run
from golden_tables import HERE
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge_contrib import cudnn_rnn, rnn
from estimator_bridge_contrib.cudnn_rnn import cudnn_rnn_ops as ops
from estimator_bridge_contrib.cudnn_rnn.opaque_params import Layout

v1 = tf.compat.v1
CASES = json.loads((HERE / "contrib_goldens" / "cudnn_rnn.json").read_text())["cases"]
UNITS, SHAPE, LENGTHS = 3, (5, 2, 4), [5, 3]  # as in the cases
# By mode: the name of its classes, the converter's, and the gates.
MODES = {
    "lstm": ("CudnnLSTM", "LSTM", 4),
    "gru": ("CudnnGRU", "GRU", 3),
    "rnn_tanh": ("CudnnRNNTanh", "Tanh", 1),
    "rnn_relu": ("CudnnRNNRelu", "Relu", 1),
}
NETWORKS = st.tuples(
    st.sampled_from(sorted(MODES)), st.integers(1, 3), st.integers(1, 4), st.integers(1, 4),
    st.sampled_from(["unidirectional", "bidirectional"]),
)  # fmt: skip


def cell_shapes(mode, width, units):
    """The shapes of a cell's kernels and biases."""
    if mode == "gru":
        kernels = [(width + units, 2 * units), (width, units), (units, units)]
        return kernels, [(2 * units,), (units,), (units,)]
    gates = MODES[mode][2] * units
    return [(width + units, gates)], [(gates,)]


def converter(mode, layers, units, size, direction, **options):
    kind = getattr(cudnn_rnn, f"CudnnParamsFormatConverter{MODES[mode][1]}")
    return kind(layers, units, size, direction=direction, **options)


def of_cells(mode, layers, units, size, direction):
    """Values for the variables of a stack of cells: those of the recorded cases."""
    ways = 1 if direction == "unidirectional" else 2
    kernels, biases = [], []
    for layer in range(layers):
        shapes = cell_shapes(mode, units * ways if layer else size, units)
        for _ in range(ways):
            kernels += [array(*shape) for shape in shapes[0]]
            biases += [array(*shape) for shape in shapes[1]]
    return kernels + biases


def run_network(mode, x, params, direction="unidirectional", time_major=True, **options):
    network = getattr(ops, MODES[mode][0])(2, UNITS, x.shape[2], direction=direction)
    cells = 2 if direction == "unidirectional" else 4
    shape = [cells, 2, UNITS] if time_major else [2, cells, UNITS]
    states = [tf.zeros(shape)] * (2 if mode == "lstm" else 1)
    return network(x, *states, params, time_major=time_major, **options)


def summed(values):
    """The numbers that are recorded of an array."""
    flat = np.asarray(values, np.float64).ravel()
    return [*flat[:6], flat.sum(), flat.dot(np.cos(np.arange(flat.size))), np.abs(flat).max()]


def recorded(number):
    return [*number["first"], number["sum"], number["weighted"], number["largest"]]


def assert_recorded(got, number):
    assert list(np.shape(got)) == number["shape"]
    pairs = zip(summed(got), recorded(number))
    assert all(math.isclose(a, b, rel_tol=2e-4, abs_tol=5e-5) for a, b in pairs)


@pytest.mark.parametrize("case", ["cells", "cells, lengths", "cells both ways"])
@pytest.mark.parametrize("mode", MODES)
def test_a_network_gives_what_cells_of_1_15_5_gave(mode, case):
    direction = "bidirectional" if "both" in case else "unidirectional"
    lengths = None if case == "cells" else LENGTHS
    values = of_cells(mode, 2, UNITS, SHAPE[2], direction)

    def build(x):
        x = tf.ensure_shape(x, SHAPE)
        params = converter(mode, 2, UNITS, SHAPE[2], direction).tf_canonical_to_opaque(values)
        results = run_network(mode, x, params, direction, sequence_lengths=lengths)
        weighted = [
            tf.reduce_sum(tf.reshape(each, [-1]) * np.cos(np.arange(each.shape.num_elements())))
            for each in (tf.cast(each, tf.float64) for each in results)
        ]
        return [results, tf.gradients(weighted, x)[0]]

    results, gradient = Run(build, array(*SHAPE)).result
    expected = CASES[f"cudnn_rnn.{MODES[mode][0]}: {case}"]
    assert len(results) == len(expected["values"])
    for got, number in zip(results, expected["values"]):
        assert_recorded(got, number)
    assert_recorded(gradient, expected["gradients"]["input"])


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@pytest.mark.parametrize("mode", MODES)
def test_the_batch_may_be_first(mode, lengths):
    values = of_cells(mode, 2, UNITS, SHAPE[2], "bidirectional")

    def build(x):
        params = converter(mode, 2, UNITS, SHAPE[2], "bidirectional").tf_canonical_to_opaque(values)
        plain = run_network(mode, x, params, "bidirectional", sequence_lengths=lengths)
        swapped = run_network(
            mode, tf.transpose(x, [1, 0, 2]), params, "bidirectional", False,
            sequence_lengths=lengths,
        )  # fmt: skip
        return plain, swapped

    for plain, swapped in zip(*Run(build, array(*SHAPE)).result):
        np.testing.assert_allclose(swapped, plain.transpose(1, 0, 2), atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_the_vector_are_those_of_cells(mode):
    """1.15's own test: a bias's gradient comes twice, as cuDNN has two for each gate."""
    values = of_cells(mode, 1, UNITS, SHAPE[2], "unidirectional")
    converts = converter(mode, 1, UNITS, SHAPE[2], "unidirectional")

    def build(x):
        network = getattr(ops, MODES[mode][0])(1, UNITS, SHAPE[2])
        params = converts.tf_canonical_to_opaque(values)
        states = [tf.zeros([1, 2, UNITS])] * (2 if mode == "lstm" else 1)
        outputs = network(tf.ensure_shape(x, SHAPE), *states, params)[0]
        kernels, biases = converts.opaque_to_tf_canonical(tf.gradients(outputs, params)[0])
        layer = getattr(cudnn_rnn, MODES[mode][0])(1, UNITS)
        expected = layer(x)[0]
        variables = sorted(layer.trainable_variables, key=lambda each: "bias" in each.name)
        start.update(zip(variables, values))
        return [outputs, kernels, biases], [expected, tf.gradients(expected, variables)]

    start = {}
    with tf.Graph().as_default(), v1.Session() as session:
        fetches = build(tf.constant(array(*SHAPE)))
        for variable, value in start.items():
            variable.load(value, session)
        got, expected = session.run(fetches)
    np.testing.assert_allclose(got[0], expected[0], atol=1e-5)
    kernels, biases = expected[1][: len(got[1])], expected[1][len(got[1]) :]
    for mine, theirs in zip(got[1], kernels):
        np.testing.assert_allclose(mine, theirs, atol=2e-4)
    for number, (mine, theirs) in enumerate(zip(got[2], biases)):
        once = mode == "gru" and number > 0  # the candidate's two biases are two in cells as well
        np.testing.assert_allclose(mine, (2 - once) * theirs, atol=4e-4)


@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_outputs_may_be_projected(direction):
    """As LSTMCell with num_proj, whose numbers are TensorFlow's."""
    ways = 1 if direction == "unidirectional" else 2
    kernels, biases = [], []
    for layer in range(2):
        width = 2 * ways if layer else SHAPE[2]
        kernels += [array(width + 2, 4 * UNITS)] * ways
        biases += [array(4 * UNITS)] * ways
    projections = [array(UNITS, 2)] * 2 * ways
    converts = converter("lstm", 2, UNITS, SHAPE[2], direction, num_proj=2)

    def build(x):
        params = converts.tf_canonical_to_opaque(kernels + biases, projections)
        network = ops.CudnnLSTM(2, UNITS, SHAPE[2], direction=direction, num_proj=2)
        assert network.num_proj == 2
        h, c = (tf.zeros([2 * ways, 2, size]) for size in (2, UNITS))
        outputs = network(tf.ensure_shape(x, SHAPE), h, c, params, sequence_lengths=LENGTHS)

        def fixed(getter, *args, **options):
            options["initializer"] = lambda shape, dtype=None, partition_info=None: array(*shape)
            return getter(*args, **options)

        with v1.variable_scope("cells", custom_getter=fixed):
            ones = [
                [rnn.LSTMCell(UNITS, num_proj=2, forget_bias=0.0) for _ in range(2)]
                for _ in range(2)
            ]
            if ways == 1:
                cell = rnn.MultiRNNCell(ones[0])
                expected, states = v1.nn.dynamic_rnn(
                    cell, x, LENGTHS, dtype=tf.float32, time_major=True
                )
            else:
                expected, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
                    *ones, x, dtype=tf.float32, sequence_length=LENGTHS, time_major=True
                )
                states = [each for pair in zip(forward, backward) for each in pair]
        size, again = network.params_size(), converts.opaque_to_tf_canonical(params)
        return outputs, [expected, [each.h for each in states], [each.c for each in states]], [
            size, tf.size(params), again,
        ]  # fmt: skip

    outputs, expected, (size, count, again) = Run(build, array(*SHAPE)).result
    for got, value in zip(outputs, expected):
        np.testing.assert_allclose(got, value, atol=1e-5)
    assert size == count
    for got, value in zip([*again[0], *again[1], *again[2]], kernels + biases + projections):
        np.testing.assert_allclose(got, value, atol=1e-6)


@given(network=NETWORKS)
@settings(max_examples=20, deadline=None)
def test_parameters_survive_both_conversions(network):
    mode, layers, units, size, direction = network
    with tf.Graph().as_default(), v1.Session() as session:
        kind = getattr(ops, MODES[mode][0])
        rnn = kind(layers, units, size, direction=direction)
        count = session.run(rnn.params_size())
        params = np.arange(count, dtype=np.float32)
        weights, biases = rnn.params_to_canonical(params)
        layer = getattr(cudnn_rnn, MODES[mode][0])(layers, units, direction=direction)
        layer._input_size = size
        assert [tuple(each.shape) for each in weights] == layer.canonical_weight_shapes
        assert [each.shape.as_list() for each in biases] == layer.canonical_bias_shapes
        assert session.run(rnn.canonical_to_params(weights, biases)).tolist() == params.tolist()
        flat = [tf.reshape(each, [-1]) for each in weights]
        assert session.run(rnn.canonical_to_params(flat, biases)).tolist() == params.tolist()

        converts = converter(mode, layers, units, size, direction)
        values = of_cells(mode, layers, units, size, direction)
        kernels, sums = session.run(
            converts.opaque_to_tf_canonical(converts.tf_canonical_to_opaque(values))
        )
        for got, expected in zip([*kernels, *sums], values):
            np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_all_matrices_come_before_all_biases():
    with tf.Graph().as_default(), v1.Session() as session:
        network = ops.CudnnGRU(1, 1, 2)
        weights, biases = session.run(network.params_to_canonical(tf.range(15.0)))
    assert [each.tolist() for each in weights] == [
        [[0, 1]], [[2, 3]], [[4, 5]], [[6]], [[7]], [[8]],
    ]  # fmt: skip
    assert [each.tolist() for each in biases] == [[9], [10], [11], [12], [13], [14]]


def test_values_between_layers_are_dropped_in_training_only():
    params = tf.ones([Layout("rnn_tanh", 2, UNITS, 4).size]).numpy()

    def build(x):
        network = ops.CudnnRNNTanh(2, UNITS, 4, dropout=1 - 1e-6)
        state, x = tf.zeros([2, 2, UNITS]), tf.ensure_shape(x, SHAPE)
        return [network(x, state, params, is_training=each)[0] for each in (True, False)]

    dropped, whole = Run(build, np.ones(SHAPE, np.float32)).result
    # Nothing reaches the second layer, whose first step sees its two biases.
    np.testing.assert_allclose(dropped[0], math.tanh(2), rtol=1e-6)
    assert (whole[0] > 0.999).all()


def test_a_seed_draws_the_same_and_layers_draw_differently():
    def build(x):
        network = ops.CudnnRNNRelu(3, 50, 4, dropout=0.5, seed=3)
        params = tf.ones(network.params_size())
        state, x = tf.zeros([3, 2, 50]), tf.ensure_shape(x, SHAPE)
        return [network(x, state, params)[0] for _ in range(2)]

    first, second = Run(build, np.ones(SHAPE, np.float32)).result
    np.testing.assert_allclose(first, second)


def test_a_program_may_ask_for_sizes_in_a_session():
    """As document-qa does: it reads the sizes with eval(), and makes the variable itself."""
    with tf.Graph().as_default(), v1.Session().as_default() as session:
        network = ops.CudnnGRU(1, UNITS, 4, input_mode="linear_input")
        count = network.params_size().eval()
        weights, biases = network.params_to_canonical(tf.zeros([count]))
        assert tf.shape(weights[0]).eval().tolist() == [UNITS, 4]

        def initialize(shape, dtype=None, partition_info=None):
            ones = [tf.ones(tf.shape(each).eval(), each.dtype) for each in weights]
            params = network.canonical_to_params(ones, [tf.zeros(UNITS)] * 6)
            params.set_shape((count,))
            return params

        params = v1.get_variable("gru_parameters", count, tf.float32, initializer=initialize)
        mask = network.canonical_to_params(
            weights[:3] + [tf.ones_like(each) for each in weights[3:]], biases
        )
        x, state = tf.ones(SHAPE), tf.zeros((1, tf.shape(tf.ones(SHAPE))[1], UNITS))
        with pytest.raises(TypeError, match="is_training="):  # document-qa, for an older TensorFlow
            network(x, state, params * mask, True)
        outputs, state = network(x, state, params * mask, is_training=True)
        session.run(v1.global_variables_initializer())
        assert session.run(outputs).shape == (5, 2, UNITS)
        assert session.run(state).shape == (1, 2, UNITS)


@pytest.mark.parametrize("mode", MODES)
def test_sizes_of_inputs_need_not_be_known(mode):
    """1.15's own test: the parameters say which size the inputs have."""
    values = of_cells(mode, 2, UNITS, SHAPE[2], "bidirectional")
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, None, None])
        params = converter(mode, 2, UNITS, SHAPE[2], "bidirectional").tf_canonical_to_opaque(values)
        states = [tf.zeros([4, 2, UNITS])] * (2 if mode == "lstm" else 1)
        function = getattr(
            ops, {"lstm": "cudnn_lstm", "gru": "cudnn_gru"}.get(mode, f"cudnn_{mode}")
        )
        results = function(x, *states, params, False, direction="bidirectional")
        network = getattr(ops, MODES[mode][0])(2, UNITS, SHAPE[2], direction="bidirectional")
        free = [v1.placeholder_with_default(each, [None] * 3) for each in states]
        again = network(x, *free, params)
        assert results[1].shape.as_list() == [4, 2, UNITS]
        pair = session.run([results, again], {x: array(*SHAPE)})
        with pytest.raises(ValueError, match="must be known"):
            function(x, *free, params, False)
    for got, expected in zip(*pair):
        np.testing.assert_allclose(got, expected, atol=1e-4)


def test_it_runs_in_eager_mode_and_in_half_precision():
    network = ops.CudnnGRU(1, UNITS, 4, dtype=tf.float16)
    params = tf.ones([network.params_size()], tf.float16)
    outputs, state = network(
        tf.ones(SHAPE, tf.float16), tf.zeros([1, 2, UNITS], tf.float16), params
    )
    assert outputs.dtype == tf.float16
    np.testing.assert_allclose(outputs[-1], state[0])


def test_what_is_refused():
    x, h = tf.zeros(SHAPE), tf.zeros([1, 2, UNITS])
    network = ops.CudnnGRU(1, UNITS, 4)
    params = tf.zeros([network.params_size()])
    with pytest.raises(ValueError, match=r"shape \(8,\), instead of \[81\].* from a GPU"):
        network(x, h, tf.zeros([8]))
    with pytest.raises(ValueError, match="6 weights and 6 biases; given: 3 and 6"):
        network.canonical_to_params([h[0]] * 3, [h[0, 0]] * 6)
    with pytest.raises(ValueError, match="skip_input is not supported"):
        ops.CudnnGRU(1, UNITS, 4, input_mode="skip_input").params_size()
    with pytest.raises(ValueError, match="auto_select"):
        ops.CudnnGRU(1, 4, 4, input_mode="auto_select").params_size()
    with pytest.raises(TypeError, match=r"use tf\.cond"):
        network(x, h, params, is_training=tf.constant(True))
    with pytest.raises(ValueError, match=r"input has the shape .* three dimensions"):
        network(x[0], h, params)
    with pytest.raises(ValueError, match="A state has the shape"):
        network(x, h[:, :1], params)
    with pytest.raises(ValueError, match="do not divide"):
        ops.cudnn_gru(x, h, params, True, direction="bidirectional")
    with pytest.raises(ValueError, match="num_proj needs"):
        ops.cudnn_rnn_opaque_params_size("gru", 1, UNITS, 4, num_proj=2)
