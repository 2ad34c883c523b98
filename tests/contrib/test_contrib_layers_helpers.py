"""tf.contrib.layers' initializers, regularizers, embeddings, summaries and other helpers."""

import numpy as np
import pytest
import tensorflow as tf
from contrib_runs import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from estimator_bridge_contrib import layers

v1 = tf.compat.v1
X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)


@pytest.mark.parametrize(
    ("initializer", "shape", "variance"),
    [
        (layers.xavier_initializer(seed=1), (100, 300), 2 / 400),
        (layers.xavier_initializer_conv2d(uniform=False, seed=1), (3, 3, 40, 60), 2 / 900),
        (layers.variance_scaling_initializer(seed=1), (200, 100), 2 / 200),
        (layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=1), (50, 400), 1 / 400),
    ],
)
def test_initializers_keep_the_variance(initializer, shape, variance):
    values = Run(lambda: initializer(shape)).result
    # A normal of deviation s, cut at 2s, has 0.7737 of its variance; the factor 1.3 makes up.
    np.testing.assert_allclose(values.var(), variance, rtol=0.05)
    assert abs(values.mean()) < 0.1 * np.sqrt(variance)


def test_initializers_and_regularizers_go_into_tf_layers():
    def build(x):
        options = {
            "kernel_initializer": layers.xavier_initializer(seed=1),
            "kernel_regularizer": layers.l2_regularizer(0.5),
        }
        v1.layers.conv2d(x[:, :, None, None], 3, 1, name="conv", **options)
        v1.layers.dense(x, 7, name="fc", **options)
        part = v1.fixed_size_partitioner(2)
        v1.get_variable(
            "whole", [4, 2], initializer=options["kernel_initializer"], partitioner=part
        )
        return v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)

    run = Run(build, X)
    kernels = [run.variables[f"{name}/kernel"] for name in ("conv", "fc")]
    np.testing.assert_allclose(run.result, [np.sum(k**2) / 4 for k in kernels], rtol=1e-5)
    assert np.abs(kernels[1]).max() <= np.sqrt(6 / 13)
    assert run.shapes["whole/part_0"] == (2, 2)


def test_wrong_initializers():
    with pytest.raises(TypeError, match="Unknown mode 'FAN'"):
        layers.variance_scaling_initializer(mode="FAN")
    with pytest.raises(TypeError, match="non-floating point type, got int32"):
        layers.xavier_initializer(dtype=tf.int32)


@settings(max_examples=10, deadline=None)
@given(st.floats(0.01, 10), st.floats(0.01, 10))
def test_regularizers(one, two):
    def build(w):
        both = layers.l1_l2_regularizer(one, two)
        return layers.l1_regularizer(one)(w), layers.l2_regularizer(two)(w), both(w)

    l1, l2, both = Run(build, X).result
    np.testing.assert_allclose(l1, one * np.abs(X).sum(), rtol=1e-5)
    np.testing.assert_allclose(l2, two * (X**2).sum() / 2, rtol=1e-5)
    np.testing.assert_allclose(both, l1 + l2, rtol=1e-5)


def test_a_scale_of_zero_is_no_regularizer():
    assert layers.l2_regularizer(0.0)(None) is None
    assert layers.sum_regularizer([None]) is None
    only_l1 = layers.l1_l2_regularizer(1.0, 0.0)
    np.testing.assert_allclose(Run(only_l1, X).result, np.abs(X).sum(), rtol=1e-5)


@pytest.mark.parametrize("make", [layers.l1_regularizer, layers.l2_regularizer])
def test_wrong_scales(make):
    with pytest.raises(ValueError, match=r"scale cannot be an integer: 1. Write 1.0"):
        make(1)
    with pytest.raises(ValueError, match=r"less than 0 on a regularizer: scale is -0\.5"):
        make(-0.5)


def test_apply_regularization():
    def build(x):
        layers.legacy_linear(x, 2)
        penalty = layers.apply_regularization(layers.l1_regularizer(2.0))
        return penalty, v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)[0]

    run = Run(build, X)
    expected = 2 * np.abs(run.variables["fully_connected/weights"]).sum()
    np.testing.assert_allclose(run.result, [expected] * 2, rtol=1e-5)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="No weights to regularize"):
        layers.apply_regularization(layers.l1_regularizer(2.0))


