"""Canned estimators, and others with a plain optimizer, on cores: the numbers of one core."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge import canned
from estimator_bridge.heads import SequentialHeadWrapper

fc, v1 = tf.feature_column, tf.compat.v1
RNG = np.random.RandomState(0)
COUNT = 75
ROWS = {
    "x": RNG.randn(COUNT, 3).astype(np.float32),
    "w": RNG.randint(0, 3, (COUNT, 1)).astype(np.float32),
    "word": np.array(list("abcde"))[RNG.randint(0, 5, (COUNT, 1))],
}
Y = (ROWS["x"].sum(1, keepdims=True) + RNG.randn(COUNT, 1) > 0).astype(np.int64)
NUMBERS = fc.numeric_column("x", [3])
WORDS = fc.categorical_column_with_vocabulary_list("word", list("abcde"))
WIDE, DEEP = [NUMBERS, WORDS], [NUMBERS, fc.indicator_column(WORDS)]


def training():
    rows = ({key: value[:64] for key, value in ROWS.items()}, Y[:64])
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(16, drop_remainder=True)


def batches():
    return tf.data.Dataset.from_tensor_slices((ROWS, Y)).batch(16)


def on_cores(cores, estimator, **settings):
    config = eb.tpu.RunConfig(master=f"emulated:{cores}", tf_random_seed=1)
    convert = eb.tpu.TPUEstimator.from_estimator
    return convert(estimator, config, train_batch_size=16, **settings)


def one(kind, *args, **kwargs):
    return kind(*args, config=eb.RunConfig(tf_random_seed=1), **kwargs)


def new_adam():
    return tf.keras.optimizers.Adam(0.01)


def model_of_ones_own(features, labels, mode, params):
    """For an Estimator: nothing in it knows of replicas."""
    logits = v1.layers.dense(
        features["x"], params["units"], kernel_initializer=v1.constant_initializer(0.2)
    )
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, predictions={"logits": logits})
    loss = v1.losses.sigmoid_cross_entropy(labels, logits, reduction="weighted_sum")
    train_op = v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, v1.train.get_global_step())
    accuracy = v1.metrics.accuracy(labels, logits > 0)
    return eb.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


MODELS = {
    "DNN, V1, sums": lambda: one(canned.DNNClassifierV1, [4], DEEP, weight_column="w"),
    "DNN, V1, means": lambda: one(
        canned.DNNRegressorV1, [4], DEEP, weight_column="w", optimizer="Adam",
        loss_reduction=v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    ),
    "DNN": lambda: one(eb.DNNClassifier, [4], DEEP, weight_column="w", optimizer=new_adam),
    "wide and deep": lambda: one(
        eb.DNNLinearCombinedClassifier, linear_feature_columns=WIDE, dnn_feature_columns=DEEP,
        dnn_hidden_units=[4],
    ),
    "wide and deep, V1": lambda: one(
        canned.DNNLinearCombinedClassifierV1, linear_feature_columns=WIDE,
        dnn_feature_columns=DEEP, dnn_hidden_units=[4],
    ),
    "wide, V1": lambda: one(canned.LinearClassifierV1, WIDE),
    "baseline": lambda: one(eb.BaselineClassifier),
    "one's own": lambda: one(eb.Estimator, model_of_ones_own, params={"units": 1}),
}  # fmt: skip


def outcome(estimator):
    estimator.train(training, steps=5)
    names = estimator.get_variable_names()
    weights = {name: estimator.get_variable_value(name) for name in names}
    return weights, estimator.evaluate(batches), list(estimator.predict(batches))


@pytest.mark.parametrize("name", MODELS)
def test_the_numbers_of_one_core(name):
    make = MODELS[name]
    weights, results, predicted = outcome(make())
    for cores in (1, 2, 8) if name == "DNN, V1, sums" else (2,):
        of_cores = outcome(on_cores(cores, make()))
        assert of_cores[0].keys() == weights.keys()  # a checkpoint of the one is one of the other
        for key, value in weights.items():
            actual = of_cores[0][key]
            np.testing.assert_allclose(actual, value, rtol=1e-5, atol=1e-5, err_msg=key)
        for key, value in results.items():
            np.testing.assert_allclose(of_cores[1][key], value, rtol=2e-5, atol=1e-6, err_msg=key)
        assert len(of_cores[2]) == COUNT
        for row, expected in zip(of_cores[2], predicted):
            assert row.keys() == expected.keys()
            np.testing.assert_allclose(row["logits" if "logits" in row else "predictions"],
                                       expected["logits" if "logits" in row else "predictions"],
                                       atol=1e-5)  # fmt: skip
            assert list(row.get("classes", ())) == list(expected.get("classes", ()))


def test_the_spread_of_cores_is_that_of_rows_in_another_order():
    """Ftrl's and Adagrad's accumulators of 70 differ by 1.5e-5: two neighbours of a float32."""

    def in_another_order():
        rng = np.random.RandomState(1)
        order = np.concatenate([16 * i + rng.permutation(16) for i in range(4)])
        rows = ({key: value[order] for key, value in ROWS.items()}, Y[order])
        return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(16, drop_remainder=True)

    def trained(estimator, input_fn=training):
        estimator.train(input_fn, steps=5)
        names = estimator.get_variable_names()
        return {name: estimator.get_variable_value(name) for name in names}

    make = MODELS["wide and deep, V1"]
    weights = trained(make())
    reordered, of_cores = trained(make(), in_another_order), trained(on_cores(2, make()))
    for name, value in weights.items():
        np.testing.assert_array_max_ulp(of_cores[name], value, 16)
        np.testing.assert_array_max_ulp(reordered[name], value, 16)
    assert any((of_cores[name] != value).any() for name, value in weights.items())


def test_one_goes_on_where_the_other_stopped_and_exports(tmp_path):
    estimator = one(canned.DNNClassifierV1, [4], DEEP, str(tmp_path), optimizer="Adam")
    estimator.train(training, steps=2)
    cores = on_cores(2, estimator)
    assert cores.model_dir == str(tmp_path)
    cores.train(training, steps=2)
    estimator.train(training, steps=1)
    assert int(estimator.get_variable_value("global_step")) == 5
    columns = fc.make_parse_example_spec(DEEP)
    receiver = eb.export.build_parsing_serving_input_receiver_fn(columns)
    path = cores.export_saved_model(str(tmp_path / "export"), receiver)
    loaded = tf.saved_model.load(path.decode())
    assert "predict" in loaded.signatures


def test_an_input_fn_may_take_params():
    def with_params(params):
        assert params["batch_size"] == 16
        return training()

    on_cores(2, one(eb.BaselineClassifier)).train(with_params, steps=1)


def test_without_a_tpu_it_is_the_estimator_that_it_was():
    estimator = on_cores(2, MODELS["one's own"](), use_tpu=False)
    expected, actual = outcome(MODELS["one's own"]())[1], outcome(estimator)[1]
    assert actual == pytest.approx(expected, rel=1e-6)


def test_models_that_cannot_be_joined_are_refused():
    means = eb.experimental.KMeans(2, feature_columns=[NUMBERS])
    with pytest.raises(ValueError, match=r"KMeans trains on one .*of its own batch.*2 cores"):
        on_cores(2, means).train(lambda: training().map(lambda x, y: x), steps=1)
    ascent = eb.LinearClassifier([NUMBERS], optimizer=eb.experimental.LinearSDCA("word"))
    with pytest.raises(ValueError, match=r"LinearSDCA trains on one .*2 cores.*use_tpu=False"):
        on_cores(2, ascent).train(training, steps=1)

    def counting(features, labels, mode):
        step = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=step)

    with pytest.raises(NotImplementedError, match="sums nothing over the 2 replicas"):
        on_cores(2, eb.Estimator(counting)).train(training, steps=1)

    def by_hand(features, labels, mode):
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        step = v1.assign_add(v1.train.get_global_step(), 1)
        moved = weight.assign(tf.reduce_mean(features["x"]))
        return eb.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=tf.group(step, moved))

    with pytest.raises(ValueError, match=r"2 replicas of this TPUEstimator would drift.*'weight'"):
        on_cores(2, eb.Estimator(by_hand)).train(training, steps=1)


def test_a_metric_of_one_batch_alone_is_refused():
    def model_fn(features, labels, mode):
        total = tf.reduce_sum(features["x"])
        return eb.EstimatorSpec(mode, loss=total, eval_metric_ops={"total": (total, tf.no_op())})

    assert one(eb.Estimator, model_fn).evaluate(training, steps=1)["total"] != 0
    with pytest.raises(NotImplementedError, match=r"'total'\] is computed from one batch \(Sum"):
        on_cores(2, eb.Estimator(model_fn)).evaluate(training, steps=1)


def test_kmeans_of_one_core_scores_and_predicts_on_several(tmp_path):
    def points(**kwargs):
        return batches().map(lambda x, y: x)

    kmeans = eb.experimental.KMeans(2, str(tmp_path), ROWS["x"][:2], feature_columns=[NUMBERS])
    on_cores(1, kmeans).train(lambda: training().map(lambda x, y: x), steps=3)
    expected, predicted = kmeans.evaluate(points), list(kmeans.predict(points))
    for cores in (1, 2):
        of_cores = on_cores(cores, kmeans)
        assert of_cores.evaluate(points) == pytest.approx(expected, rel=1e-5)
        for row, original in zip(of_cores.predict(points), predicted):
            np.testing.assert_allclose(row["all_distances"], original["all_distances"], atol=1e-5)


@pytest.mark.parametrize("kind", [eb.LinearRegressor, canned.LinearClassifierV1])
def test_linear_sdca_of_one_core_scores_and_predicts_on_several(kind, tmp_path):
    """The examples' ids, strings, are read in training alone."""
    ids = np.array([f"row {number}" for number in range(COUNT)])

    def rows(is_whole=False):
        return tf.data.Dataset.from_tensor_slices(({**ROWS, "id": ids}, Y)).batch(16, is_whole)

    linear = kind(
        WIDE, str(tmp_path), weight_column="w",
        optimizer=eb.experimental.LinearSDCA("id", symmetric_l2_regularization=4.0),
    )  # fmt: skip
    on_cores(1, linear).train(lambda: rows(is_whole=True).repeat(3))
    assert linear.get_variable_value("linear/linear_model/x/weights").any()
    expected, predicted = linear.evaluate(rows), list(linear.predict(rows))
    key = "logits" if "logits" in predicted[0] else "predictions"
    for cores in (1, 2):
        of_cores = on_cores(cores, linear)
        assert of_cores.evaluate(rows) == pytest.approx(expected, rel=2e-5, abs=1e-6)
        rows_of_cores = list(of_cores.predict(rows))
        assert [row.keys() for row in rows_of_cores] == [row.keys() for row in predicted]
        for row, original in zip(rows_of_cores, predicted, strict=True):
            np.testing.assert_allclose(row[key], original[key], atol=1e-5)


