"""A Keras model as an estimator: its weights, its numbers, the original's checkpoints."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

keras = tf.keras
X = np.random.RandomState(1).rand(16, 3).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[np.arange(16) % 2]
LAYERS = ("dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias")
# What TensorFlow 2.15.1 writes for the same model.
BY_NAME = {
    *LAYERS,
    *(
        f"batch_normalization/{part}"
        for part in ["beta", "gamma", "moving_mean", "moving_variance"]
    ),
    *(f"training/RMSprop/{name}/rms" for name in LAYERS),
    *(f"training/RMSprop/batch_normalization/{part}/rms" for part in ("beta", "gamma")),
    *(f"training/RMSprop/{part}" for part in ["decay", "learning_rate", "momentum", "rho"]),
    "global_step",
}


def batches(size=4):
    return lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(size)


def make_model(optimizer="rmsprop", fitted=True):
    keras.backend.clear_session()
    keras.utils.set_random_seed(2)
    # Without seeds of their own, initializers of tf-keras 2.16 and 2.17 fail on Python 3.12.
    first, last = keras.initializers.GlorotUniform(1), keras.initializers.GlorotUniform(2)
    model = keras.Sequential(
        [
            keras.layers.Dense(4, "relu", kernel_initializer=first, input_shape=(3,)),
            keras.layers.BatchNormalization(momentum=0.5),
            keras.layers.Dense(2, "softmax", kernel_initializer=last),
        ]
    )
    model.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"])
    if fitted:
        model.fit(X, Y, batch_size=4, verbose=0)
    return model


@pytest.mark.parametrize("checkpoint_format", ["saver", "checkpoint"])
def test_it_starts_with_all_weights_and_leaves_the_model_as_it_is(checkpoint_format, tmp_path):
    model = make_model()
    before = model.get_weights()
    estimator = eb.keras.model_to_estimator(
        model, model_dir=str(tmp_path), checkpoint_format=checkpoint_format
    )
    loss, accuracy = model.evaluate(X, Y, batch_size=4, verbose=0)
    results = estimator.evaluate(batches())
    assert results["loss"] == pytest.approx(loss, rel=1e-5)
    assert results["accuracy"] == pytest.approx(accuracy)
    predicted = [p["dense_1"] for p in estimator.predict(batches())]
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-5)

    estimator.train(batches(), steps=2)
    for value, original in zip(model.get_weights(), before):
        np.testing.assert_array_equal(value, original)
    model.fit(X, Y, verbose=0)


@pytest.mark.parametrize("checkpoint_format", ["saver", "checkpoint"])
def test_training_is_that_of_keras_and_goes_on_from_checkpoints(checkpoint_format, tmp_path):
    model = make_model(keras.optimizers.legacy.SGD(0.1, momentum=0.9), fitted=False)
    estimator = eb.keras.model_to_estimator(
        model, model_dir=str(tmp_path), checkpoint_format=checkpoint_format
    )
    estimator.train(batches(), steps=2)
    estimator.train(lambda: batches()().skip(2))
    model.fit(X, Y, batch_size=4, shuffle=False, verbose=0)
    predicted = [p["dense_1"] for p in estimator.predict(batches())]
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-4)
    assert estimator.evaluate(batches())["global_step"] == 4


def test_checkpoints_have_the_names_of_the_original(tmp_path):
    estimator = eb.keras.model_to_estimator(
        make_model(), model_dir=str(tmp_path), checkpoint_format="saver"
    )
    estimator.train(batches(), steps=1)
    assert {name for name, _ in tf.train.list_variables(str(tmp_path))} == BY_NAME


def test_keras_reads_a_checkpoint_by_objects(tmp_path):
    model = make_model(keras.optimizers.legacy.RMSprop())
    estimator = eb.keras.model_to_estimator(model, model_dir=str(tmp_path)).train(batches())
    predicted = [p["dense_1"] for p in estimator.predict(batches())]
    model.load_weights(estimator.latest_checkpoint()).expect_partial()
    np.testing.assert_allclose(predicted, model.predict(X, verbose=0), rtol=1e-5)


def test_inputs_outputs_and_weights_by_name(tmp_path):
    one, two = (keras.Input((1,), name=name) for name in ("one", "two"))
    outputs = [
        keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name=name)(x)
        for name, x in (("double", one + two), ("single", two))
    ]
    model = keras.Model([one, two], outputs)
    model.compile("sgd", "mae", metrics={"double": "mae"})
    a, b = (np.float32([[1], [2]]), np.float32([[3], [4]]))
    features = {"one": a, "two": b, "other": b}
    labels = {"single": np.zeros([2, 1], np.float32), "double": np.zeros([2, 1], np.float32)}

    def weighted():
        weighted_features = {"features": features, "sample_weights": {"double": np.float32([1, 0])}}
        return tf.data.Dataset.from_tensors((weighted_features, labels))

    estimator = eb.keras.model_to_estimator(
        model,
        model_dir=str(tmp_path),
        metric_names_map={"double_mae": "error"},
        export_outputs={"single": eb.export.PredictOutput},
        use_v2_estimator=True,
    )
    results = estimator.evaluate(weighted)
    assert results["loss"] == pytest.approx(4 / 2 + 3.5)
    assert results["error"] == pytest.approx(5)
    assert type(estimator) is eb.Estimator

    shapes = {"one": a, "two": b}
    receiver = eb.export.build_raw_serving_input_receiver_fn(shapes)
    folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    signatures = tf.saved_model.load(folder.decode()).signatures
    served = signatures["serving_default"](one=tf.constant(a), two=tf.constant(b))
    np.testing.assert_allclose(served["double"], a + b)
    assert {"serving_default", "single"} <= set(signatures)

    def lacking():
        return tf.data.Dataset.from_tensors(({"one": a}, labels))

    with pytest.raises(eb.keras.FormattedKeyError, match=r"features keys: \['one'\]\n\tMissed"):
        estimator.train(lacking)


class Own(keras.Model):
    """A model whose inputs are not known before it is called."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(2, activation="softmax")

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls()


