"""Datasets whose elements hold None: model_fn receives it, as under the real tf.estimator."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1
ROWS = np.random.RandomState(0).randn(20, 3).astype(np.float32)


def dataset(element, generated=False):
    """Batches of four rows, each as the function gives them."""

    def input_fn(params=None):
        if generated:
            rows = tf.data.Dataset.from_generator(lambda: iter(ROWS), tf.float32, [3])
        else:
            rows = tf.data.Dataset.from_tensor_slices(ROWS)
        size = params["batch_size"] if params and "batch_size" in params else 4
        return rows.map(element).batch(size, drop_remainder=True)

    return input_fn


def model(seen):
    def model_fn(features, labels, mode, params):
        seen.append((sorted(features) if isinstance(features, dict) else None, labels))
        rows = tf.nest.flatten(features)[0]
        weight = v1.get_variable("weight", [3, 1], initializer=v1.ones_initializer())
        loss = tf.reduce_mean((rows @ weight) ** 2)
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        if params.get("use_tpu"):
            optimizer = eb.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
        spec = eb.tpu.TPUEstimatorSpec if params.get("use_tpu") else eb.EstimatorSpec
        return spec(mode, predictions={"p": rows @ weight}, loss=loss, train_op=train_op)

    return model_fn


def outcome(estimator, input_fn):
    estimator.train(input_fn, steps=3)
    loss = estimator.evaluate(input_fn, steps=2)["loss"]
    predicted = [row["p"] for row in estimator.predict(input_fn)]
    return estimator.get_variable_value("weight"), loss, predicted


ELEMENTS = {
    "no labels": lambda row: (row, None),
    "no feature": lambda row: ({"a": row, "b": None}, row[:1]),
    "neither": lambda row: ({"a": row, "b": None}, None),
    "features in a tuple": lambda row: ((row, row[:1]), None),
    "no label in a dict": lambda row: (row, {"one": row[:1], "two": None}),
}
NO_LABELS = ("no labels", "neither", "features in a tuple")


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("generated", [False, True], ids=["arrays", "generator"])
def test_model_fn_receives_none(name, generated):
    seen, plain = [], []
    actual = outcome(eb.Estimator(model(seen), params={}), dataset(ELEMENTS[name], generated))
    expected = outcome(eb.Estimator(model(plain), params={}), dataset(lambda row: row, generated))
    for mine, theirs in zip(actual, expected):
        np.testing.assert_array_equal(mine, theirs)
    assert len(actual[2]) == 20
    features, labels = seen[0]
    assert features == (["a", "b"] if name in ("no feature", "neither") else None)
    if name in NO_LABELS:
        assert [each[1] for each in seen] == [None] * len(seen)
    elif name == "no feature":
        assert labels.shape.as_list() == [4, 1]
    else:
        assert labels["two"] is None and labels["one"].shape.as_list() == [4, 1]


@pytest.mark.parametrize("name", ELEMENTS)
def test_on_cores(name):
    def on_cores(seen):
        config = eb.tpu.RunConfig(master="emulated:2", tf_random_seed=1)
        sizes = {f"{kind}_batch_size": 4 for kind in ("train", "eval", "predict")}
        return eb.tpu.TPUEstimator(model(seen), config=config, params={}, **sizes)

    seen = []
    actual = outcome(on_cores(seen), dataset(ELEMENTS[name]))
    expected = outcome(on_cores([]), dataset(lambda row: row))
    for mine, theirs in zip(actual, expected):
        np.testing.assert_array_equal(mine, theirs)
    assert (seen[0][1] is None) == (name in NO_LABELS)