# Of sequences of up to 5 steps.
STEPS = np.array([5, 3, 1, 2])[np.arange(COUNT) % 4]
WITHIN = np.arange(5)[None] < STEPS[:, None]


def test_recurrent_networks_and_sequential_heads_read_dense_sequences():
    """One core's sequences may all be shorter than the batch's longest."""
    rows = {
        "value": np.where(WITHIN, RNG.randn(COUNT, 5), 0).astype(np.float32),
        "id": np.where(WITHIN, RNG.randint(0, 4, (COUNT, 5)), -1),
        "x": ROWS["x"],
    }
    labels = (rows["value"].cumsum(1) > 0).astype(np.int64)
    order = np.concatenate([np.argsort(STEPS[i : i + 16]) + i for i in range(0, 64, 16)])

    def short_ones_first():
        batch = ({key: value[order] for key, value in rows.items()}, labels[order])
        return tf.data.Dataset.from_tensor_slices(batch).batch(16, drop_remainder=True)

    ids = fc.sequence_categorical_column_with_identity("id", 4)
    columns = [
        fc.sequence_numeric_column("value", normalizer_fn=tf.sparse.from_dense),
        fc.embedding_column(ids, 2),
    ]

    def make():
        return one(
            eb.experimental.RNNClassifier, columns, [NUMBERS], [3], optimizer=new_adam,
            return_sequences=True,
        )  # fmt: skip

    def of(estimator):
        estimator.train(short_ones_first)
        names = estimator.get_variable_names()
        weights = {name: estimator.get_variable_value(name) for name in names}
        return weights, estimator.evaluate(short_ones_first)

    weights, results = of(make())
    actual = of(on_cores(2, make()))
    for name, value in weights.items():
        np.testing.assert_allclose(actual[0][name], value, rtol=1e-4, atol=1e-5, err_msg=name)
    assert actual[1] == pytest.approx(results, rel=1e-4)


