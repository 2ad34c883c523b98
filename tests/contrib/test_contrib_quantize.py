"""tf.contrib.quantize: sums that hold for all layers, and what differs from TensorFlow 1.15.5."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from estimator_bridge_contrib import layers, quantize
from estimator_bridge_contrib.quantize import fold_batch_norms, graph_matcher, quant_ops

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
RANGE = ("min", "max")


@contextlib.contextmanager
def new_graph(seed=1):
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(seed)
        yield graph


def rounded(values, low, high, bits, narrow):
    """The values that the formula of TensorFlow's documentation gives."""
    first, last = int(narrow), 2**bits - 1
    step = (high - low) / (last - first)
    zero = np.clip(np.round(first - low / step), first, last)
    low, high = (first - zero) * step, (last - zero) * step
    return np.round((np.clip(values, low, high) - low) / step) * step + low


def batches(count, size=12):
    return [
        np.random.RandomState(number).normal(0.3, 1 + number, size).astype(np.float32)
        for number in range(count)
    ]


def run_steps(build, fed):
    with new_graph() as graph, v1.Session() as session:
        values = v1.placeholder(tf.float32, [None])
        fetches = build(values)
        session.run(v1.global_variables_initializer())
        outputs = [session.run(fetches, {values: batch}) for batch in fed]
        names = [name for name in ("q/min", "q/max") if graph.as_graph_element(name)]
        ranges = [session.run(v1.global_variables(f"{name}:0$")[0]) for name in names]
    return outputs, ranges


@settings(max_examples=15, deadline=None)
@given(
    steps=st.integers(1, 4),
    decay=st.floats(0.1, 0.99),
    bits=st.integers(2, 8),
    narrow=st.booleans(),
)
def test_an_average_range_has_no_bias_to_its_start(steps, decay, bits, narrow):
    fed = batches(steps)
    outputs, (low, high) = run_steps(
        lambda values: quant_ops.MovingAvgQuantize(
            values, ema_decay=decay, num_bits=bits, narrow_range=narrow, name_prefix="q"
        ),
        fed,
    )
    weights = np.array([decay ** (steps - 1 - number) for number in range(steps)])
    weights /= weights.sum()
    assert low == pytest.approx(weights @ [min(each.min(), 0) for each in fed], rel=1e-4)
    assert high == pytest.approx(weights @ [max(each.max(), 0) for each in fed], rel=1e-4)
    step = (high - low) / (2**bits - 1 - narrow)
    np.testing.assert_allclose(
        outputs[-1], rounded(fed[-1], low, high, bits, narrow), atol=1.01 * step
    )


@settings(max_examples=15, deadline=None)
@given(bits=st.integers(2, 8), narrow=st.booleans(), symmetric=st.booleans())
def test_the_last_range_is_that_of_the_values(bits, narrow, symmetric):
    (values,) = fed = batches(1)
    (outputs,), (low, high) = run_steps(
        lambda values: quant_ops.LastValueQuantize(
            values, num_bits=bits, narrow_range=narrow, symmetric=symmetric, name_prefix="q"
        ),
        fed,
    )
    ratio = 1 if narrow else (2**bits - 2) / 2**bits
    if symmetric:
        assert low == pytest.approx(min(values.min(), -values.max() / ratio), rel=1e-5)
        assert high == pytest.approx(max(values.max(), -values.min() * ratio), rel=1e-5)
    else:
        assert (low, high) == (values.min(), values.max())
    assert len(np.unique(np.round(outputs, 4))) <= 2**bits
    step = (high - low) / (2**bits - 1 - narrow)
    assert np.abs(outputs - values).max() <= step


LAYERS = {
    "convolution": lambda x, **options: layers.conv2d(x, 3, **options),
    "depthwise": lambda x, **options: layers.separable_conv2d(
        x, None, depth_multiplier=2, **options
    ),
    "separable": lambda x, **options: layers.separable_conv2d(x, 3, depth_multiplier=1, **options),
}


def normalized(kind, training, fused, scale, scope, **options):
    x = tf.constant(np.random.RandomState(3).normal(size=(3, 7, 7, 2)).astype(np.float32))
    starts = {
        name: v1.random_uniform_initializer(0.5, 2.0)
        for name in ("beta", "gamma", "moving_mean", "moving_variance")
    }
    params = {"is_training": training, "fused": fused, "scale": scale}
    return LAYERS[kind](
        x,
        scope=scope,
        normalizer_fn=layers.batch_norm,
        normalizer_params={**params, "param_initializers": starts},
        **options,
    )