def test_a_model_of_a_class_of_its_own(tmp_path):
    model = Own()
    model.compile(tf.compat.v1.train.AdamOptimizer(0.1), "categorical_crossentropy")
    model.fit(X, Y, verbose=0)
    with pytest.raises(ValueError, match="Object-based checkpoints are currently not supported"):
        eb.keras.model_to_estimator(model, model_dir=str(tmp_path))
    estimator = eb.keras.model_to_estimator(
        model, model_dir=str(tmp_path), checkpoint_format="saver"
    )
    first = estimator.train(batches(), steps=1).evaluate(batches())["loss"]
    assert estimator.train(lambda: batches()().repeat(5)).evaluate(batches())["loss"] < first
    model.fit(X, Y, verbose=0)


class Doubled(keras.layers.Layer):
    """A layer that Keras does not know."""

    def call(self, inputs):
        return 2 * inputs


def test_a_saved_model_and_its_own_layers(tmp_path):
    dense = keras.layers.Dense(1, input_shape=(3,))
    model = keras.Sequential([dense, Doubled(name="doubled")])
    model.compile("adam", "mse")
    model.save(tmp_path / "model.h5")
    estimator = eb.keras.model_to_estimator(
        keras_model_path=str(tmp_path / "model.h5"),
        custom_objects={"Doubled": Doubled},
        model_dir=str(tmp_path),
    )
    (predicted,) = estimator.predict(lambda: tf.data.Dataset.from_tensors(X[:1]))
    expected = model.predict(X[:1], verbose=0)[0]
    np.testing.assert_allclose(predicted["doubled"], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({}, ValueError, "Either `keras_model` or `keras_model_path`"),
        ({"keras_model_path": "x"}, ValueError, "but not both"),
        ({"checkpoint_format": "h5"}, ValueError, 'must be one of "checkpoint" or "saver"'),
        ({"keras_model": 3}, TypeError, "must be a model of tf_keras"),
    ],
)
def test_wrong_arguments(changes, kind, message, tmp_path):
    model = make_model(fitted=False)
    arguments = {"keras_model": model, "model_dir": str(tmp_path), **changes}
    if not changes:
        del arguments["keras_model"]
    with pytest.raises(kind, match=message):
        eb.keras.model_to_estimator(**arguments)


def test_a_model_that_is_not_compiled(tmp_path):
    with pytest.raises(ValueError, match="has not been compiled yet"):
        eb.keras.model_to_estimator(
            keras.Sequential([keras.layers.Dense(1, input_shape=(1,))]), model_dir=str(tmp_path)
        )


def test_names_of_metrics_are_all_of_them(tmp_path):
    model = make_model(fitted=False)
    for names, message in (
        ({"acc": "x"}, "do not exist in"),
        ({"accuracy": "x", "more": "y"}, "unexpected keys"),
    ):
        estimator = eb.keras.model_to_estimator(
            model, model_dir=str(tmp_path), metric_names_map=names
        )
        with pytest.raises(ValueError, match=f"Invalid `metric_names_map`.*{message}"):
            estimator.evaluate(batches())


def _exported(estimator, name, shape, tmp_path):
    def receiver():
        placeholder = tf.compat.v1.placeholder(tf.float32, shape)
        return eb.export.ServingInputReceiver({name: placeholder}, {"x": placeholder})

    folder = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    return tf.saved_model.load(folder.decode()).signatures["serving_default"]


@pytest.mark.parametrize("shape", [(None, 7, 2), (None, None, 2), (3, 5, 2)])
def test_it_is_served_for_sequences_of_another_length_than_it_was_trained_on(shape, tmp_path):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.GlobalAveragePooling1D(input_shape=(None, 2)),
            layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    model.compile("sgd", "mse")
    estimator = eb.keras.model_to_estimator(model, model_dir=str(tmp_path))
    row = {model.input_names[0]: np.ones([3, 4, 2], np.float32)}, np.full([3, 1], 2, np.float32)
    estimator.train(lambda: tf.data.Dataset.from_tensors(row), steps=1)
    served = _exported(estimator, model.input_names[0], shape, tmp_path)
    sequences = np.arange(42, dtype=np.float32).reshape(3, 7, 2)[:, : shape[1] or 7]
    predictions = next(iter(served(x=tf.constant(sequences)).values()))
    np.testing.assert_allclose(predictions, sequences.mean(1).sum(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("mode", ["train", "evaluate", "predict", "export"])
def test_features_that_its_weights_do_not_fit(mode, tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), name="d")])
    model.compile("sgd", "mse")
    estimator = eb.keras.model_to_estimator(model, model_dir=str(tmp_path))
    name = model.input_names[0]

    def rows():
        row = {name: np.ones([4, 3], np.float32)}, np.ones([4, 1], np.float32)
        return tf.data.Dataset.from_tensors(row)

    calls = {
        "train": lambda: estimator.train(rows, steps=1),
        "evaluate": lambda: estimator.evaluate(rows, steps=1),
        "predict": lambda: next(estimator.predict(rows)),
        "export": lambda: _exported(estimator, name, [None, 3], tmp_path),
    }
    with pytest.raises(
        ValueError, match=r"does not fit features of shape \((4|None), 3\)"
    ) as error:
        calls[mode]()
    assert "its weight 'd/kernel:0' would have shape (3, 1), but it has (2, 1)" in str(error.value)
    assert str(error.value).endswith("Give it features of shape (None, 2).")
