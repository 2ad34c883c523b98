"""Cases of tf.contrib.learn and tf.contrib.sparsemax.

A case of an estimator trains it, and returns what it gives.
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.observe import Case

__all__ = ["CASES"]

learn, sparsemax = tf.contrib.learn, tf.contrib.sparsemax
_X = np.linspace(0.0, 1.0, 6).astype(np.float32)
_ROWS = np.array([[0.5, 1.5, -1.0], [2.0, 0.0, 0.1], [1.0, 1.0, 1.0]], np.float32)
_TEXTS = ["a b c", "a\nb\nc", "a, b - C3PO", "Don't stop-gap"]


def _model_fn(features, labels, mode):
    weight = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    predictions = tf.matmul(features, weight)
    loss = tf.reduce_mean(tf.square(predictions - tf.reshape(labels, [-1, 1])))
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"largest": tf.contrib.metrics.streaming_mean(tf.reduce_max(predictions))}
    if mode == learn.ModeKeys.TRAIN:
        return predictions, loss, train_op
    return learn.ModelFnOps(mode, predictions, loss, train_op, metrics)


def _trained():
    folder = tempfile.mkdtemp()
    captured = learn.monitors.CaptureVariable("w:0", every_n=3)
    estimator = learn.Estimator(_model_fn, model_dir=folder)
    estimator.fit(_X, 2 * _X, steps=10, batch_size=2, monitors=[captured])
    error = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error)
    metrics = estimator.evaluate(_X, 2 * _X, batch_size=4, metrics={"error": error})
    return {
        "steps": sorted(captured.values),
        "w": np.array([captured.values[step] for step in sorted(captured.values)]).ravel(),
        "metrics": {name: np.asarray(value, np.float64) for name, value in metrics.items()},
        "predictions": np.array(list(estimator.predict(_X))).ravel(),
        "whole": np.asarray(learn.SKCompat(estimator).predict(_X, batch_size=4)).ravel(),
        "names": sorted(estimator.get_variable_names()),
    }


def _stopped():
    """An early stop: the metric gets worse from the first evaluation on."""

    def model_fn(features, labels, mode):
        del labels
        step = tf.train.get_global_step()
        loss = tf.cast(step, tf.float32) + 0.0 * tf.reduce_sum(features)
        return learn.ModelFnOps(mode, features, loss, tf.assign_add(step, 1).op)

    config = learn.RunConfig(save_checkpoints_steps=1)
    estimator = learn.Estimator(model_fn, model_dir=tempfile.mkdtemp(), config=config)

    def input_fn():
        return tf.ones([1, 1]), tf.ones([1])

    monitor = learn.monitors.ValidationMonitor(
        input_fn=input_fn,
        eval_steps=1,
        every_n_steps=2,
        early_stopping_rounds=4,
        check_interval_secs=None,
    )
    estimator.fit(input_fn=input_fn, steps=50, monitors=[monitor])
    return {"stopped": monitor.early_stopped, "is_early": monitor.best_step < 8}


def _vocabulary():
    processor = learn.preprocessing.VocabularyProcessor(5, min_frequency=1)
    rows = np.array(list(processor.fit_transform(_TEXTS)))
    return {
        "rows": rows,
        "size": len(processor.vocabulary_),
        "texts": list(processor.reverse(rows)),
        "again": np.array(list(processor.transform(["c b z"]))),
    }


def _categories():
    rows = [["0", 1.5], [1, "x"], [float("nan"), "x"], ["0", 1.5], [1, "y"]]
    processor = learn.preprocessing.CategoricalProcessor(min_frequency=1)
    return np.array(list(processor.fit_transform(rows)))


def _shared_categories():
    processor = learn.preprocessing.CategoricalProcessor(share=True)
    return np.array(list(processor.fit_transform([["a", "b"], ["b", "c"]])))


def _bytes():
    processor = learn.preprocessing.ByteProcessor(6)
    rows = list(processor.fit_transform(["abc", "longer text", b"\xff"]))
    return {"rows": np.array(rows), "texts": list(processor.reverse(np.array(rows)))}


def _records():
    path = os.path.join(tempfile.mkdtemp(), "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        for number in range(5):
            value = tf.train.Feature(float_list=tf.train.FloatList(value=[number]))
            example = tf.train.Example(features=tf.train.Features(feature={"x": value}))
            writer.write(example.SerializeToString())
    features = learn.read_batch_features(
        path,
        3,
        {"x": tf.FixedLenFeature([1], tf.float32)},
        tf.TFRecordReader,
        randomize_input=False,
        num_epochs=1,
        num_enqueue_threads=1,
    )
    # How full a queue is depends on its threads.
    tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
    return features


def _csv():
    path = os.path.join(tempfile.mkdtemp(), "rows.csv")
    with open(path, "w") as file:
        file.write("2,3,a,b,c\n1,2,3,0\n4.5,5,6,1\n")
    dataset = learn.datasets.base.load_csv_with_header(path, np.int64, np.float64)
    return {"data": dataset.data, "target": dataset.target}


def _points(name, **options):
    def build():
        dataset = learn.datasets.make_dataset(name, 11, seed=7, **options)
        return {"data": dataset.data, "target": dataset.target}

    return Case(build, has_gradients=False)


def _own(predictions, target):
    return tf.reduce_mean(predictions - target)


def _metric_spec():
    spec = learn.MetricSpec(_own, prediction_key="p", label_key="y")
    metric = spec.create_metric_ops(
        {}, {"y": tf.constant([1.0, 2.0])}, {"p": tf.constant([3.0, 5.0])}
    )
    return {"value": metric, "text": str(spec).partition("=")[2]}


def _logits():
    return tf.constant(_ROWS, name="input")


def _sparsemax_loss():
    logits = _logits()
    labels = tf.constant(np.eye(3, dtype=np.float32))
    return sparsemax.sparsemax_loss(logits, sparsemax.sparsemax(logits), labels)


CASES = {
    "learn.ByteProcessor": Case(_bytes, has_gradients=False),
    "learn.CategoricalProcessor": Case(_categories, has_gradients=False),
    "learn.CategoricalProcessor: share": Case(_shared_categories, has_gradients=False),
    "learn.Estimator": Case(_trained, has_gradients=False),
    "learn.MetricSpec": Case(_metric_spec, has_gradients=False),
    "learn.VocabularyProcessor": Case(_vocabulary, has_gradients=False),
    "learn.datasets.make_dataset: circles": _points("circles"),
    "learn.datasets.make_dataset: classes": _points("circles", n_classes=3, factor=0.5),
    "learn.datasets.make_dataset: noise": _points("circles", noise=0.1),
    "learn.datasets.make_dataset: spirals": _points("spirals"),
    "learn.datasets.make_dataset: bernoulli": _points("spirals", mode="bernoulli", n_loops=1),
    "learn.datasets.make_dataset: fermat": _points("spirals", mode="fermat"),
    "learn.load_iris: csv": Case(_csv, has_gradients=False),
    "learn.monitors.ValidationMonitor": Case(_stopped, has_gradients=False),
    "learn.read_batch_features": Case(_records, has_gradients=False, queues=True),
    "sparsemax.sparsemax": lambda: sparsemax.sparsemax(_logits()),
    "sparsemax.sparsemax: infinity": lambda: sparsemax.sparsemax(
        [[0.0, -np.inf, 1.0], [np.inf, 0.0, 0.0], [-np.inf, -np.inf, -np.inf]]
    ),
    "sparsemax.sparsemax_loss": _sparsemax_loss,
}