@settings(max_examples=24, deadline=None)
@given(
    kind=st.sampled_from(sorted(LAYERS)),
    size=st.integers(1, 3),
    stride=st.integers(1, 2),
    rate=st.integers(1, 2),
    padding=st.sampled_from(["SAME", "VALID"]),
    training=st.booleans(),
    fused=st.booleans(),
    scale=st.booleans(),
)
@example(  # its layer is padded
    kind="convolution", size=2, stride=1, rate=2, padding="SAME", training=True, fused=True,
    scale=False,
)  # fmt: skip
def test_folding_changes_no_output_and_no_gradient(
    kind, size, stride, rate, padding, training, fused, scale
):
    # 1.15.5 counts the padding, and so its gradients change: recorded in contrib_goldens.
    assume(not (kind == "depthwise" and rate == 2 and training and fused))
    options = {"kernel_size": size, "padding": padding, "stride": stride if rate == 1 else 1}
    results = []
    for is_folded in (False, True):
        with new_graph() as graph, v1.Session() as session:
            net = normalized(kind, training, fused, scale, "conv", rate=rate, **options)
            outputs = tf.identity(net)
            if is_folded:
                fold_batch_norms.FoldBatchNorms(graph, training)
                names = [op.name for op in graph.get_operations()]
                assert "conv/mul_fold" in names
            loss = tf.reduce_sum(tf.sin(3.0 * outputs))
            gradients = v1.gradients(loss, v1.trainable_variables())
            session.run(v1.global_variables_initializer())
            starts = v1.global_variables()
            random = np.random.RandomState(5)
            for each in starts:
                value = random.uniform(0.3, 1.0, each.shape)
                session.run(each.initializer, {each.initializer.inputs[1]: value})
            results.append(session.run([outputs, *gradients]))
    for before, after in zip(*results):
        np.testing.assert_allclose(before, after, rtol=2e-3, atol=2e-3)


def test_a_dilated_convolution_keeps_its_dilation():
    with new_graph() as graph:
        tf.nn.relu(normalized("convolution", True, True, True, "conv", kernel_size=3, rate=2))
        net = tf.nn.conv2d(tf.ones([2, 7, 7, 3]), tf.ones([3, 3, 3, 2]), 1, "SAME", dilations=2)
        tf.nn.relu(layers.batch_norm(net, fused=True))
        quantize.create_training_graph()
        assert graph.get_operation_by_name("conv/BatchToSpaceND_Fold").outputs[0].shape[1] == 7
        assert graph.get_operation_by_name("Conv2D_Fold").get_attr("dilations") == [1, 2, 2, 1]


def test_branches_of_today_delay_a_quantization_too():
    was_on = v1.control_flow_v2_enabled()
    v1.enable_control_flow_v2()
    try:
        with new_graph() as graph, v1.Session() as session:
            x = tf.constant(np.linspace(-1, 1, 24).reshape(2, 12).astype(np.float32))
            net = tf.reshape(layers.fully_connected(x, 3, scope="a"), [6])
            outputs = tf.identity(net + tf.ones([6]))
            quantize.create_training_graph(quant_delay=2)
            assert "add/activation_AddV2_quant/min" in {v.op.name for v in v1.global_variables()}
            types = {op.type for op in graph.get_operations()}
            assert types & {"If", "StatelessIf"} and "Switch" not in types
            session.run(v1.global_variables_initializer())
            first, second = session.run(outputs), session.run(outputs)
            assert np.abs(first - second).max() > 1e-6
    finally:
        if not was_on:
            v1.disable_control_flow_v2()


@pytest.mark.parametrize(
    ("add", "name"),
    [
        (lambda a, b: a + b, "add/activation_AddV2_quant"),
        (tf.add, "Add/activation_Add_quant"),
        (lambda a, b: tf.add(a, b, name="sum"), "sum/activation_Add_quant"),
    ],
)
def test_a_sum_has_the_name_of_its_kind_in_tf1(add, name):
    with new_graph():
        net = tf.reshape(layers.fully_connected(tf.ones([2, 3]), 3), [6])
        tf.identity(add(net, tf.ones([6])))
        quantize.create_training_graph()
        assert f"{name}/min" in {each.op.name for each in v1.global_variables()}


def test_channels_first_are_refused():
    with new_graph():
        x = tf.zeros([2, 3, 5, 5])
        norm = {"data_format": "NCHW", "fused": True}
        net = layers.conv2d(
            x, 4, 3, data_format="NCHW", normalizer_fn=layers.batch_norm, normalizer_params=norm
        )
        tf.identity(net)
        with pytest.raises(ValueError, match="NHWC"):
            quantize.create_training_graph()


def test_what_an_optimizer_did_is_refused():
    with new_graph():
        net = layers.fully_connected(tf.ones([2, 3]), 3)
        v1.train.AdadeltaOptimizer().minimize(tf.reduce_sum(net))
        with pytest.raises(ValueError, match=r"Training op found in graph.*before the optimizer"):
            quantize.create_training_graph()


def test_frozen_statistics_beside_unfused_ones_in_training():
    with new_graph() as graph:
        tf.identity(normalized("convolution", False, False, True, "a", kernel_size=3))
        tf.identity(normalized("convolution", True, False, True, "b", kernel_size=3))
        quantize.create_training_graph()
        names = {op.name for op in graph.get_operations()}
        assert "a/Conv2D_Fold" in names and "a/correction_mult" not in names
        assert "b/correction_mult" in names


def test_a_pattern_finds_the_order_that_matches():
    with new_graph() as graph:
        tf.subtract(tf.nn.relu(tf.ones([2])), tf.zeros([2]))
        pattern = graph_matcher.OpTypePattern
        matches = [
            len(list(graph_matcher.GraphMatcher(each).match_graph(graph)))
            for each in (
                pattern("Sub", inputs=["Relu", "Const"]),
                pattern("Sub", inputs=["Const", "Relu"]),
                pattern("Sub", inputs=["Const", "Relu"], ordered_inputs=False),
                pattern("Sub", inputs=["*"]),
            )
        ]
        assert matches == [1, 0, 1, 0]