def test_embeddings_of_sequences():
    ids = np.array([[3, 1, 1], [0, 2, 3]])

    def build(ids):
        first = layers.embed_sequence(ids, 4, 5, scope="words")
        again = layers.embed_sequence(ids, scope="words", reuse=True, unique=True)
        return first, again, layers.bow_encoder(ids, 4, 5, scope="bow")

    run = Run(build, ids)
    first, again, bow = run.result
    np.testing.assert_array_equal(first, run.variables["words/embeddings"][ids])
    np.testing.assert_array_equal(again, first)
    table = run.variables["bow/embeddings"]
    np.testing.assert_allclose(bow[0], table[[3, 1, 1]].mean(0), rtol=1e-5)
    np.testing.assert_allclose(bow[1], table[[2, 3]].mean(0), rtol=1e-5)  # 0 is padding
    assert run.names("model_variables") == ["words/embeddings", "bow/embeddings"]
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="vocab_size=None and embed_dim=3"),
    ):
        layers.embed_sequence([[1]], embed_dim=3)


def test_sparse_lookups_forgive_empty_rows_and_invalid_ids():
    table = np.arange(8, dtype=np.float32).reshape(4, 2)

    def build(table):
        ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 3, -1], [3, 2])
        return layers.safe_embedding_lookup_sparse(table, ids), layers.safe_embedding_lookup_sparse(
            table, ids, combiner="sum", default_id=2
        )

    mean, total = Run(build, table).result
    np.testing.assert_array_equal(mean, [(table[1] + table[3]) / 2, [0, 0], [0, 0]])
    np.testing.assert_array_equal(total, [table[1] + table[3], table[2], table[2]])