@pytest.mark.parametrize("of_steps", [False, True])
def test_recurrent_networks_predict_numbers(of_steps):
    """By RegressionHead, of sequences and of each of their steps."""
    rows = {
        "value": np.where(WITHIN, np.random.RandomState(2).randn(COUNT, 5), 0).astype(np.float32),
        "x": ROWS["x"],
        "w": ROWS["w"],
    }
    labels = rows["value"].cumsum(1)[..., None]
    labels = labels if of_steps else labels[:, -1]

    def input_fn(is_whole=False):
        return tf.data.Dataset.from_tensor_slices((rows, labels)).batch(16, is_whole)

    head = eb.RegressionHead(weight_column=None if of_steps else "w")
    column = fc.sequence_numeric_column("value", normalizer_fn=tf.sparse.from_dense)

    def outcome_of(estimator):
        estimator.train(lambda: input_fn(is_whole=True).repeat(2))
        names = estimator.get_variable_names()
        weights = {name: estimator.get_variable_value(name) for name in names}
        return weights, estimator.evaluate(input_fn), list(estimator.predict(input_fn))

    def make():
        return one(
            eb.experimental.RNNEstimator,
            SequentialHeadWrapper(head, "sequence_mask") if of_steps else head,
            [column], [NUMBERS], [3], return_sequences=of_steps, optimizer=new_adam,
        )  # fmt: skip

    weights, results, predicted = outcome_of(make())
    actual = outcome_of(on_cores(2, make()))
    assert actual[0].keys() == weights.keys()
    for name, value in weights.items():
        np.testing.assert_allclose(actual[0][name], value, rtol=1e-4, atol=1e-5, err_msg=name)
    assert actual[1] == pytest.approx(results, rel=1e-4)
    assert [row.keys() for row in actual[2]] == [row.keys() for row in predicted]
    for row, original in zip(actual[2], predicted, strict=True):
        for key, value in original.items():
            np.testing.assert_allclose(row[key], value, rtol=1e-4, atol=1e-5, err_msg=key)


def test_sums_of_a_batch_that_each_core_sees_whole_are_refused():
    config = eb.tpu.RunConfig(
        master="emulated:2",
        tpu_config=eb.tpu.TPUConfig(
            per_host_input_for_training=eb.tpu.InputPipelineConfig.BROADCAST
        ),
    )
    estimator = eb.tpu.TPUEstimator.from_estimator(
        MODELS["one's own"](), config, train_batch_size=16
    )
    with pytest.raises(ValueError, match="2 times too large"):
        estimator.train(training, steps=1)


def test_what_is_no_estimator_is_refused():
    config = eb.tpu.RunConfig(master="emulated:2")
    with pytest.raises(TypeError, match=r"takes an Estimator.*got str"):
        eb.tpu.TPUEstimator.from_estimator("runs/dnn", config)
    estimator = on_cores(2, one(eb.BaselineClassifier))
    with pytest.raises(ValueError, match="got a TPUEstimator"):
        eb.tpu.TPUEstimator.from_estimator(estimator, config)
    with pytest.raises(ValueError, match=r"with type `tpu\.RunConfig`"):
        eb.tpu.TPUEstimator.from_estimator(one(eb.BaselineClassifier))
