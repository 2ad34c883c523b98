"""Strings in predictions, on emulated cores and on JAX's devices: those of one device."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.errors import NotCompilableError

fc, v1 = tf.feature_column, tf.compat.v1
RNG = np.random.RandomState(0)
X = RNG.randn(64, 3).astype(np.float32)
WORDS = ["low", "middle", "high"]
Y = np.array(WORDS)[np.abs(X).argmax(1)]


@pytest.fixture(params=["emulated:2", "jax:cpu:2"])
def master(request):
    if request.param.startswith("jax"):
        pytest.importorskip("jax", reason="pip install 'estimator-bridge[jax]'")
    return request.param


def batches(size):
    """The last batch is short."""
    return tf.data.Dataset.from_tensor_slices({"x": X[:21]}).batch(size)


def check_same(actual, expected):
    assert len(actual) == len(expected) == 21
    for one, other in zip(actual, expected):
        assert one.keys() == other.keys()
        for key, value in other.items():
            if np.asarray(value).dtype.kind == "f":
                np.testing.assert_allclose(one[key], value, rtol=1e-5, atol=1e-6)
            else:
                np.testing.assert_array_equal(one[key], value)


def test_a_classifier_names_its_classes(master, tmp_path):
    config = eb.RunConfig(str(tmp_path), tf_random_seed=1)
    one = eb.DNNClassifier(
        [4], [fc.numeric_column("x", [3])], n_classes=3, label_vocabulary=WORDS, config=config
    )
    rows = tf.data.Dataset.from_tensor_slices
    one.train(lambda: rows(({"x": X}, Y)).repeat().batch(16), max_steps=20)
    on_cores = eb.tpu.TPUEstimator.from_estimator(
        one, eb.tpu.RunConfig(master=master, model_dir=str(tmp_path)), predict_batch_size=8
    )
    expected = list(one.predict(lambda: batches(8)))
    check_same(list(on_cores.predict(lambda params: batches(params["batch_size"]))), expected)
    assert {row["classes"][0].decode() for row in expected} > {"low"}


def model_fn(features, labels, mode, params):
    sums = tf.reduce_sum(features["x"], 1)
    signs = tf.cast(sums > 0, tf.int64)
    words = v1.lookup.StaticHashTable(
        v1.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), ["less", "more"]), "?"
    )
    mean = tf.as_string(tf.reduce_mean(features["x"][:, 0]), precision=3)  # of a replica's rows
    predictions = {
        "number": sums,
        "word": words.lookup(signs),
        "with_mean": tf.strings.join([words.lookup(signs), mean], " "),
        "all": tf.tile([["less", "more"]], [tf.shape(sums)[0], 1]),
    }
    return eb.tpu.TPUEstimatorSpec(mode, predictions=predictions)


def test_strings_are_made_of_each_replicas_numbers(master):
    estimator = eb.tpu.TPUEstimator(
        model_fn, config=eb.tpu.RunConfig(master=master), predict_batch_size=8
    )
    rows = list(estimator.predict(lambda params: batches(8).take(2)))
    assert [row["word"] for row in rows] == [b"more" if s > 0 else b"less" for s in X[:16].sum(1)]
    for start in range(0, 16, 4):
        mean = b" %.3f" % X[start : start + 4, 0].mean()
        for row in rows[start : start + 4]:
            assert row["with_mean"] == row["word"] + mean
            assert list(row["all"]) == [b"less", b"more"]


def test_a_hook_reads_them(master):
    seen = []

    class Reads(v1.train.SessionRunHook):
        def before_run(self, run_context):
            return v1.train.SessionRunArgs(self.words)

        def after_run(self, run_context, run_values):
            seen.extend(run_values.results)

    hook = Reads()

    def with_hook(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        hook.words = tf.strings.upper(spec.predictions["word"])
        return spec

    estimator = eb.tpu.TPUEstimator(
        with_hook, config=eb.tpu.RunConfig(master=master), predict_batch_size=8
    )

    def data(params):
        return batches(8).take(2)

    if master.startswith("jax"):  # the step would have to make them
        with pytest.raises(NotCompilableError, match="XLA has no such operation"):
            list(estimator.predict(data, hooks=[hook]))
    else:
        rows = list(estimator.predict(data, hooks=[hook]))
        assert seen[:4] == [row["word"].upper() for row in rows[:4]]


def test_strings_of_the_input_stay_with_the_replica():
    def echo(features, labels, mode, params):
        words = tf.strings.upper(features["word"])
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"word": words})

    estimator = eb.tpu.TPUEstimator(
        echo, config=eb.tpu.RunConfig(master="emulated:2"), predict_batch_size=8
    )
    data = tf.data.Dataset.from_tensor_slices
    rows = list(estimator.predict(lambda params: data({"word": list("abcdefgh") * 2}).batch(8)))
    assert [row["word"] for row in rows] == [c.encode() for c in "ABCDEFGH" * 2]
