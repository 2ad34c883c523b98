"""tf.contrib.learn's canned estimators and heads: what contrib_goldens does not record."""

import os

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import layers, learn

v1 = tf.compat.v1
X = np.linspace(-1.0, 1.0, 24).reshape(12, 2).astype(np.float32)
SIGN = (X[:, 0] > 0).astype(np.int64)
COLUMNS = [layers.real_valued_column("", dimension=2)]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("linear"))
    return learn.LinearClassifier(COLUMNS, model_dir=folder).fit(X, SIGN, steps=20)


def test_a_classifier_learns_arrays(classifier):
    metrics = classifier.evaluate(X, SIGN)
    assert metrics["accuracy"] == 1.0
    assert metrics["accuracy/baseline_label_mean"] == 0.5
    assert metrics["global_step"] == 20
    assert list(classifier.predict(X)) == list(SIGN)
    whole = classifier.predict_classes(X, as_iterable=False)
    assert whole.tolist() == SIGN.tolist()
    probabilities = np.array(list(classifier.predict_proba(X, batch_size=5)))
    np.testing.assert_allclose(probabilities.sum(1), 1.0, rtol=1e-6)
    assert (probabilities.argmax(1) == SIGN).all()
    (first, *_) = classifier.predict(X, outputs=["logits"])
    assert list(first) == ["logits"]


def test_names_of_classes_are_labels_and_predictions(tmp_path):
    names = np.array(["low", "middle", "high"])
    labels = names[(X[:, 0] > -0.4).astype(int) + (X[:, 0] > 0.4)]
    deep = learn.DNNClassifier(
        [8],
        COLUMNS,
        model_dir=str(tmp_path),
        n_classes=3,
        label_keys=list(names),
        optimizer=lambda: v1.train.AdamOptimizer(0.1),
        config=learn.RunConfig(tf_random_seed=1),
    )
    deep.fit(X, labels, steps=60)
    assert deep.evaluate(X, labels)["accuracy"] == 1.0
    assert [each.decode() for each in deep.predict_classes(X)] == list(labels)


def test_a_regressor_predicts_several_numbers(tmp_path):
    both = np.stack([X[:, 0], 1.0 - X[:, 1]], 1)
    model = learn.LinearRegressor(
        COLUMNS, model_dir=str(tmp_path), label_dimension=2, optimizer=v1.train.AdamOptimizer(0.2)
    )
    model.fit(X, both, steps=150)
    np.testing.assert_allclose(model.predict_scores(X, as_iterable=False), both, atol=0.05)
    metrics = model.evaluate(X, both, metrics={"mean": lambda scores, _: tf.reduce_mean(scores)})
    assert metrics["mean"] == pytest.approx(both.mean(), abs=0.05)


def test_heads_of_several_objectives_predict_without_a_default(tmp_path):
    head = learn.multi_head(
        [
            learn.multi_class_head(2, head_name="sign", label_name="sign"),
            learn.regression_head(head_name="size", label_name="size"),
        ]
    )
    model = learn.LinearEstimator(COLUMNS, head, model_dir=str(tmp_path))
    model.fit(X, {"sign": SIGN, "size": X[:, 0]}, steps=2)
    (first, *_) = model.predict(X)
    assert {("sign", "classes"), ("size", "scores")} <= set(first)
    with pytest.raises(ValueError, match="name the one for requests without a signature"):
        model.export_savedmodel(str(tmp_path / "export"), serving)


def serving():
    inputs = {"": v1.placeholder(tf.float32, [None, 2], name="x")}
    return learn.InputFnOps(inputs, None, {"x": inputs[""], "unused": v1.placeholder(tf.string)})


def test_a_request_with_several_inputs_gets_all_predictions(classifier, tmp_path):
    folder = os.fsdecode(classifier.export_savedmodel(str(tmp_path), serving))
    with tf.Graph().as_default(), v1.Session() as session:
        model = v1.saved_model.load(session, ["serve"], folder)
        signatures = model.signature_def
        assert signatures["serving_default"].method_name == "tensorflow/serving/predict"
        assert "default_input_alternative:None" in signatures
        outputs = signatures["serving_default"].outputs
        predictions = session.run(
            {key: each.name for key, each in outputs.items()},
            {signatures["serving_default"].inputs["x"].name: X[:2]},
        )
    assert predictions["classes"].tolist() == [[b"0", b"1"]] * 2
    np.testing.assert_allclose(
        predictions["probabilities"], classifier.predict_proba(X[:2], as_iterable=False), rtol=1e-6
    )


def test_export_names_its_successor(classifier):
    with pytest.raises(NotImplementedError, match=r"Use export_savedmodel\('there'"):
        classifier.export("there")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: learn.DNNClassifier([2], COLUMNS, n_classes=1), "n_classes must be > 1"),
        (lambda: learn.LinearClassifier([]), "at least one feature column"),
        (
            learn.DNNLinearCombinedClassifier,
            "Either linear_feature_columns or dnn_feature_columns must be defined",
        ),
        (
            lambda: learn.DNNRegressor([2], COLUMNS, activation_fn="swish").fit(X, SIGN, steps=1),
            "Activation name should be one of .*you provided swish",
        ),
        (
            lambda: learn.LinearRegressor(COLUMNS, optimizer="Best").fit(X, SIGN, steps=1),
            "Optimizer name should be one of .*you provided Best",
        ),
        (
            lambda: learn.LinearRegressor(COLUMNS, weight_column_name="w").fit(
                {"": X}, SIGN, steps=1
            ),
            "Weights w missing from features",
        ),
        (
            lambda: learn.DNNLinearCombinedRegressor(dnn_feature_columns=COLUMNS).fit(
                X, SIGN, steps=1
            ),
            "dnn_hidden_units must be defined",
        ),
        (lambda: learn.multi_class_head(3, loss_fn=lambda labels: labels), "logits not found in"),
        (lambda: learn.multi_head([], loss_weights=[1.0]), "must have same size"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(ValueError, match=message):
        make()
