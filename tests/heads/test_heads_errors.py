"""Errors of heads: the value, the expected values, and the fix."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge import heads

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: eb.MultiClassHead(2), "n_classes must be > 2: 2. BinaryClassHead"),
        (lambda: eb.MultiClassHead(None), "n_classes cannot be None"),
        (lambda: eb.MultiLabelHead(1), "n_classes must be > 1.*Given: 1"),
        (lambda: eb.RegressionHead(label_dimension=0), "Invalid label_dimension 0"),
        (lambda: eb.BinaryClassHead(thresholds=[0.5, 1.0]), "range. Given: 1.0"),
        (lambda: eb.BinaryClassHead(label_vocabulary="ab"), "should be a list or tuple.*'str'"),
        (
            lambda: eb.MultiClassHead(3, label_vocabulary=["a", "b"]),
            r"must be n_classes \(3\). Given: 2",
        ),
        (lambda: eb.BinaryClassHead(loss_reduction="none"), "Invalid loss_reduction: none.*'sum'"),
        (
            lambda: heads.binary_classification_head(loss_reduction="sum_over_batch_size"),
            "Invalid loss_reduction.*'weighted_sum_over_batch_size'",
        ),
        (
            lambda: eb.RegressionHead(loss_fn=lambda labels, outputs: labels),
            "must contain argument: logits",
        ),
        (
            lambda: eb.MultiLabelHead(
                2, label_vocabulary=["a", "b"], classes_for_class_based_metrics=["c"]
            ),
            "'c' is not in list",
        ),
        (
            lambda: eb.MultiLabelHead(2, classes_for_class_based_metrics=["c"]),
            "label_vocabulary must be provided",
        ),
        (lambda: eb.MultiHead([]), "Must specify heads"),
        (lambda: eb.MultiHead([eb.BinaryClassHead()]), "name='clicks'"),
        (
            lambda: eb.MultiHead([eb.BinaryClassHead(name="a")], head_weights=[1.0, 2.0]),
            r"len\(head_weights\): 2",
        ),
    ],
)
def test_what_a_head_cannot_be_made_with(make, message):
    with pytest.raises(ValueError, match=message):
        make()


LOGITS = np.array([[1.0], [2.0]], np.float32)


@pytest.mark.parametrize(
    ("head", "labels", "logits", "message"),
    [
        (eb.BinaryClassHead, None, LOGITS, "You must provide a labels Tensor.*input_fn"),
        (eb.BinaryClassHead, [0, 2], LOGITS, r"Labels must be <= 2 - 1, got \[2.0\]"),
        (eb.BinaryClassHead, [0, -1], LOGITS, r"Labels must be >= 0, got \[-1.0\]"),
        (eb.BinaryClassHead, ["a", "b"], LOGITS, "label_vocabulary="),
        (eb.BinaryClassHead, [0, 1, 0], LOGITS, r"expected_labels_shape: \(2, 1\)"),
        (eb.BinaryClassHead, [[0, 1]] * 2, LOGITS, "Expected labels dimension=1.  Received 2"),
        (
            eb.BinaryClassHead,
            [0, 1],
            [[1.0, 2.0]] * 2,
            r"logits_dimension=1\], got \(2, 2\). Give the last layer",
        ),
        (eb.BinaryClassHead, [0, 1], [1.0, 2.0], "logits must have rank at least 2"),
        (lambda: eb.MultiClassHead(3), [0.0, 1.0], [[1.0, 2.0, 3.0]] * 2, "should be integer"),
        (
            lambda: eb.MultiClassHead(3, label_vocabulary=["a", "b", "c"]),
            ["a", "d"],
            [[1.0, 2.0, 3.0]] * 2,
            r"got \[-1\].*not in label_vocabulary",
        ),
        (
            lambda: eb.MultiClassHead(3, label_vocabulary=["a", "b", "c"]),
            [0, 1],
            [[1.0, 2.0, 3.0]] * 2,
            "should be string if there is a vocabulary",
        ),
        (eb.LogisticRegressionHead, [0.5, 1.5], LOGITS, r"in range \[0, 1\], got \[1.5\]"),
        (
            lambda: eb.MultiLabelHead(2),
            tf.SparseTensor([[0, 0]], [2], [2, 1]),
            [[1.0, 2.0]] * 2,
            r"values in \[0, 2\), got \[2\]",
        ),
        (
            lambda: eb.RegressionHead(loss_fn=lambda labels, logits: labels[:, 0]),
            [0.5, 1.5],
            LOGITS,
            r"loss_shape: \(2,\)",
        ),
    ],
)
def test_what_an_eager_loss_refuses(head, labels, logits, message):
    with pytest.raises(ValueError, match=message):
        head().loss(labels, logits, features={})


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"x": LOGITS}, r"Feature w is not in features.*The features are \['x'\]"),
        (None, "Feature w is not in features"),
        ({"w": ["a", "b"]}, "castable to float"),
        ({"w": np.ones([3])}, r"weights shape must be .*weights_shape: \(3, 1\)"),
        ({"w": tf.SparseTensor([[0]], [1.0], [2])}, "to_dense"),
    ],
)
def test_what_weights_are_refused(features, message):
    with pytest.raises(ValueError, match=message):
        eb.BinaryClassHead(weight_column="w").loss([0, 1], LOGITS, features=features)


def test_a_weight_column_is_a_name_or_a_numeric_column():
    with pytest.raises(TypeError, match="numeric_column"):
        eb.BinaryClassHead(weight_column=3).loss([0, 1], LOGITS, features={"w": [1.0, 1.0]})
    column = tf.feature_column.numeric_column("w", normalizer_fn=lambda w: w * 2)
    features = {"w": tf.constant([1.0, 0.0])}
    weighed = eb.RegressionHead(weight_column=column).loss([0.0, 0.0], LOGITS, features=features)
    assert float(weighed) == 1.0  # 2 * 1**2 / 2


def training(head, **arguments):
    with tf.Graph().as_default():
        v1.train.create_global_step()
        weight = v1.get_variable("weight", [1, 1])
        logits = v1.placeholder(tf.float32, [None, 1]) @ weight
        return head.create_estimator_spec(
            {}, eb.ModeKeys.TRAIN, logits, v1.placeholder(tf.float32, [None]), **arguments
        )


@pytest.mark.parametrize("head", [eb.RegressionHead, heads.regression_head], ids=["V2", "V1"])
def test_training_needs_one_of_two(head):
    with pytest.raises(ValueError, match="cannot both be None in mode TRAIN"):
        training(head())
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="cannot both be set"):
        training(head(), optimizer=optimizer, train_op_fn=lambda loss: loss)


def test_a_v2_head_says_how_a_v1_optimizer_is_used():
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="train_op_fn=lambda loss:"):
        training(eb.RegressionHead(), optimizer=optimizer, trainable_variables=[])


def test_a_v1_head_says_which_optimizers_there_are():
    with pytest.raises(TypeError, match="AdamOptimizer"):
        training(heads.regression_head(), optimizer="Adagrad")


@pytest.mark.parametrize(
    ("make", "feeds", "message"),
    [
        (
            lambda x, y, w: eb.BinaryClassHead().loss(y, x),
            {"x": [[1.0]], "y": [[3.0]]},
            r"<= n_classes - 1.*\[\[3\]\]",
        ),
        (
            lambda x, y, w: eb.RegressionHead().loss(y, x),
            {"x": [[1.0]], "y": [[3.0], [4.0]]},
            r"\[expected_labels_shape: \] \[1 1\] \[labels_shape: \] \[2 1\]",
        ),
        (
            lambda x, y, w: eb.RegressionHead().loss(y, x),
            {"x": [1.0], "y": [[3.0]]},
            r"logits_dimension=1\].*\[1\]",
        ),
        (
            lambda x, y, w: eb.RegressionHead(weight_column="w").loss(y, x, {"w": w}),
            {"x": [[1.0]], "y": [[3.0]], "w": [[1.0], [1.0]]},
            r"weights shape must be .*\[weights_shape: \] \[2 1\]",
        ),
    ],
)
def test_what_is_not_known_before_is_checked_in_each_step(make, feeds, message):
    with tf.Graph().as_default(), v1.Session() as session:
        fed = {name: v1.placeholder(tf.float32) for name in "xyw"}
        loss = make(**fed)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){message}"):
            session.run(loss, {fed[name]: value for name, value in feeds.items()})


def test_heads_of_a_multi_head_are_told_apart():
    head = eb.MultiHead([eb.BinaryClassHead(name="a"), eb.RegressionHead(name="b")])
    labels = {"a": [0, 1], "b": [1.0, 2.0]}
    with pytest.raises(ValueError, match=r"missing values for head\(s\): \['b'\]. There are"):
        head.loss(labels, {"a": LOGITS})
    with pytest.raises(ValueError, match="labels must be a dict"):
        head.loss([0, 1], {"a": LOGITS, "b": LOGITS})
    with pytest.raises(ValueError, match="should equal 2 but is 3"):
        head.loss(labels, np.ones([2, 3], np.float32))
    mixed = [eb.BinaryClassHead(name="a", loss_reduction="sum"), eb.RegressionHead(name="b")]
    with pytest.raises(ValueError, match=r"must be the same for different heads.*'a': 'sum'"):
        _ = eb.MultiHead(mixed).loss_reduction


def test_a_head_of_ones_own_needs_a_way_to_make_specs():
    class Own(eb.Head):
        name = "own"
        logits_dimension = 1
        loss_reduction = "sum"
        loss = predictions = metrics = update_metrics = lambda self, *args, **kwargs: None

    with pytest.raises(NotImplementedError, match="Own has neither"):
        Own().create_estimator_spec({}, eb.ModeKeys.EVAL, LOGITS)

    class OwnSpec(Own):
        def _create_tpu_estimator_spec(self, mode, **arguments):
            return eb.tpu.TPUEstimatorSpec(mode, loss=tf.constant(2.0))

    with tf.Graph().as_default():
        spec = OwnSpec().create_estimator_spec({}, eb.ModeKeys.EVAL, LOGITS)
    assert isinstance(spec, eb.EstimatorSpec)
