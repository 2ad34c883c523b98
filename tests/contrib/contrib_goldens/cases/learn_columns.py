"""Cases of tf.contrib.learn's canned estimators with each kind of feature column.

As in `learn_canned`, they start from a checkpoint with fixed numbers under the names of 1.15.5.
"""

import numpy as np
import tensorflow as tf
from contrib_goldens.cases import learn_canned

__all__ = ["CASES", "ESTIMATORS"]

learn, layers = tf.contrib.learn, tf.contrib.layers


def _columns():
    """Columns of a linear model and of a deep one."""
    word = layers.sparse_column_with_keys("word", ["a", "b", "c"])
    hashed = layers.sparse_column_with_hash_bucket("other", 5, combiner="mean")
    item = layers.sparse_column_with_integerized_feature("item", 4, combiner="sqrtn")
    priced = layers.weighted_sparse_column(item, "price")
    buckets = layers.bucketized_column(layers.real_valued_column("x", dimension=2), [0.0, 0.6])
    crossed = layers.crossed_column([word, hashed], 6, hash_key=7)
    twice = layers.crossed_column([crossed, buckets], 8, hash_key=7, combiner="mean")
    number = layers.real_valued_column("x", dimension=2, normalizer=lambda x: 2.0 * x)
    wide = [number, hashed, priced, buckets, crossed, twice]
    deep = [
        number,
        buckets,
        layers.one_hot_column(item),
        layers.one_hot_column(priced),
        layers.embedding_column(crossed, 2, combiner="sum"),
        layers.embedding_column(priced, 2, combiner="sqrtn"),
    ]
    again = layers.sparse_column_with_keys("again", ["a", "b", "c"])
    return wide, deep + list(layers.shared_embedding_columns([word, again], 3))


def _input_fn(labels):
    def input_fn():
        places = [[0, 0], [1, 0], [1, 1], [3, 0]]
        features = {
            "x": tf.constant([[0.5, -1.0], [2.0, 0.1], [-1.0, 0.3], [0.7, 0.7]]),
            "word": tf.SparseTensor(places, ["a", "c", "a", "z"], [4, 2]),
            "again": tf.SparseTensor(places, ["b", "c", "b", "a"], [4, 2]),
            "other": tf.SparseTensor(places, ["p", "q", "q", "r"], [4, 2]),
            "item": tf.SparseTensor(places, tf.constant([0, 3, 1, 6], tf.int64), [4, 2]),
            "price": tf.SparseTensor(places, [0.5, 2.0, 1.0, 0.1], [4, 2]),
        }
        return features, tf.constant(labels)

    return input_fn


_WIDE, _DEEP = _columns()
_TWO, _NUMBERS = [[1], [0], [0], [1]], [[1.0], [2.0], [0.5], [-1.0]]

# By name: a function of a folder that makes the estimator, its input_fn, the number of classes.
ESTIMATORS = {
    "LinearClassifier": (
        lambda folder: learn.LinearClassifier(_WIDE, folder), _input_fn(_TWO), 2,
    ),
    "LinearRegressor": (
        lambda folder: learn.LinearRegressor(_WIDE, folder), _input_fn(_NUMBERS), 0,
    ),
    "DNNClassifier": (
        lambda folder: learn.DNNClassifier([3], _DEEP, folder), _input_fn(_TWO), 2,
    ),
    "DNNRegressor": (
        lambda folder: learn.DNNRegressor([3], _DEEP, folder), _input_fn(_NUMBERS), 0,
    ),
    "DNNLinearCombinedClassifier": (
        lambda folder: learn.DNNLinearCombinedClassifier(
            folder,
            linear_feature_columns=_WIDE,
            dnn_feature_columns=_DEEP,
            dnn_hidden_units=[3],
            fix_global_step_increment_bug=True,
        ),
        _input_fn(_TWO),
        2,
    ),
}  # fmt: skip


CASES = {
    "learn.%s: columns" % name: learn_canned._trained(make, None, classes, input_fn=input_fn)
    for name, (make, input_fn, classes) in ESTIMATORS.items()
}


def _labels_of_arrays():
    """The shapes in which a model gets arrays of labels."""
    seen = []

    def model_fn(features, labels, mode):
        del mode
        seen.append([features.shape.as_list(), labels.shape.as_list(), labels.dtype.name])
        weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = weight * weight
        return features, loss, tf.assign_add(tf.train.get_global_step(), 1)

    x = np.linspace(-1.0, 1.0, 6).astype(np.float32)
    for labels in (x, x[:, np.newaxis], np.ones([6, 2]), np.ones([6, 1, 3], np.int64)):
        learn.Estimator(model_fn).fit(x, labels, steps=1, batch_size=4)
    learn.Estimator(model_fn).fit(iter(np.ones([3, 2])), iter([[np.float32(1)]] * 3), steps=1)
    return seen


CASES["learn.Estimator: labels"] = learn_canned.Case(_labels_of_arrays, has_gradients=False)
