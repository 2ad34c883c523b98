"""A model exported in several modes, each used as by a loader."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
FEATURES = {"x": np.array([[1.0], [2.0], [4.0]], np.float32)}
LABELS = np.array([[3.0], [5.0], [6.0]], np.float32)
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


def train_input():
    return tf.data.Dataset.from_tensors((FEATURES, LABELS)).repeat()


def model_fn(features, labels, mode):
    """Starts at y = 2x, and learns by gradient descent."""
    weight = v1.get_variable("weight", [], initializer=v1.constant_initializer(2.0))
    y = weight * features["x"]
    if mode == PREDICT:
        return eb.EstimatorSpec(mode, {"y": y})
    loss = tf.reduce_mean((y - labels) ** 2)
    optimizer = v1.train.MomentumOptimizer(0.01, 0.9)
    metric = tf.keras.metrics.Mean(name="keras_mean")
    metric.update_state(y)
    return eb.EstimatorSpec(
        mode,
        {"y": y},
        loss=loss,
        train_op=optimizer.minimize(loss, v1.train.get_global_step()),
        eval_metric_ops={
            "error": v1.metrics.mean_absolute_error(labels, y),
            "metrics/of_keras": metric,
        },
    )


def supervised():
    return eb.export.build_supervised_input_receiver_fn_from_input_fn(train_input)


def serving():
    return eb.export.build_raw_serving_input_receiver_fn(FEATURES)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    return eb.Estimator(model_fn, str(folder)).train(train_input, steps=3)


@pytest.fixture(scope="module")
def all_modes(trained, tmp_path_factory):
    receivers = {PREDICT: serving(), EVAL: supervised(), TRAIN: supervised()}
    return trained.experimental_export_all_saved_models(
        tmp_path_factory.mktemp("export"), receivers
    ).decode()


class Loaded:
    """One mode of a SavedModel in a session, run by its signature."""

    def __init__(self, path, tag):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.session = v1.Session()
            self.meta = v1.saved_model.load(self.session, [tag], path)

    def __call__(self, signature, outputs, **feeds):
        signature = self.meta.signature_def[signature]
        return self.session.run(
            {name: signature.outputs[name].name for name in outputs},
            {signature.inputs[name].name: value for name, value in feeds.items()},
        )

    def train(self, **feeds):
        (train_op,) = self.graph.get_collection("saved_model_train_op")
        signature = self.meta.signature_def["train"]
        self.session.run(
            train_op, {signature.inputs[name].name: value for name, value in feeds.items()}
        )


def names(path, tag, signature):
    """Returns the inputs and outputs of a signature."""
    signature = Loaded(path, tag).meta.signature_def[signature]
    return sorted(signature.inputs), sorted(signature.outputs), signature.method_name


def test_each_mode_has_its_tag_and_signature(all_modes):
    outputs = [
        "loss",
        "metrics/error/update_op",
        "metrics/error/value",
        "metrics/of_keras/update_op",
        "metrics/of_keras/value",
        "predictions/y",
    ]
    inputs = ["label", "x"]
    assert names(all_modes, "train", "train") == (
        inputs,
        outputs,
        "tensorflow/supervised/training",
    )
    assert names(all_modes, "eval", "eval") == (inputs, outputs, "tensorflow/supervised/eval")
    assert names(all_modes, "serve", "serving_default") == (
        ["x"],
        ["y"],
        "tensorflow/serving/predict",
    )


def test_tensors_have_the_names_that_they_had(all_modes):
    """Those of an export by TensorFlow 2.15.1 of this model; programs feed and fetch by them."""
    signature = Loaded(all_modes, "eval").meta.signature_def["eval"]
    assert {name: info.name for name, info in signature.inputs.items()} == {
        "x": "IteratorGetNext:0",
        "label": "IteratorGetNext_1:0",
    }
    update = signature.outputs["metrics/of_keras/update_op"].name
    assert update == "metric_op_wrapper:0"


def test_modes_share_the_trained_values(trained, all_modes):
    expected = [p["y"] for p in trained.predict(train_input_once)]
    x = FEATURES["x"]
    served = Loaded(all_modes, "serve")("serving_default", ["y"], x=x)["y"]
    evaluated = Loaded(all_modes, "eval")("eval", ["predictions/y"], x=x, label=LABELS)
    np.testing.assert_allclose(served, expected, rtol=1e-6)
    np.testing.assert_allclose(evaluated["predictions/y"], expected, rtol=1e-6)
    saved = tf.train.load_checkpoint(all_modes + "/variables/variables")
    for name in trained.get_variable_names():  # the optimizer's too, which training alone has
        np.testing.assert_array_equal(saved.get_tensor(name), trained.get_variable_value(name))


def train_input_once():
    return tf.data.Dataset.from_tensors((FEATURES, LABELS))


def test_evaluation_counts_examples_from_nothing(trained, all_modes):
    loaded = Loaded(all_modes, "eval")
    for row in range(3):
        part = slice(row, row + 1)
        updates = ["metrics/error/update_op", "metrics/of_keras/update_op"]
        loaded("eval", updates, x=FEATURES["x"][part], label=LABELS[part])
    results = loaded("eval", ["metrics/error/value", "metrics/of_keras/value"])
    expected = trained.evaluate(train_input_once)
    assert results["metrics/error/value"] == pytest.approx(expected["error"], rel=1e-6)
    assert results["metrics/of_keras/value"] == pytest.approx(
        expected["metrics/of_keras"], rel=1e-6
    )


def test_training_goes_on_where_it_was(trained, all_modes, tmp_path):
    loaded = Loaded(all_modes, "train")
    for _ in range(2):
        loaded.train(x=FEATURES["x"], label=LABELS)
    weight = loaded.session.run(loaded.graph.get_collection("trainable_variables")[0])
    longer = eb.Estimator(model_fn, str(tmp_path)).train(train_input, steps=5)
    assert weight == pytest.approx(longer.get_variable_value("weight"), rel=1e-6)


@pytest.mark.parametrize("mode", [TRAIN, EVAL, PREDICT])
def test_one_mode_alone(mode, trained, tmp_path):
    receiver_fn = serving() if mode == PREDICT else supervised()
    path = trained.export_saved_model(tmp_path, receiver_fn, experimental_mode=mode).decode()
    tag = {TRAIN: "train", EVAL: "eval", PREDICT: "serve"}
    key = "y" if mode == PREDICT else "predictions/y"
    signature = "serving_default" if mode == PREDICT else mode
    feeds = {"x": tf.constant(FEATURES["x"])}
    if mode != PREDICT:
        feeds["label"] = tf.constant(LABELS)
    # The only one there is needs no tag; and signatures of all modes are functions in TF2.
    values = tf.saved_model.load(path).signatures[signature](**feeds)
    expected = [p["y"] for p in trained.predict(train_input_once)]
    np.testing.assert_allclose(values[key].numpy(), expected, rtol=1e-6)
    with pytest.raises(RuntimeError, match="could not be found"):
        Loaded(path, next(other for other in tag.values() if other != tag[mode]))


def test_each_modes_saver_and_local_init_op_are_its_own(tmp_path):
    def averaging(features, labels, mode):
        spec = model_fn(features, labels, mode)
        average = v1.train.ExponentialMovingAverage(0.5)
        local = v1.get_local_variable("local", [], initializer=v1.zeros_initializer())
        if mode == TRAIN:
            with tf.control_dependencies([spec.train_op]):
                return spec._replace(train_op=average.apply(v1.trainable_variables()))
        saver = v1.train.Saver(average.variables_to_restore())
        value = 1.0 if mode == PREDICT else 2.0
        scaffold = v1.train.Scaffold(saver=saver, local_init_op=local.assign(value))
        return spec._replace(scaffold=scaffold, predictions={"y": spec.predictions["y"] + local},
                             export_outputs=None)  # fmt: skip

    estimator = eb.Estimator(averaging, str(tmp_path / "model")).train(train_input, steps=3)
    path = estimator.experimental_export_all_saved_models(
        tmp_path / "export", {PREDICT: serving(), EVAL: supervised(), TRAIN: supervised()}
    ).decode()
    plain = estimator.get_variable_value("weight")
    averaged = estimator.get_variable_value("weight/ExponentialMovingAverage")
    assert plain != pytest.approx(averaged, rel=1e-3)
    x = FEATURES["x"]
    got = {
        "train": Loaded(path, "train")("train", ["predictions/y"], x=x, label=LABELS),
        "eval": Loaded(path, "eval")("eval", ["predictions/y"], x=x, label=LABELS),
        "serve": Loaded(path, "serve")("serving_default", ["y"], x=x),
    }
    got = {tag: next(iter(outputs.values())) for tag, outputs in got.items()}
    np.testing.assert_allclose(got["train"], x * plain, rtol=1e-6)
    np.testing.assert_allclose(got["eval"], x * averaged + 2.0, rtol=1e-6)
    np.testing.assert_allclose(got["serve"], x * averaged + 1.0, rtol=1e-6)


def test_a_mode_that_needs_more_than_was_trained(trained, tmp_path):
    def wider(features, labels, mode):
        if mode == PREDICT:
            v1.get_variable("only_here", [])
        return model_fn(features, labels, mode)

    estimator = eb.Estimator(wider, trained.model_dir)
    message = r"Could not load all requested variables.*mode `infer`.*only_here"
    with pytest.raises(ValueError, match=message):
        estimator.experimental_export_all_saved_models(
            tmp_path / "export", {TRAIN: supervised(), PREDICT: serving()}
        )
    assert not (tmp_path / "export").exists()


def test_a_saver_that_wants_more_than_was_trained(trained, tmp_path):
    def renaming(features, labels, mode):
        spec = model_fn(features, labels, mode)
        saver = v1.train.Saver({"renamed": v1.trainable_variables()[0]})
        return spec._replace(scaffold=v1.train.Scaffold(saver=saver))

    estimator = eb.Estimator(renaming, trained.model_dir)
    with pytest.raises(ValueError, match=r"Key renamed not found .* the model's scaffold requires"):
        estimator.export_saved_model(tmp_path, serving())


def test_nested_metrics_cannot_be_exported(trained, tmp_path):
    def nested(features, labels, mode):
        spec = model_fn(features, labels, mode)
        value, update = v1.metrics.mean(labels)
        return spec._replace(eval_metric_ops={"pair": ((value, value), update)})

    estimator = eb.Estimator(nested, trained.model_dir)
    with pytest.raises(ValueError, match="metrics/pair output value must be a Tensor"):
        estimator.export_saved_model(tmp_path, supervised(), experimental_mode=EVAL)


def test_without_labels(tmp_path):
    def unsupervised(features, mode):
        loss = tf.reduce_mean(features["x"])
        step = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss, loss=loss, train_op=step)

    def features_alone():
        return tf.data.Dataset.from_tensors(FEATURES)

    estimator = eb.Estimator(unsupervised, str(tmp_path / "model")).train(features_alone, steps=1)
    receiver_fn = eb.export.build_supervised_input_receiver_fn_from_input_fn(features_alone)
    path = estimator.export_saved_model(tmp_path / "e", receiver_fn, experimental_mode=EVAL)
    assert names(path.decode(), "eval", "eval")[:2] == (["x"], ["loss", "predictions"])


def test_what_cannot_be_exported_is_said_first(trained, tmp_path):
    for missing in (None, ()):
        with pytest.raises(ValueError, match="input_receiver_fn must be defined"):
            trained.export_saved_model(tmp_path, missing)
    with pytest.raises(ValueError, match=r"No valid modes for exporting found.*\['serve'\]"):
        trained.export_saved_model(tmp_path, serving(), experimental_mode="serve")
    with pytest.raises(ValueError, match="Couldn't find trained model at"):
        untrained = eb.Estimator(model_fn, str(tmp_path / "empty"))
        untrained.experimental_export_all_saved_models(tmp_path, {PREDICT: serving()})
