"""Cases of tf.contrib.linear_optimizer, and of tf.contrib.learn's models that it trains.

SDCA solves a batch in a random order, so each batch has one example, or the numbers are those of
the optimum, rounded.
"""

import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case, Steps

__all__ = ["CASES"]

sdca, layers, learn = tf.contrib.linear_optimizer, tf.contrib.layers, tf.contrib.learn
_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")


def _column():
    weighted = sdca.SparseFeatureColumn([0, 0, 1], [5, 6, 2], [1.0, 0.5, 2.0])
    bare = sdca.SparseFeatureColumn([0], [1], None)
    return [
        [each.example_indices, each.feature_indices, each.feature_values]
        for each in (weighted, bare)
    ]


def _problem(parts):
    """The arguments of a model with a column of ids and one of numbers."""

    def weights(name, rows):
        with tf.variable_scope(name):
            return [
                tf.get_variable("part_%d" % part, [size], initializer=tf.zeros_initializer())
                for part, size in enumerate(np.diff([0] + sorted({-(-rows // parts), rows})))
            ]

    examples = {
        "sparse_features": [sdca.SparseFeatureColumn([0, 0], [1, 3], [1.0, 0.5])],
        "dense_features": [tf.constant([[0.5, -1.0, 2.0]])],
        "example_labels": tf.constant([1.0]),
        "example_weights": tf.placeholder_with_default([2.0], [None]),
        "example_ids": tf.constant(["first"]),
    }
    ids, numbers = weights("ids", 5), weights("numbers", 3)
    variables = {
        "sparse_features_weights": [ids if parts > 1 else ids[0]],
        "dense_features_weights": [numbers if parts > 1 else numbers[0]],
    }
    return examples, variables


def _model(loss_type, parts=1, **more):
    def build():
        examples, variables = _problem(parts)
        options = {
            "loss_type": loss_type,
            "symmetric_l1_regularization": 0.1,
            "symmetric_l2_regularization": 0.5,
        }
        options.update(more)
        model = sdca.SdcaModel(examples, variables, options)
        step = model.minimize(tf.train.get_or_create_global_step())
        update = model.update_weights(step)
        seen = [
            model.predictions(examples),
            model.unregularized_loss(examples),
            model.regularized_loss(examples),
        ]
        gap = [model.approximate_duality_gap()]
        return Steps([seen, [update], seen + gap, [update], seen + gap])

    return Case(build, has_gradients=False)


def _refused(change):
    def build():
        examples, variables = _problem(1)
        options = {
            "loss_type": "squared_loss",
            "symmetric_l1_regularization": 0.0,
            "symmetric_l2_regularization": 1.0,
        }
        change(examples, variables, options)
        sdca.SdcaModel(examples, variables, options)

    return build


def _without_labels(examples, variables, options):
    del examples["example_labels"]


def _with_a_tuple(examples, variables, options):
    examples["sparse_features"] = tuple(examples["sparse_features"])


def _negative(examples, variables, options):
    options["symmetric_l1_regularization"] = -1.0


def _of_another_kind(examples, variables, options):
    options["loss_type"] = "other"


def _attributes():
    optimizers = sdca.SDCAOptimizer("id"), sdca.SDCAOptimizer("id", 2, 3, 0.5, 4.0, False, len)
    return [
        [
            each.get_name(),
            each.example_id_column,
            each.num_loss_partitions,
            each.num_table_shards,
            each.symmetric_l1_regularization,
            each.symmetric_l2_regularization,
            each.adaptive,
            each.partitioner is None,
        ]
        for each in optimizers
    ]


def _refused_column():
    column = layers.one_hot_column(layers.sparse_column_with_keys("word", ["a"]))
    weight = tf.get_variable("w", [1])
    features = {column: tf.ones([1, 1]), "id": tf.constant(["first"])}
    sdca.SDCAOptimizer("id").get_train_step(
        {column: [weight]}, None, "squared_loss", features, tf.constant([1.0]), None
    )


def _columns():
    number = layers.real_valued_column("x", dimension=2)
    word = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    hashed = layers.sparse_column_with_hash_bucket("other", 4)
    buckets = layers.bucketized_column(layers.real_valued_column("n", dimension=2), [0.0, 1.0])
    weighted = layers.weighted_sparse_column(
        layers.sparse_column_with_integerized_feature("item", 4), "price"
    )
    crossed = layers.crossed_column([word, hashed], 6, hash_key=7)
    return [number, word, hashed, buckets, weighted, crossed]


def _example(label):
    """An input of one example, so that a step has one result."""

    def input_fn():
        places = [[0, 0], [0, 1]]
        features = {
            "id": tf.constant(["first"]),
            "x": tf.constant([[0.5, -1.0]]),
            "n": tf.constant([[0.5, 3.0]]),
            "word": tf.SparseTensor(places, ["a", "z"], [1, 2]),
            "other": tf.SparseTensor(places, ["p", "p"], [1, 2]),
            "item": tf.SparseTensor(places, tf.constant([2, 3], tf.int64), [1, 2]),
            "price": tf.SparseTensor(places, [0.5, 2.0], [1, 2]),
            "weights": tf.constant([2.0]),
        }
        return features, tf.constant([[label]])

    return input_fn


def _trained(make, label):
    """Trains, resumes from the checkpoint, and returns all that a program sees."""

    def build():
        folder, input_fn = tempfile.mkdtemp(), _example(label)
        make(folder).fit(input_fn=input_fn, steps=1)
        estimator = make(folder).fit(input_fn=input_fn, steps=2)
        metrics = estimator.evaluate(input_fn=input_fn, steps=1)
        predicted = estimator.predict(
            input_fn=input_fn, as_iterable=False, outputs=[_OUTPUTS[type(estimator).__name__]]
        )
        return {
            "metrics": {name: np.asarray(value, np.float64) for name, value in metrics.items()},
            "variables": {
                name: np.asarray(estimator.get_variable_value(name))
                for name in estimator.get_variable_names()
            },
            "predictions": predicted,
        }

    return Case(build, has_gradients=False)


_OUTPUTS = {"LinearClassifier": "probabilities", "LinearRegressor": "scores", "SVM": "logits"}


def _classifier(folder):
    return learn.LinearClassifier(
        _columns(), folder, optimizer=sdca.SDCAOptimizer("id"), weight_column_name="weights"
    )


def _regressor(folder):
    optimizer = sdca.SDCAOptimizer(
        "id",
        num_table_shards=2,
        symmetric_l1_regularization=0.05,
        symmetric_l2_regularization=3.0,
        adaptive=False,
        partitioner=tf.fixed_size_partitioner(2, axis=0),
    )
    return learn.LinearRegressor(_columns(), folder, optimizer=optimizer)


def _svm(folder):
    return learn.SVM("id", _columns(), "weights", folder, l1_regularization=0.05)


def _optimum():
    """The weights of a support vector machine of four examples, after many steps."""
    rows = np.array([[0.5, -1.0], [2.0, 0.1], [-1.0, 0.3], [0.7, 0.7]], np.float32)

    def input_fn():
        features = {"id": tf.constant(["p", "q", "r", "s"]), "x": tf.constant(rows)}
        return features, tf.constant([[1], [1], [0], [0]])

    column = layers.real_valued_column("x", dimension=2)
    estimator = learn.SVM("id", [column], l2_regularization=2.0).fit(input_fn=input_fn, steps=80)
    metrics = estimator.evaluate(input_fn=input_fn, steps=1)
    weights = estimator.get_variable_value("linear/x/weight").ravel().tolist()
    weights += estimator.get_variable_value("linear/bias_weight").tolist()
    classes = estimator.predict_classes(input_fn=input_fn, as_iterable=False)
    return {
        "weights": np.round(weights, 2),
        "loss": np.round(metrics["loss"], 2),
        "accuracy": float(metrics["accuracy"]),
        "classes": classes,
    }


def _no_probabilities():
    estimator = _svm(tempfile.mkdtemp()).fit(input_fn=_example(1), steps=1)
    return list(estimator.predict_proba(input_fn=_example(1)))


_OF_LEARN = {
    "LinearClassifier: SDCA": _trained(_classifier, 1),
    "LinearRegressor: SDCA": _trained(_regressor, 1.5),
    "SVM": _trained(_svm, 0),
    "SVM: optimum": Case(_optimum, has_gradients=False),
    "SVM: kernels": lambda: learn.SVM("id", _columns(), kernels=["linear"]),
    "SVM: no probabilities": _no_probabilities,
    "LinearClassifier: SDCA, bias": lambda: learn.LinearClassifier(
        _columns(), optimizer=sdca.SDCAOptimizer("id"), enable_centered_bias=True
    ),
    "LinearClassifier: SDCA, classes": lambda: learn.LinearClassifier(
        _columns(), optimizer=sdca.SDCAOptimizer("id"), n_classes=3
    ),
    "LinearRegressor: SDCA, labels": lambda: learn.LinearRegressor(
        _columns(), optimizer=sdca.SDCAOptimizer("id"), label_dimension=2
    ),
    "LinearEstimator: SDCA": lambda: learn.LinearEstimator(
        _columns(), learn.regression_head(), optimizer=sdca.SDCAOptimizer("id")
    ),
}
_OF_SDCA = {
    "SparseFeatureColumn": Case(_column, has_gradients=False),
    "SDCAOptimizer": _attributes,
    "SDCAOptimizer: a column of vectors": _refused_column,
    "SdcaModel: parts": _model("squared_loss", parts=2, num_table_shards=3, adaptive=False),
    "SdcaModel: no labels": _refused(_without_labels),
    "SdcaModel: a tuple": _refused(_with_a_tuple),
    "SdcaModel: negative": _refused(_negative),
    "SdcaModel: another loss": _refused(_of_another_kind),
}
_OF_SDCA.update({"SdcaModel: %s" % loss: _model(loss) for loss in _LOSSES})

CASES = {"learn.%s" % name: case for name, case in _OF_LEARN.items()}
CASES.update({"linear_optimizer.%s" % name: case for name, case in _OF_SDCA.items()})
