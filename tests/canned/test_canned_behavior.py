"""Canned estimators: warm start, dropout, partitions, strategies, kinds of columns, mistakes."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

import estimator_bridge as eb
from estimator_bridge import canned
from estimator_bridge.canned.columns import scope_of, sorted_columns

fc, v1 = tf.feature_column, tf.compat.v1
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(12, 2)
Y = (X.sum(axis=1, keepdims=True) > 0).astype(np.int64)
WORDS = np.array(["a", "b", "c", "d"] * 3)[:, None]
COLUMNS = [fc.numeric_column("x", shape=[2])]


def rows():
    return tf.data.Dataset.from_tensor_slices(({"x": X, "word": WORDS}, Y)).batch(4)


def config(**settings):
    return eb.RunConfig(tf_random_seed=1, **settings)


def values(estimator):
    names = estimator.get_variable_names()
    return {name: estimator.get_variable_value(name) for name in names}


@pytest.mark.parametrize("kind", [eb.DNNClassifier, canned.DNNClassifierV1])
def test_warm_start(kind, tmp_path):
    first = kind([3], COLUMNS, str(tmp_path / "first"), config=config()).train(rows)
    trained = values(first)
    settings = eb.WarmStartSettings(first.model_dir, vars_to_warm_start=".*hiddenlayer_0.*")
    for start, warm in [(first.model_dir, ["hiddenlayer_0", "logits"]), (settings, ["hidden"])]:
        second = kind(
            [3], COLUMNS, config=eb.RunConfig(tf_random_seed=2), warm_start_from=start,
            optimizer=_standing_still(kind),
        )  # fmt: skip
        warm_started = values(second.train(rows, steps=1))
        for name in ("dnn/hiddenlayer_0/kernel", "dnn/logits/kernel"):
            is_warm = any(part in name for part in warm)
            assert np.array_equal(warm_started[name], trained[name]) == is_warm, name


def _standing_still(kind):
    if kind is eb.DNNClassifier:
        return lambda: tf.keras.optimizers.legacy.SGD(0.0)
    return v1.train.GradientDescentOptimizer(0.0)


@pytest.mark.parametrize("kind", [eb.DNNClassifier, canned.DNNClassifierV1])
def test_dropout_is_for_training_alone(kind, tmp_path):
    def train(dropout, folder):
        return kind(
            [32], COLUMNS, str(folder), config=config(), dropout=dropout,
            optimizer=_standing_still(kind), activation_fn=None,
        ).train(rows, steps=1)  # fmt: skip

    def zeros(folder):
        (path,) = tf.io.gfile.glob(f"{folder}/events*")
        events = [v for e in v1.train.summary_iterator(path) for v in e.summary.value]
        tag = "hiddenlayer_0/fraction_of_zero_values"
        return next(v.simple_value for v in events if v.tag.endswith(tag))

    dropping = train(0.5, tmp_path / "half")
    train(None, tmp_path / "none")
    assert zeros(tmp_path / "none") == 0
    assert 0.3 < zeros(tmp_path / "half") < 0.7
    without = kind([32], COLUMNS, dropping.model_dir, activation_fn=None)
    assert dropping.evaluate(rows)["loss"] == pytest.approx(without.evaluate(rows)["loss"])


def test_partitioned_weights_are_whole_in_checkpoints(tmp_path):
    words = fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c", "d"])
    outcomes = []
    for partitioner in (None, v1.fixed_size_partitioner(2)):
        estimator = canned.LinearClassifierV1(
            [words], str(tmp_path / str(len(outcomes))), partitioner=partitioner, config=config()
        ).train(rows)
        chances = [p["logistic"] for p in estimator.predict(rows)]
        outcomes.append((estimator.get_variable_value("linear/linear_model/word/weights"), chances))
    np.testing.assert_allclose(outcomes[0][0], outcomes[1][0], rtol=1e-5)
    np.testing.assert_allclose(outcomes[0][1], outcomes[1][1], rtol=1e-5)
    assert outcomes[0][0].shape == (4, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: eb.DNNClassifier([3], COLUMNS, **k),
        lambda **k: canned.DNNClassifierV1([3], COLUMNS, **k),
        lambda **k: eb.DNNLinearCombinedClassifier(
            linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[3], **k
        ),
        lambda **k: canned.DNNLinearCombinedClassifierV1(
            linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[3], **k
        ),
        eb.BaselineClassifier,
    ],
    ids=["dnn", "dnn_v1", "combined", "combined_v1", "baseline"],
)
def test_two_replicas_learn_what_one_learns_of_both_batches(make, tmp_path):
    def halves():
        return rows().unbatch().batch(2)

    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    one = make(model_dir=str(tmp_path / "one"), config=config()).train(rows, steps=1)
    two = make(model_dir=str(tmp_path / "two"), config=config(train_distribute=strategy))
    two.train(halves, steps=1)
    of_one, of_two = values(one), values(two)
    for name in of_one:
        if re.search("/(part|t)_0/", name):  # nothing is partitioned under a strategy,
            continue  # so slots have other names
        np.testing.assert_allclose(of_two[name], of_one[name], rtol=1e-4, atol=1e-6, err_msg=name)


def test_the_new_optimizers_of_tf_keras_train(tmp_path):
    estimator = eb.DNNLinearCombinedClassifier(
        str(tmp_path), COLUMNS, lambda: tf.keras.optimizers.SGD(0.1), COLUMNS,
        lambda: tf.keras.optimizers.Adam(0.1), [4], config=config(),
    )  # fmt: skip
    before = estimator.train(rows, steps=1).evaluate(rows)["loss"]
    estimator.train(lambda: rows().repeat(5))
    after = estimator.evaluate(rows)
    assert after["loss"] < before
    assert after["global_step"] == 16


def test_a_head_of_choice_and_a_learning_rate_that_decays(tmp_path):
    def optimizer():
        rate = v1.train.exponential_decay(0.1, v1.train.get_global_step(), 2, 0.5)
        return tf.keras.optimizers.legacy.SGD(rate)

    def labelled():
        return rows().map(lambda x, y: (x, tf.concat([y, 1 - y, y], axis=1)))

    estimator = eb.DNNEstimator(
        eb.MultiLabelHead(3), [4], COLUMNS, str(tmp_path), optimizer, config=config()
    )
    results = estimator.train(lambda: labelled().repeat(4)).evaluate(labelled)
    assert results["global_step"] == 12
    assert next(estimator.predict(labelled))["probabilities"].shape == (3,)


def test_logit_fns_in_a_model_fn_of_ones_own(tmp_path):
    def model_fn(features, labels, mode):
        with v1.variable_scope("deep"):
            logit_fn = eb.experimental.dnn_logit_fn_builder(
                1, [4], COLUMNS, tf.nn.relu, None, None, True
            )
            logits = logit_fn(features, mode)
        with v1.variable_scope("wide"):
            logits += eb.experimental.linear_logit_fn_builder(1, COLUMNS)(features)
        head = canned.heads.classifier_head_v1(2, None, None, "weighted_mean")
        return head.create_estimator_spec(
            features, mode, logits, labels=labels, optimizer=v1.train.AdamOptimizer(0.1)
        )

    estimator = eb.Estimator(model_fn, str(tmp_path), config()).train(lambda: rows().repeat(5))
    names = estimator.get_variable_names()
    expected = {"deep/hiddenlayer_0/batchnorm_0/moving_mean", "wide/linear_model/x/weights"}
    assert expected <= set(names)
    moved = estimator.get_variable_value("deep/hiddenlayer_0/batchnorm_0/moving_variance")
    assert not np.array_equal(moved, np.ones(4))


def test_shared_embeddings_of_both_kinds():
    words = [fc.categorical_column_with_hash_bucket(key, 5) for key in ("word", "other")]

    def pairs():
        return rows().map(lambda x, y: ({**x, "other": x["word"]}, y))

    with tf.Graph().as_default():  # eagerly, TensorFlow refuses to make these
        new = fc.shared_embeddings(words, 2)
        old = v1.feature_column.shared_embedding_columns(words, 2)
    variables = eb.DNNClassifier([2], new, config=config()).train(pairs).get_variable_names()
    assert sum("shared_embedding" in name and "Adagrad" not in name for name in variables) == 1
    with pytest.raises(ValueError, match=r"feature column from TensorFlow v1.*shared_embedding"):
        eb.DNNClassifier([2], old, config=config()).train(pairs)
    variables = canned.DNNClassifierV1([2], old, config=config()).train(pairs).get_variable_names()
    table = "dnn/input_from_feature_columns/input_layer/other_word_shared_embedding"
    assert f"{table}/embedding_weights" in variables


def plain_rows():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


@pytest.mark.parametrize(
    ("make", "input_fn", "message"),
    [
        (lambda: eb.DNNClassifier([2], COLUMNS), plain_rows, "features should be a dictionary"),
        (lambda: canned.LinearClassifierV1(COLUMNS), plain_rows, "features should be a dictionary"),
        (
            lambda: eb.DNNClassifier([2], COLUMNS, optimizer=v1.train.AdamOptimizer()),
            rows,
            "not a tf.keras.optimizers.Optimizer instance.*use v1 optimizers",
        ),
        (
            lambda: canned.LinearClassifierV1(COLUMNS, optimizer=tf.keras.optimizers.legacy.Adam()),
            rows,
            "not an Optimizer instance.*use Keras optimizers",
        ),
        (
            lambda: eb.LinearClassifier(COLUMNS, optimizer="adam"),
            rows,
            r"Unsupported optimizer name: adam. Supported names are: \('Adagrad', 'Adam'",
        ),
        (
            lambda: eb.DNNLinearCombinedRegressor(dnn_feature_columns=COLUMNS),
            rows,
            "dnn_hidden_units must be defined",
        ),
        (
            lambda: eb.LinearRegressor([*COLUMNS, fc.numeric_column("x")]),
            rows,
            "Duplicate feature column name found.*'x'",
        ),
        (lambda: eb.LinearRegressor([]), rows, "feature_columns must not be empty"),
        (
            lambda: eb.LinearRegressor([fc.sequence_numeric_column("x")]),
            rows,
            "must be either a DenseColumn or CategoricalColumn",
        ),
    ],
)
def test_mistakes_say_what_was_wanted(make, input_fn, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make().train(input_fn, steps=1)


def test_a_combined_model_without_columns_is_refused_at_once():
    message = "Either linear_feature_columns or dnn_feature_columns must be defined"
    with pytest.raises(ValueError, match=message):
        eb.DNNLinearCombinedClassifier(linear_feature_columns=[], dnn_hidden_units=[2])


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True))
def test_columns_are_in_the_order_of_their_names_and_scopes_are_valid(keys):
    columns = sorted_columns(fc.numeric_column(key) for key in keys)
    assert [column.name for column in columns] == sorted(keys)
    for column in columns:
        scope = scope_of(column)
        assert re.fullmatch(r"[A-Za-z0-9_.\-]+", scope)
        assert len(scope) == len(column.name)
