"""tf.contrib.layers.fully_connected and similar layers: numbers, variables, collections, reuse."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.arg_scope import arg_scope
from estimator_bridge_contrib.model_variables import model_variable, variable

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


def test_the_product_and_its_variables():
    run = Run(lambda x: layers.fully_connected(x, 3, biases_initializer=v1.ones_initializer()), X)
    assert run.shapes == {"fully_connected/weights": (4, 3), "fully_connected/biases": (3,)}
    weights = run.variables["fully_connected/weights"]
    np.testing.assert_allclose(run.result, np.maximum(X @ weights + 1, 0), rtol=1e-5)
    for collection in ("variables", "trainable_variables", "model_variables"):
        assert run.names(collection) == ["fully_connected/weights", "fully_connected/biases"]


def test_only_the_last_dimension_is_multiplied():
    x = np.random.default_rng(1).normal(size=(2, 3, 5, 4)).astype(np.float32)
    run = Run(lambda x: layers.linear(x, 6, scope="fc"), x)
    np.testing.assert_allclose(run.result, x @ run.variables["fc/weights"], atol=1e-5)


def test_names_count_up_and_a_scope_is_reused():
    def build(x):
        first = layers.fully_connected(x, 4)
        layers.fully_connected(first, 4)
        once = layers.fully_connected(x, 2, scope="shared")
        twice = layers.fully_connected(x, 2, scope="shared", reuse=True)
        with v1.variable_scope("outer", reuse=v1.AUTO_REUSE):
            for _ in range(2):
                layers.fully_connected(x, 2, scope="in")
        return once - twice

    run = Run(build, X)
    assert [name for name in run.shapes if name.endswith("weights")] == [
        "fully_connected/weights",
        "fully_connected_1/weights",
        "shared/weights",
        "outer/in/weights",
    ]
    assert not run.result.any()


def test_a_normalizer_takes_the_place_of_the_biases():
    def normalizer(outputs, factor):
        return factor * outputs

    run = Run(
        lambda x: layers.fully_connected(
            x, 3, None, normalizer_fn=normalizer, normalizer_params={"factor": 10.0}, scope="fc"
        ),
        X,
    )
    assert list(run.shapes) == ["fc/weights"]
    np.testing.assert_allclose(run.result, 10 * X @ run.variables["fc/weights"], rtol=1e-4)


def test_a_normalizer_with_variables_of_its_own_makes_them_in_the_scope():
    run = Run(lambda x: layers.fully_connected(x, 3, normalizer_fn=layers.layer_norm), X)
    assert list(run.shapes) == [
        "fully_connected/weights",
        "fully_connected/LayerNorm/beta",
        "fully_connected/LayerNorm/gamma",
    ]


def test_regularizers_count_once_and_outputs_are_collected():
    def build(x):
        for reuse in (None, True):
            layers.fully_connected(
                x,
                3,
                weights_regularizer=layers.l2_regularizer(0.5),
                biases_regularizer=layers.l1_regularizer(0.1),
                variables_collections={"weights": ["mine"]},
                outputs_collections="outs",
                trainable=False,
                scope="fc",
                reuse=reuse,
            )
        return v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)

    run = Run(build, X)
    weights = run.variables["fc/weights"]
    np.testing.assert_allclose(run.result, [0.25 * np.sum(weights**2), 0.0], rtol=1e-5)
    assert run.names("mine") == ["fc/weights"]
    assert run.names("trainable_variables") == []
    with run.graph.as_default():
        assert list(layers.utils.convert_collection_to_dict("outs")) == ["fc"]


def test_partitioned_weights_are_one_matrix():
    def build(x):
        with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(2)):
            return layers.linear(x, 3, weights_regularizer=layers.l2_regularizer(1.0))

    run = Run(build, X)
    parts = [value for name, value in run.variables.items() if "weights" in name]
    assert [part.shape for part in parts] == [(2, 3), (2, 3)]
    np.testing.assert_allclose(run.result, X @ np.concatenate(parts), atol=1e-5)
    assert len(run.names("regularization_losses")) == 2


def test_a_scope_s_own_getter_still_sees_the_variables():
    seen = []

    def getter(get, name, *args, **kwargs):
        seen.append(name)
        return tf.cast(get(name, *args, **kwargs), tf.float32) * 2

    def build(x):
        with v1.variable_scope("s", custom_getter=getter):
            return layers.linear(x, 3, scope="fc")

    run = Run(build, X)
    assert seen == ["s/fc/weights", "s/fc/biases"]
    np.testing.assert_allclose(run.result, 2 * X @ run.variables["s/fc/weights"], rtol=1e-4)


def test_arg_scope_sets_layers_arguments():
    def build(x):
        with arg_scope(
            [layers.fully_connected],
            activation_fn=tf.nn.tanh,
            weights_initializer=v1.constant_initializer(0.5),
        ):
            return layers.fully_connected(x, 2), layers.fully_connected(x, 2, activation_fn=None)

    scoped, linear = Run(build, X).result
    expected = np.repeat(0.5 * X.sum(1, keepdims=True), 2, axis=1)
    np.testing.assert_allclose(linear, expected, rtol=1e-5)
    np.testing.assert_allclose(scoped, np.tanh(expected), rtol=1e-5)


def test_aliases_have_their_activation():
    run = Run(lambda x: (layers.relu6(10 * x, 3), layers.elu(x, 3), layers.relu(x, 3)), X)
    six, elu, relu = run.result
    assert (six >= 0).all()
    assert six.max() <= 6
    assert elu.min() > -1
    assert (relu >= 0).all()


def test_the_legacy_layer_names_its_bias_bias():
    x = np.random.default_rng(2).normal(size=(2, 3, 4)).astype(np.float32)
    run = Run(lambda x: layers.legacy_relu(x, 5), x)
    assert run.shapes == {"fully_connected/weights": (4, 5), "fully_connected/bias": (5,)}
    expected = np.maximum(x @ run.variables["fully_connected/weights"], 0)
    np.testing.assert_allclose(run.result, expected, atol=1e-5)
    assert run.names("weights") == ["fully_connected/weights"]
    assert run.names("biases") == ["fully_connected/bias"]
    assert len(run.names("activations")) == 1


def test_a_wrong_size_is_refused():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=r"num_outputs type should be one of.*'3'"):
            layers.fully_connected(tf.zeros([2, 2]), "3")
        with pytest.raises(ValueError, match="must be known but is None"):
            layers.fully_connected(v1.placeholder(tf.float32, [2, None]), 3)


def test_model_variables_of_one_s_own():
    with tf.Graph().as_default() as graph:
        with arg_scope([model_variable, variable], device="/cpu:0"):
            mine = model_variable("mine", [2], collections=["kept"], initializer=_ones())
        plain = variable("plain", [2], trainable=False)
        assert mine.device.lower().endswith("cpu:0")
        assert [each.op.name for each in graph.get_collection("model_variables")] == ["mine"]
        assert [each.op.name for each in graph.get_collection("kept")] == ["mine"]
        assert v1.trainable_variables() == [mine]
        assert v1.global_variables()[-1] is plain


def _ones():
    return v1.ones_initializer()
