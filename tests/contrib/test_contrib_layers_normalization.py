"""tf.contrib.layers' normalizations, against their formulas."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge_contrib import layers

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
X = (3 * RNG.normal(size=(4, 3, 5, 6)) + 2).astype(np.float32)


def normal(x, axes, epsilon):
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def test_layer_norm_as_bert_calls_it():
    run = Run(
        lambda x: layers.layer_norm(x, begin_norm_axis=-1, begin_params_axis=-1, scope="LayerNorm"),
        X,
    )
    assert run.shapes == {"LayerNorm/beta": (6,), "LayerNorm/gamma": (6,)}
    assert run.names("trainable_variables") == ["LayerNorm/beta", "LayerNorm/gamma"]
    np.testing.assert_allclose(run.result, normal(X, -1, 1e-12), atol=1e-5)
    assert not run.variables["LayerNorm/beta"].any()
    assert (run.variables["LayerNorm/gamma"] == 1).all()


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 3), st.integers(-3, 3), st.booleans(), st.booleans())
def test_layer_norm_over_any_axes(begin_norm, begin_params, center, scale):
    run = Run(
        lambda x: layers.layer_norm(
            x,
            center,
            scale,
            begin_norm_axis=begin_norm,
            begin_params_axis=begin_params or 1,
            scope="n",
        ),
        X,
    )
    axes = tuple(range(begin_norm, 4))
    np.testing.assert_allclose(run.result, normal(X, axes, 1e-12), atol=1e-4)
    shape = X.shape[begin_params or 1 :]
    expected = {"n/beta": shape} if center else {}
    assert run.shapes == {**expected, **({"n/gamma": shape} if scale else {})}


def test_layer_norm_in_half_precision():
    x = RNG.normal(size=(3, 8)).astype(np.float16)
    run = Run(layers.layer_norm, x)
    np.testing.assert_allclose(run.result, normal(x.astype(np.float32), -1, 1e-3), atol=1e-2)


def test_wrong_axes_of_layer_norm():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"begin_norm_axis \(2\) must be < rank\(inputs\) \(2"):
            layers.layer_norm(tf.zeros([2, 3]), begin_norm_axis=2)
        with pytest.raises(ValueError, match="is not fully defined"):
            layers.layer_norm(v1.placeholder(tf.float32, [2, None]))
        with pytest.raises(ValueError, match="undefined rank"):
            layers.layer_norm(v1.placeholder(tf.float32))


def test_instance_norm():
    run = Run(lambda x: (layers.instance_norm(x), layers.instance_norm(x, data_format="NCHW")), X)
    last, first = run.result
    np.testing.assert_allclose(last, normal(X, (1, 2), 1e-6), atol=1e-4)
    np.testing.assert_allclose(first, normal(X, (2, 3), 1e-6), atol=1e-4)
    assert run.shapes == {
        "InstanceNorm/beta": (6,),
        "InstanceNorm/gamma": (6,),
        "InstanceNorm_1/beta": (3,),
        "InstanceNorm_1/gamma": (3,),
    }


@pytest.mark.parametrize("close", [False, True])
def test_group_norm(close):
    def build(x):
        return layers.group_norm(
            x, 2, param_initializers={"beta": _const(0.5)}, mean_close_to_zero=close
        )

    run = Run(build, X)
    grouped = X.reshape(4, 3, 5, 2, 3)
    expected = normal(grouped, (1, 2, 4), 1e-6).reshape(X.shape) + 0.5
    np.testing.assert_allclose(run.result, expected, atol=1e-3)
    assert run.shapes == {"GroupNorm/beta": (6,), "GroupNorm/gamma": (6,)}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"groups": 4}, "6 channels is not commensurate with 4 groups"),
        ({"groups": 7}, "Invalid groups 7 for 6 channels"),
        ({"groups": 2, "reduction_axes": (-1,)}, "must be mutually exclusive"),
        ({"groups": 2, "channels_axis": 4}, "Axis is out of bounds: 4"),
    ],
)
def test_groups_have_to_fit(options, words):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=words):
        layers.group_norm(tf.zeros(X.shape), **options)


def _const(value):
    return v1.constant_initializer(value)


@pytest.mark.parametrize("fused", [None, False])
@pytest.mark.parametrize("shape", [(8, 6), (4, 3, 5, 6)])
def test_batch_norm_in_training(shape, fused):
    x = (2 * RNG.normal(size=shape) + 1).astype(np.float32)
    run = Run(lambda x: layers.batch_norm(x, decay=0.9, scale=True, fused=fused), x, updates=2)
    axes = tuple(range(x.ndim - 1))
    np.testing.assert_allclose(run.result, normal(x, axes, 1e-3), atol=1e-4)
    assert set(run.shapes) == {
        f"BatchNorm/{name}" for name in ("beta", "gamma", "moving_mean", "moving_variance")
    }
    assert sorted(run.names("trainable_variables")) == ["BatchNorm/beta", "BatchNorm/gamma"]
    assert len(run.names("model_variables")) == 4
    # Two steps of an average that starts at 0 and 1.
    mean, variance, n = x.mean(axes), x.var(axes), x[..., 0].size
    if fused is None:
        variance = variance * n / (n - 1)
    values = run.variables
    np.testing.assert_allclose(values["BatchNorm/moving_mean"], 0.19 * mean, rtol=1e-4)
    np.testing.assert_allclose(
        values["BatchNorm/moving_variance"], 0.81 + 0.19 * variance, rtol=1e-4
    )


@pytest.mark.parametrize("shape", [(8, 6), (4, 5, 6), (4, 3, 5, 6)])
def test_batch_norm_in_inference_uses_the_averages(shape):
    x = RNG.normal(size=shape).astype(np.float32)
    starts = {"moving_mean": _const(0.5), "moving_variance": _const(4.0), "beta": _const(7.0)}
    run = Run(
        lambda x: layers.batch_norm(x, is_training=False, param_initializers=starts, scope="bn"), x
    )
    np.testing.assert_allclose(run.result, (x - 0.5) / np.sqrt(4.001) + 7, atol=1e-4)
    assert run.names("update_ops") == []


@pytest.mark.parametrize("shape", [(8, 6), (4, 3, 5, 6), (4, 5, 6)])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_with_a_tensor_for_is_training(shape, training):
    x = (RNG.normal(size=shape) + 1).astype(np.float32)
    feeds = {"training:0": training}

    def build(x):
        return layers.batch_norm(x, 0.9, is_training=v1.placeholder(tf.bool, [], "training"))

    run = Run(build, x, updates=1, feeds=feeds)
    axes = tuple(range(x.ndim - 1))
    moved = run.variables["BatchNorm/moving_mean"]
    np.testing.assert_allclose(moved, (0.1 if training else 0) * x.mean(axes), rtol=1e-4, atol=1e-7)
    expected = normal(x, axes, 1e-3) if training else x / np.sqrt(1.001)
    np.testing.assert_allclose(run.result, expected, atol=1e-4)


@pytest.mark.parametrize("fused", [None, False])
def test_updates_run_with_the_outputs_where_there_is_no_collection(fused):
    run = Run(lambda x: layers.batch_norm(x, 0.5, updates_collections=None, fused=fused), X)
    assert run.names("update_ops") == []
    np.testing.assert_allclose(
        run.variables["BatchNorm/moving_mean"], X.mean((0, 1, 2)) / 2, rtol=1e-4
    )


def test_updates_join_a_collection_of_one_s_own():
    run = Run(lambda x: layers.batch_norm(x, updates_collections=["mine"]), X)
    assert len(run.names("mine")) == 2
    assert run.names("update_ops") == []


def test_an_average_that_forgets_its_start():
    run = Run(
        lambda x: layers.batch_norm(x, 0.9, zero_debias_moving_mean=True, scope="bn"), X, updates=3
    )
    np.testing.assert_allclose(run.variables["bn/moving_mean"], X.mean((0, 1, 2)), rtol=1e-4)
    assert run.variables["bn/bn/moving_mean/local_step"] == 3
    assert run.shapes["bn/bn/moving_mean/biased"] == (6,)


def test_weights_of_examples():
    weights = np.array([1, 0, 2, 0], np.float32)
    run = Run(lambda x, w: layers.batch_norm(x, batch_weights=w, decay=0.0), X, weights, updates=1)
    chosen = X[[0, 2, 2]]
    np.testing.assert_allclose(
        run.variables["BatchNorm/moving_mean"], chosen.mean((0, 1, 2)), rtol=1e-4
    )
    np.testing.assert_allclose(
        run.variables["BatchNorm/moving_variance"], chosen.var((0, 1, 2)), rtol=1e-4
    )


def test_batch_renormalization_has_its_variables():
    run = Run(lambda x: layers.batch_norm(x, renorm=True, scope="bn"), X, updates=1)
    # From its start on, the corrections are those of the first batch: the averages are used.
    assert {"bn/renorm_mean", "bn/renorm_stddev", "bn/moving_mean"} <= set(run.shapes)
    assert np.isfinite(run.result).all()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="renorm is not supported with"):
        layers.batch_norm(tf.zeros([2, 2]), renorm=True, updates_collections=None)


def test_channels_first_without_the_fused_kernel():
    run = Run(lambda x: layers.batch_norm(x, fused=False, data_format="NCHW"), X)
    np.testing.assert_allclose(run.result, normal(X, (0, 2, 3), 1e-3), atol=1e-4)
    assert run.shapes["BatchNorm/beta"] == (3,)


def test_half_precision_keeps_its_averages_in_single():
    x = tf.bfloat16
    with tf.Graph().as_default():
        outputs = layers.batch_norm(v1.placeholder(x, [4, 3, 3, 6]))
        assert outputs.dtype == x
        assert {each.dtype.base_dtype for each in v1.global_variables()} == {tf.float32}
        with pytest.raises(ValueError, match="undefined channels dimension"):
            layers.batch_norm(v1.placeholder(tf.float32, [2, None]))
