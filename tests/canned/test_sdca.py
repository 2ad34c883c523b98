"""LinearSDCA: errors, partitioned weights, tables, and convergence to the optimum."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import canned
from estimator_bridge.canned.sdca_table import ExampleStates

fc, v1 = tf.feature_column, tf.compat.v1
SDCA = eb.experimental.LinearSDCA
X = np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, -1.5], [2.0, 1.0]], np.float32)
Y = np.array([[1.0], [0.5], [-1.0], [2.0]], np.float32)
IDS, WORDS = ["p", "q", "r", "s"], [["a", "b"], ["b", "b"], ["c", "?"], ["d", "a"]]
NUMBERS = [fc.numeric_column("x", shape=[2])]


def rows(labels=Y, **more):
    def input_fn():
        features = {"x": X, "id": IDS, "word": WORDS, **more}
        return tf.data.Dataset.from_tensors((features, labels)).repeat()

    return input_fn


@pytest.mark.parametrize("kind", [eb.LinearRegressor, canned.LinearRegressorV1])
def test_it_finds_the_optimum(kind, tmp_path):
    estimator = kind(NUMBERS, str(tmp_path), optimizer=SDCA("id", symmetric_l2_regularization=2.0))
    estimator.train(rows(), steps=60)
    # The least of the sum of squares / 2 and of |weights|^2, of which the bias is one.
    inputs = np.concatenate([X, np.ones([4, 1])], 1)
    optimum = np.linalg.solve(inputs.T @ inputs + 2.0 * np.eye(3), inputs.T @ Y)[:, 0]
    weights = estimator.get_variable_value("linear/linear_model/x/weights")[:, 0]
    bias = estimator.get_variable_value("linear/linear_model/bias_weights")
    np.testing.assert_allclose([*weights, *bias], optimum, rtol=1e-3)
    assert estimator.get_variable_value("global_step") == 60
    table = estimator.get_variable_value("ShardedMutableHashTable-1-of-1-keys")
    assert np.count_nonzero(table.any(axis=1)) == 4


def test_partitioned_weights_learn_what_whole_ones_learn(tmp_path):
    words = fc.categorical_column_with_vocabulary_list("word", ["a", "b", "c", "d"])
    learned = []
    for number, partitioner in enumerate([None, v1.fixed_size_partitioner(3)]):
        estimator = canned.LinearClassifierV1(
            [words, *NUMBERS], str(tmp_path / str(number)), label_vocabulary=["no", "yes"],
            optimizer=SDCA("id", num_table_shards=2, symmetric_l2_regularization=4.0),
            partitioner=partitioner,
        )  # fmt: skip
        estimator.train(rows([["no"], ["yes"], ["no"], ["yes"]]), steps=60)
        names = [f"linear/linear_model/{name}/weights" for name in ("word", "x")]
        learned.append([estimator.get_variable_value(name) for name in names])
    for whole, parts in zip(*learned):
        np.testing.assert_allclose(whole, parts, rtol=2e-2, atol=2e-3)  # the order is by chance
    assert np.all(learned[0][0] != 0)


def test_l1_regularization_makes_weights_zero(tmp_path):
    strong = SDCA("id", symmetric_l1_regularization=100.0)
    estimator = eb.LinearRegressor(NUMBERS, str(tmp_path), optimizer=strong)
    estimator.train(rows(), steps=3)
    assert not estimator.get_variable_value("linear/linear_model/x/weights").any()
    assert estimator.evaluate(rows(), steps=1)["prediction/mean"] == 0


@pytest.mark.parametrize("shards", [1, 3])
def test_states_are_found_by_fingerprints(shards):
    with tf.Graph().as_default(), v1.Session() as session:
        states = ExampleStates(shards)
        keys = tf.raw_ops.SdcaFprint(input=[f"id {i}" for i in range(7)])
        rows = tf.reshape(tf.range(28.0), [7, 4])
        session.run(states.insert(keys, rows))
        np.testing.assert_array_equal(session.run(states.lookup(keys)), session.run(rows))
        assert session.run(states.size()) == 7
        assert session.run(states.sums()).tolist() == session.run(rows).sum(0).tolist()
        other = tf.raw_ops.SdcaFprint(input=["new"])
        assert session.run(states.lookup(other)).tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda s: SDCA("id", symmetric_l2_regularization=0), "l2_regularization should be posit"),
        (lambda s: SDCA("id", symmetric_l1_regularization=-1), "l1_regularization should be non-"),
        (
            lambda s: eb.LinearClassifier(NUMBERS, n_classes=3, optimizer=s),
            "LinearSDCA cannot be used in a multi-class setting. Got n_classes=3",
        ),
        (
            lambda s: canned.LinearRegressorV1(NUMBERS, label_dimension=2, optimizer=s),
            "LinearSDCA can only be used with one-dimensional label",
        ),
        (
            lambda s: canned.LinearClassifierV1(NUMBERS, sparse_combiner="mean", optimizer=s),
            'sparse_combiner must be "sum" when optimizer is a LinearSDCA object',
        ),
    ],
)
def test_models_that_do_not_suit_are_refused(make, match):
    with pytest.raises(ValueError, match=match):
        make(SDCA("id"))


def test_features_and_heads_that_do_not_suit_are_refused():
    with pytest.raises(KeyError, match=r"by the feature 'name'.*'id', 'word', 'x'"):
        eb.LinearRegressor(NUMBERS, optimizer=SDCA("name")).train(rows(), steps=1)
    square = [fc.numeric_column("x", shape=[1, 2])]
    with pytest.raises(ValueError, match="Column NumericColumn has rank 2, larger than 1"):
        eb.LinearRegressor(square, optimizer=SDCA("id")).train(rows(), steps=1)
    head = eb.PoissonRegressionHead()
    with pytest.raises(ValueError, match=r"Unsupported head type: .*Poisson"):
        eb.LinearEstimator(head, NUMBERS, optimizer=SDCA("id")).train(rows(), steps=1)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    config = eb.RunConfig(train_distribute=strategy)
    with pytest.raises(ValueError, match=r"SDCA trains on one .*drift apart.*of train_distribute"):
        eb.LinearRegressor(NUMBERS, optimizer=SDCA("id"), config=config).train(rows(), steps=1)