def test_reshaping():
    images = np.arange(48.0, dtype=np.float32).reshape(2, 3, 4, 2)

    def build(x):
        rows = layers.images_to_sequence(x)
        rows.set_shape([4, 6, 2])
        sparse = layers.dense_to_sparse(tf.constant([[5, 0], [0, 7]]))
        return (
            layers.flatten(x),
            rows,
            layers.sequence_to_images(rows, 3),
            layers.one_hot_encoding([2, 0], 3),
            sparse.values,
            layers.maxout(x, 1),
        )

    flat, rows, back, hot, sparse, largest = Run(build, images).result
    np.testing.assert_array_equal(flat, images.reshape(2, 24))
    np.testing.assert_array_equal(rows[:, 4], images[1, 1])
    np.testing.assert_array_equal(back, images)
    np.testing.assert_array_equal(hot, [[0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(sparse, [5, 7])
    np.testing.assert_array_equal(largest, images.max(-1, keepdims=True))


def test_flatten_knows_the_size_or_not():
    with tf.Graph().as_default():
        assert layers.flatten(v1.placeholder(tf.float32, [None, 2, 3])).shape.as_list() == [None, 6]
        assert layers.flatten(v1.placeholder(tf.float32, [4, None, 3])).shape.as_list() == [4, None]


def test_dropout():
    x = np.ones((200, 50), np.float32)

    def build(x):
        rate = v1.placeholder_with_default(0.75, [])
        return (
            layers.dropout(x, rate, seed=1),
            layers.dropout(x, 0.5, is_training=False),
            layers.dropout(x, 0.5, noise_shape=[200, 1], outputs_collections="out"),
        )

    some, none, rows = Run(build, x).result
    np.testing.assert_allclose(np.unique(some), [0, 4 / 3], rtol=1e-6)
    assert 0.73 < (some > 0).mean() < 0.77
    np.testing.assert_array_equal(none, x)
    assert (rows == rows[:, :1]).all()


def test_small_layers():
    def build(x):
        doubled = layers.scale_gradient(x, 3.0)
        return (
            layers.softmax(tf.stack([x, x], 1)),
            layers.unit_norm(x, 1),
            layers.poincare_normalize(10 * x),
            layers.bias_add(x, initializer=v1.ones_initializer()),
            doubled,
            tf.gradients(tf.reduce_sum(doubled), x)[0],
        )

    run = Run(build, X)
    softmax, unit, ball, biased, same, gradient = run.result
    powers = np.exp(X)
    np.testing.assert_allclose(softmax[:, 1], powers / powers.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(ball, axis=1), 1 - 1e-5, rtol=1e-5)
    np.testing.assert_allclose(biased, X + 1, rtol=1e-6)
    np.testing.assert_array_equal(same, X)
    np.testing.assert_array_equal(gradient, np.full_like(X, 3))
    assert run.shapes == {"BiasAdd/biases": (6,)}


def test_spatial_softmax_finds_the_brightest_place():
    image = np.zeros((1, 3, 5, 1), np.float32)
    image[0, 2, 1, 0] = 100
    run = Run(lambda x: layers.spatial_softmax(x, temperature=0.5), image)
    np.testing.assert_allclose(run.result, [[1.0, -0.5]], atol=1e-5)
    assert run.variables == {"spatial_softmax/temperature": 0.5}


def test_summaries():
    def build(x):
        layers.summarize_activation(tf.nn.relu6(x, name="six"))
        layers.legacy_relu(x, 2)
        layers.summarize_weights()
        layers.summarize_activations()
        assert layers.summarize_tensor(tf.constant("text")) is None
        assert layers.summarize_collection("trainable_variables", "no_such") == []
        layers.summarize_tensor(tf.reduce_mean(x, name="m"))
        return v1.summary.merge_all()

    parsed = v1.Summary.FromString(Run(build, X).result)
    values = {each.tag: each for each in parsed.value}
    assert set(values) == {
        "six/zeros",
        "six/sixes",
        "six/activation",
        "fully_connected/weights_summary",
        "fully_connected/Relu/zeros",
        "fully_connected/Relu/activation",
        "m_summary",
    }
    np.testing.assert_allclose(values["six/zeros"].simple_value, (X < 0).mean(), rtol=1e-6)
    assert values["m_summary"].HasField("simple_value")
    assert values["six/activation"].HasField("histo")


def test_feature_columns_go_into_an_input_layer():
    words = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    age = layers.real_valued_column("age", normalizer=lambda x: x / 10)
    ranges = layers.bucketized_column(age, [1.0, 2.0])
    columns = [
        layers.embedding_column(words, 4),
        layers.one_hot_column(layers.weighted_sparse_column(words, "weight")),
        age,
        ranges,
        layers.one_hot_column(
            layers.crossed_column([words, layers.bucketized_column(age, [1.0])], 5)
        ),
        layers.one_hot_column(layers.sparse_column_with_hash_bucket("word", 7)),
        layers.one_hot_column(layers.sparse_column_with_integerized_feature("id", 3)),
    ]

    def build(age):
        features = {
            "age": age,
            "word": tf.constant([["b"], ["x"]]),
            "weight": tf.constant([[2.0], [1.0]]),
            "id": tf.constant([[2], [0]], tf.int64),
        }
        return v1.feature_column.input_layer(features, columns)

    run = Run(build, np.array([[15.0], [5.0]], np.float32))
    # In the order of the columns' names.
    assert run.result.shape == (2, 1 + 3 + 5 + 3 + 4 + 7 + 3)
    table = run.variables["input_layer/word_embedding/weights"]
    assert table.shape == (3, 4)
    assert any(np.allclose(run.result[0, i : i + 4], table[1]) for i in range(22))
    spec = layers.create_feature_spec_for_parsing(columns)
    assert set(spec) == {"age", "word", "weight", "id"}
    with pytest.raises(
        TypeError, match=r"dimension must be an integer, got None.*prices.*pad them"
    ):
        layers.real_valued_column("prices", dimension=None)


def test_words_from_a_file(tmp_path):
    path = tmp_path / "words"
    path.write_text("x\ny\n")
    column = layers.sparse_column_with_vocabulary_file("w", str(path), 2, vocab_size=2)
    run = Run(
        lambda: v1.feature_column.input_layer(
            {"w": tf.constant([["y"], ["z"]])}, [layers.one_hot_column(column)]
        )
    )
    assert run.result.shape == (2, 4)
    assert run.result[0, 1] == 1
    assert run.result[1, 2:].sum() == 1


def test_what_is_missing_says_what_to_use():
    with pytest.raises(AttributeError, match=r"sparse_feature_cross .*Use tf.sparse.cross_hashed"):
        _ = layers.sparse_feature_cross
    assert not hasattr(layers, "no_such_layer")
    assert set(layers.__all__) <= set(dir(layers))
