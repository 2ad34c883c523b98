"""tf.contrib in a program with TF1 behavior: Dimensions, reference variables, v1 control flow."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge_contrib import cudnn_rnn, layers, rnn, seq2seq

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(3, 6, 6, 4)).astype(np.float32)
STEPS = RNG.normal(size=(3, 5, 4)).astype(np.float32)


@pytest.fixture
def v1_behavior():
    """Turns off v2 behavior, except for eager execution."""
    v1.disable_v2_tensorshape()
    v1.disable_control_flow_v2()
    v1.disable_resource_variables()
    yield
    v1.enable_v2_tensorshape()
    v1.enable_control_flow_v2()
    v1.enable_resource_variables()


def network(x):
    net = layers.conv2d(x, 8, 3, normalizer_fn=layers.batch_norm)
    net = layers.separable_conv2d(
        net, 8, 3, normalizer_fn=layers.group_norm, normalizer_params=_TWO
    )
    net = layers.conv2d_transpose(layers.max_pool2d(net, 2), 4, 3, stride=2)
    net = layers.instance_norm(layers.maxout(net, 2))
    net = layers.batch_norm(
        layers.flatten(net), is_training=v1.placeholder(tf.bool, [], "training"), decay=0.5
    )
    return layers.layer_norm(layers.fully_connected(net, 3), activation_fn=tf.tanh)


_TWO = {"groups": 2}


def recurrent(x):
    cells = [rnn.LayerNormBasicLSTMCell(6), rnn.UGRNNCell(6), rnn.LSTMBlockCell(6)]
    cells.append(rnn.AttentionCellWrapper(rnn.GRUBlockCell(6), 2))
    for number, cell in enumerate(cells):
        x, _ = v1.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope=f"rnn{number}")
    x, _ = cudnn_rnn.CudnnGRU(1, 6, direction="bidirectional")(tf.transpose(x, [1, 0, 2]))
    network = cudnn_rnn.cudnn_rnn_ops.CudnnLSTM(2, 6, 12)
    states = [tf.zeros([2, 3, 6]), tf.zeros([2, tf.shape(x)[1], 6])]
    x, _, _ = network(x, *states, tf.fill([network.params_size()], 0.1), [5, 2, 3])
    layer = cudnn_rnn.CudnnRNNTanh(1, 6)
    layer._saveable_cls = type("Own", (cudnn_rnn.CudnnRNNTanhSaveable,), {})
    layer.build([None, None, 6])
    x, _ = layer(x)
    return rnn.LSTMBlockFusedCell(6)(x, dtype=tf.float32, sequence_length=[5, 2, 3])


def translation(x):
    memory = seq2seq.tile_batch(x, 2)
    cell = seq2seq.AttentionWrapper(
        rnn.GRUCell(6), seq2seq.LuongAttention(6, memory), 6, alignment_history=True
    )
    state = cell.zero_state(6, tf.float32)
    beams = seq2seq.BeamSearchDecoder(
        cell, lambda ids: tf.one_hot(ids, 4), [0, 1, 2], 3, state, 2, v1.layers.Dense(4)
    )
    helper = seq2seq.TrainingHelper(memory, [5, 5, 2, 2, 3, 3])
    read = seq2seq.BasicDecoder(cell, helper, state)
    return [
        seq2seq.dynamic_decode(decoder, maximum_iterations=4, scope=f"d{number}")[0]
        for number, decoder in enumerate((beams, read))
    ]


@pytest.mark.parametrize(
    ("build", "x", "feeds"),
    [
        (network, IMAGES, {"m/training:0": True}),
        (recurrent, STEPS, None),
        (translation, STEPS, None),
    ],
)
def test_the_numbers_are_the_same(build, x, feeds, v1_behavior):
    def alike(x):
        start = v1.random_uniform_initializer(-0.5, 0.5, seed=1)
        with v1.variable_scope("m", initializer=start):
            return build(tf.ensure_shape(x, [3, *x.shape[1:]]))

    old = Run(alike, x, updates=1, feeds=feeds)
    v1.enable_v2_tensorshape()
    v1.enable_control_flow_v2()
    v1.enable_resource_variables()
    # The same initial values, whatever the seeds of the operations.
    new = Run(alike, x, updates=1, feeds=feeds, start=old.start)
    assert new.shapes == old.shapes
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4), old.result, new.result
    )
    for name, value in old.variables.items():
        np.testing.assert_allclose(new.variables[name], value, atol=1e-4, err_msg=name)
