"""tf.contrib.estimator: features in predictions, clipped gradients, exports, hooks."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.legacy.library.estimator import write_dict_to_summary
from estimator_bridge_contrib import estimator as contrib
from estimator_bridge_contrib import predictor
from estimator_bridge_contrib.estimator.exporter import StepsExporter

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
X = np.arange(8, dtype=np.float32).reshape(4, 2)


def batches():
    features = {"x": X, "key": np.array([7, 5, 3, 1])}
    return tf.data.Dataset.from_tensors((features, np.ones([4, 1], np.float32))).repeat(30)


def model_fn(features, labels, mode, params):
    weights = v1.get_variable("weights", [2, 1], initializer=v1.zeros_initializer())
    outputs = tf.matmul(features["x"], weights)
    if mode == eb.ModeKeys.PREDICT:
        exports = {"serving_default": eb.export.PredictOutput({"y": outputs})}
        return eb.EstimatorSpec(mode, predictions={"y": outputs}, export_outputs=exports)
    loss = tf.reduce_mean(tf.square(outputs - labels))
    optimizer = v1.train.MomentumOptimizer(1.0, 0.0)
    if params.get("clip"):
        optimizer = contrib.clip_gradients_by_norm(optimizer, params["clip"])
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, predictions={"y": outputs}, loss=loss, train_op=train_op)


def make(folder, **params):
    return eb.Estimator(model_fn, str(folder), params=params)


def test_gradients_are_clipped_together(tmp_path):
    trained = make(tmp_path, clip=0.5).train(batches, steps=1)
    gradient = -2 * X.mean(axis=0, keepdims=True).T
    expected = -gradient * 0.5 / np.linalg.norm(gradient)
    np.testing.assert_allclose(trained.get_variable_value("weights"), expected, rtol=1e-5)
    assert "weights/Momentum" in trained.get_variable_names()


@pytest.mark.parametrize(
    ("keys", "carried"), [("key", ["key"]), (["x", "key"], ["key", "x"]), (None, ["key", "x"])]
)
def test_features_are_forwarded(keys, carried, tmp_path):
    forwarding = contrib.forward_features(make(tmp_path, clip=None), keys)
    forwarding.train(batches, steps=1)
    predictions = list(forwarding.predict(lambda: batches().take(1)))
    assert sorted(predictions[0]) == sorted([*carried, "y"])
    assert [p["key"] for p in predictions] == [7, 5, 3, 1]


def test_forwarded_features_are_exported(tmp_path):
    forwarding = contrib.forward_features(make(tmp_path / "model", clip=None), "key")
    forwarding.train(batches, steps=1)

    def receivers():
        features = {
            "x": v1.placeholder(tf.float32, [None, 2]),
            "key": v1.placeholder(tf.int64, [None]),
        }
        return eb.export.ServingInputReceiver(features, features)

    predict = predictor.from_saved_model(
        forwarding.export_saved_model(str(tmp_path / "out"), receivers)
    )
    assert predict({"x": X, "key": [4, 3, 2, 1]})["key"].tolist() == [4, 3, 2, 1]


def test_sparse_features_need_a_default(tmp_path):
    def sparse():
        tags = tf.SparseTensor([[0, 1], [1, 0]], [4, 5], [2, 2])
        return tf.data.Dataset.from_tensors({"x": X[:2], "tags": tags})

    base = make(tmp_path, clip=None)
    dense = contrib.forward_features(base, ["tags"], {"tags": -1})
    assert [p["tags"].tolist() for p in dense.predict(sparse)] == [[-1, 4], [5, -1]]
    with pytest.raises(ValueError, match=r"Feature \(tags\) should be a Tensor"):
        next(contrib.forward_features(base, ["tags"]).predict(sparse))
    with pytest.raises(ValueError, match=r"Feature \(x\) is expected to be a `SparseTensor`"):
        next(contrib.forward_features(base, ["x"], {"x": 0}).predict(sparse))


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        (3, TypeError, "keys should be either a string or a list of strings"),
        ([3], TypeError, "All items in the given keys list should be a string"),
        (["z"], ValueError, 'Key "z" is not in features dict'),
    ],
)
def test_keys_are_checked(keys, error, message, tmp_path):
    with pytest.raises(error, match=message):
        next(contrib.forward_features(make(tmp_path), keys).predict(batches))


def test_a_key_of_the_predictions_is_refused(tmp_path):
    def with_y():
        return tf.data.Dataset.from_tensors({"x": X, "y": X})

    with pytest.raises(ValueError, match=r"Cannot forward feature key \(y\)"):
        next(contrib.forward_features(make(tmp_path), "y").predict(with_y))


def test_added_metrics(tmp_path):
    added = contrib.add_metrics(
        make(tmp_path, clip=None), lambda labels: {"mean label": v1.metrics.mean(labels)}
    )
    assert added.evaluate(batches, steps=2)["mean label"] == 1.0


def test_export_of_a_mode(tmp_path):
    trained = make(tmp_path / "model", clip=None).train(batches, steps=1)

    def receivers():
        x, y = v1.placeholder(tf.float32, [None, 2]), v1.placeholder(tf.float32, [None, 1])
        features, labels = {"x": x}, y
        return eb.export.SupervisedInputReceiver(features, labels, {"x": x, "label": y})

    folder = contrib.export_saved_model_for_mode(
        trained, str(tmp_path / "eval"), receivers, mode=eb.ModeKeys.EVAL
    )
    assert v1.saved_model.contains_saved_model(tf.compat.as_str(folder))
    with tf.Graph().as_default(), v1.Session() as session:
        model = v1.saved_model.load(session, ["eval"], tf.compat.as_str(folder))
        assert "loss" in model.signature_def["eval"].outputs


def test_stopping_early(tmp_path):
    config = eb.RunConfig(str(tmp_path), save_checkpoints_steps=1)
    stuck = eb.Estimator(model_fn, config=config, params={"clip": 1e-6})
    hook = contrib.stop_if_no_increase_hook(
        stuck, "loss", 3, run_every_secs=None, run_every_steps=1
    )
    evaluating = contrib.InMemoryEvaluatorHook(stuck, lambda: batches().take(1), every_n_iter=1)
    stuck.evaluate(lambda: batches().take(1))
    stuck.train(batches, hooks=[evaluating, hook], max_steps=25)
    assert stuck.get_variable_value("global_step") < 25


MEAN = v1.losses.Reduction.SUM_OVER_BATCH_SIZE
HEADS = {
    "binary_classification_head": (
        "weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=MEAN, "
        "loss_fn=None, name=None"
    ),
    "logistic_regression_head": "weight_column=None, loss_reduction=MEAN, name=None",
    "multi_class_head": (
        "n_classes, weight_column=None, label_vocabulary=None, loss_reduction=MEAN, loss_fn=None, "
        "name=None"
    ),
    "multi_head": "heads, head_weights=None",
    "multi_label_head": (
        "n_classes, weight_column=None, thresholds=None, label_vocabulary=None, "
        "loss_reduction=MEAN, loss_fn=None, classes_for_class_based_metrics=None, name=None"
    ),
    "poisson_regression_head": (
        "weight_column=None, label_dimension=1, loss_reduction=MEAN, compute_full_loss=True, "
        "name=None"
    ),
    "regression_head": (
        "weight_column=None, label_dimension=1, loss_reduction=MEAN, loss_fn=None, "
        "inverse_link_fn=None, name=None"
    ),
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_have_the_arguments_of_tensorflow_1_15(name):
    parameters = inspect.signature(getattr(contrib, name)).parameters.values()
    shown = ", ".join(str(p.replace(annotation=p.empty)) for p in parameters)
    assert shown.replace(repr(MEAN), "MEAN") == HEADS[name]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("DNNClassifierWithLayerAnnotations", "Write the model as a model_fn for Estimator"),
        ("boosted_trees_classifier_train_in_memory", "Train the trees with the package ydf"),
    ],
)
def test_what_is_missing_says_what_to_use(name, advice):
    with pytest.raises(AttributeError) as error:
        getattr(contrib, name)
    assert f"tf.contrib.estimator.{name} is not supported. {advice}" in str(error.value)


def tower_model_fn(features, labels, mode, params):
    weights = v1.get_variable("weights", [2, 1], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], weights) - labels))
    optimizer = v1.train.MomentumOptimizer(0.01, 0.9)
    if params.get("is_tower", True):
        optimizer = contrib.TowerOptimizer(params.get("optimizer", lambda: optimizer))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    assert optimizer.get_slot_names() == ["momentum"]
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def test_replicate_model_fn_trains_as_the_plain_model(tmp_path):
    trained = []
    for replicate in (contrib.replicate_model_fn, lambda function: function):
        params = {"is_tower": replicate is contrib.replicate_model_fn}
        folder = str(tmp_path / str(len(trained)))
        estimator = eb.Estimator(replicate(tower_model_fn), folder, params=params)
        estimator.train(batches, steps=3)
        trained.append(estimator)
    towers, plain = trained
    assert towers.get_variable_names() == plain.get_variable_names()
    got, expected = (each.get_variable_value("weights") for each in trained)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_replicate_model_fn_wants_a_tower_optimizer():
    function = contrib.replicate_model_fn(tower_model_fn)
    with pytest.raises(ValueError, match="Please wrap optimizers with TowerOptimizer"):
        eb.Estimator(function, params={"is_tower": False}).train(batches, steps=1)
    with pytest.raises(ValueError, match=r"Reduction.NONE is specified"):
        contrib.replicate_model_fn(tower_model_fn, v1.losses.Reduction.NONE)


def test_replicate_model_fn_says_that_devices_are_not_used(caplog):
    with caplog.at_level("WARNING", logger="absl"):
        contrib.replicate_model_fn(tower_model_fn, devices=["/gpu:0", "/gpu:1"])
    assert "runs the model on one device instead of 2" in caplog.text


class Recorder:
    """An estimator whose exports are only counted."""

    def __init__(self, folder):
        self.model_dir, self.exports = str(folder), []

    def export_saved_model(self, folder, *arguments, checkpoint_path, **options):
        self.exports.append(checkpoint_path)
        return folder


def test_steps_of_an_earlier_run_are_not_exported_again(tmp_path, caplog):
    with tf.Graph().as_default():
        for step in (1, 2):
            write_dict_to_summary(str(tmp_path / "eval"), {"loss": 1.0}, step)
    recorder = Recorder(tmp_path)
    exporter = StepsExporter([1, 2, 6, 8])
    with caplog.at_level("WARNING", logger="absl"):
        for step in (3, 7, 8):
            exporter.export(recorder, "out", f"ckpt-{step}", {"global_step": step}, False)
    assert recorder.exports == ["ckpt-7", "ckpt-8"]
    assert "Performing model export at step 7 instead of 6" in caplog.text
