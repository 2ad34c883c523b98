"""Cases of tf.contrib.estimator's recurrent estimators, SavedModelEstimator and heads' errors.

Estimators start from a checkpoint, or a SavedModel, with fixed numbers under the names of 1.15.5,
so a case fails if a variable has another name, or a step another result.
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.learn_canned import _fixed
from contrib_goldens.observe import Case, Steps
from tensorflow.contrib.estimator.python.estimator import exporter

__all__ = ["CASES"]

contrib, columns = tf.contrib.estimator, tf.contrib.feature_column
ModeKeys, Sum = tf.estimator.ModeKeys, tf.losses.Reduction.SUM
_LABELS = {2: [[1], [0], [1]], 3: [[2], [0], [1]]}
_STEPS = np.array([1.0, 2.0, 0.5, -1.0], np.float32)
_ROWS = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]], np.float32)
_TARGETS = np.array([[1.0], [0.0], [2.0]], np.float32)


def _words():
    word = columns.sequence_categorical_column_with_identity("word", 5)
    return [
        tf.feature_column.embedding_column(word, 3),
        columns.sequence_numeric_column("size"),
    ]


def _context():
    return [tf.feature_column.numeric_column("age")]


def _features():
    places = [[0, 0], [0, 1], [1, 0], [2, 0]]
    return {
        "word": tf.SparseTensor(places, [1, 4, 2, 0], [3, 2]),
        "size": tf.SparseTensor(places, _STEPS, [3, 2]),
        "age": tf.constant([[1.0], [2.0], [-1.0]]),
        "weights": tf.constant([[1.0], [2.0], [0.5]]),
    }


def _input_fn(classes=2):
    return lambda: (_features(), tf.constant(_LABELS[classes]))


def _trained(make, input_fn=None, size=1):
    """Trains from fixed numbers; returns the losses' sums, metrics, variables and predictions."""
    input_fn = input_fn or _input_fn()

    def build():
        folder = tempfile.mkdtemp()
        estimator = make(folder).train(input_fn, steps=1)
        _fixed(tf.train.latest_checkpoint(folder), folder)
        metrics = []
        for _ in range(3):
            estimator.train(input_fn, steps=1)
            metrics.append(estimator.evaluate(input_fn, steps=1))
        first = estimator.predict(input_fn)
        names = estimator.get_variable_names()
        return {
            "metrics": [
                {name: np.asarray(value, np.float64) for name, value in each.items()}
                for each in metrics
            ],
            "variables": {name: np.asarray(estimator.get_variable_value(name)) for name in names},
            "predictions": [next(first) for _ in range(size)],
        }

    return Case(build, has_gradients=False)


def _classifier(**options):
    return lambda folder: contrib.RNNClassifier(_words(), model_dir=folder, **options)


def _two_layers(mode):
    cells = [tf.nn.rnn_cell.GRUCell(size) for size in (3, 2)]
    if mode == ModeKeys.TRAIN:
        cells = [tf.nn.rnn_cell.ResidualWrapper(cells[0], lambda x, y: 2.0 * y), cells[1]]
    return tf.nn.rnn_cell.MultiRNNCell(cells)


def _estimator(head, **options):
    return lambda folder: contrib.RNNEstimator(head(), _words(), model_dir=folder, **options)


def _graph(mode, classes=2, **options):
    """A model's graph: names, initial values from fixed draws, gradients, summaries."""

    def build():
        tf.train.create_global_step()
        estimator = contrib.RNNClassifier(_words(), _context(), n_classes=classes, **options)
        features, labels = _input_fn(classes)()
        labels = None if mode == ModeKeys.PREDICT else labels
        spec = estimator.model_fn(features, labels, mode, estimator.config)
        if mode == ModeKeys.PREDICT:
            return spec.predictions
        return Steps([[spec.loss], [spec.train_op] if mode == ModeKeys.TRAIN else []])

    return Case(build, has_gradients=mode == ModeKeys.PREDICT)


def _linear_model(features, labels, mode):
    weights = tf.get_variable("weights", initializer=tf.constant([[1.0], [-2.0]]))
    counted = tf.get_variable("counted", initializer=0.0, trainable=False)
    outputs = tf.matmul(features["x"], weights)
    if mode == ModeKeys.PREDICT:
        served = {"serving_default": tf.estimator.export.PredictOutput({"y": outputs})}
        return tf.estimator.EstimatorSpec(mode, {"y": outputs}, export_outputs=served)
    loss = tf.losses.mean_squared_error(labels, outputs)
    odd = tf.equal(tf.train.get_global_step() % 2, 1)
    count = tf.cond(odd, lambda: tf.assign_add(counted, 0.5), lambda: tf.identity(counted))
    _, far = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, 2.0 * y), (0, outputs))
    with tf.control_dependencies([count]):
        optimizer = tf.train.GradientDescentOptimizer(0.05)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"far": tf.metrics.mean(far), "error": tf.metrics.mean_absolute_error(labels, far)}
    return tf.estimator.EstimatorSpec(mode, {"y": outputs}, loss, train_op, metrics)


def _batches():
    return tf.data.Dataset.from_tensors(({"x": _ROWS}, _TARGETS)).repeat(9)


def _rows():
    return tf.data.Dataset.from_tensors({"x": _ROWS})


def _supervised():
    return contrib.build_raw_supervised_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 2])}, tf.placeholder(tf.float32, [None, 1])
    )()


def _receivers():
    features = {"x": tf.placeholder(tf.float32, [None, 2], name="x")}
    return tf.estimator.export.ServingInputReceiver(features, features)


_MAPS = {
    ModeKeys.TRAIN: _supervised,
    ModeKeys.EVAL: _supervised,
    ModeKeys.PREDICT: _receivers,
}


def _exported(modes=tuple(_MAPS)):
    estimator = tf.estimator.Estimator(_linear_model, tempfile.mkdtemp())
    estimator.train(_batches, steps=3)
    maps = {mode: _MAPS[mode] for mode in modes}
    return estimator.experimental_export_all_saved_models(tempfile.mkdtemp(), maps)


def _seen(estimator):
    names = sorted(estimator.get_variable_names())
    metrics = estimator.evaluate(_batches, steps=2)
    return {
        "metrics": {name: np.asarray(value, np.float64) for name, value in metrics.items()},
        "variables": {name: np.asarray(estimator.get_variable_value(name)) for name in names},
        "predictions": list(estimator.predict(_rows)),
    }


def _loaded():
    """A SavedModel: evaluated at once, trained on, exported again, and trained on again."""
    first = contrib.SavedModelEstimator(_exported(), tempfile.mkdtemp())
    at_once = first.evaluate(_batches, steps=1)
    first.train(_batches, steps=4)
    folder = first.experimental_export_all_saved_models(tempfile.mkdtemp(), _MAPS)
    second = contrib.SavedModelEstimator(folder, tempfile.mkdtemp()).train(_batches, steps=2)
    at_once = {name: np.asarray(value, np.float64) for name, value in at_once.items()}
    return {"at once": at_once, "first": _seen(first), "second": _seen(second)}


def _trained_without(mode):
    modes = [each for each in _MAPS if each != mode]
    contrib.SavedModelEstimator(_exported(modes), tempfile.mkdtemp()).train(_batches, steps=1)


def _fed(features, labels):
    estimator = contrib.SavedModelEstimator(_exported(), tempfile.mkdtemp())
    data = ({"x": features}, labels)
    estimator.train(lambda: tf.data.Dataset.from_tensors(data).repeat(), steps=1)


def _steps_exporter(steps, evaluated, pattern="eval/*.tfevents.*"):
    class Recorder:
        model_dir = tempfile.mkdtemp()

        def export_saved_model(self, folder, *args, **options):
            return folder

    strategy = exporter.StepsExporter(steps, event_file_pattern=pattern)
    results = [
        strategy.export(Recorder(), "out", "ckpt", {"global_step": step}, False)
        for step in evaluated
    ]
    return [strategy.name] + [str(result) for result in results]


def _share(labels):
    def build():
        tf.train.create_global_step()
        head = contrib.logistic_regression_head()
        logits = tf.constant([[1.0], [2.0]])
        return head.create_estimator_spec({}, "eval", logits, tf.constant(labels)).loss

    return build


def plain(build):
    return Case(build, has_gradients=False)


def _cells(**options):
    return plain(lambda: contrib.RNNClassifier(_words(), **options).train(_input_fn(), steps=1))


_RECURRENT = {
    "RNNClassifier": _trained(_classifier(num_units=[4])),
    "RNNClassifier: lstm": _trained(
        _classifier(
            context_feature_columns=_context(),
            num_units=[3, 2],
            cell_type="lstm",
            n_classes=3,
            loss_reduction=Sum,
            weight_column="weights",
            optimizer="SGD",
        ),
        _input_fn(3),
        size=3,
    ),
    "RNNClassifier: gru": _trained(
        _classifier(num_units=[3], cell_type="gru", optimizer="RMSProp")
    ),
    "RNNClassifier: own cells": _trained(
        _classifier(rnn_cell_fn=_two_layers, optimizer=tf.train.MomentumOptimizer(0.1, 0.9))
    ),
    "RNNClassifier: train graph": _graph(ModeKeys.TRAIN, num_units=[3, 2], cell_type="lstm"),
    "RNNClassifier: eval graph": _graph(ModeKeys.EVAL, 3, num_units=[4]),
    "RNNClassifier: predict graph": _graph(ModeKeys.PREDICT, num_units=[3], cell_type="gru"),
    "RNNClassifier: cells twice": _cells(num_units=[3], rnn_cell_fn=_two_layers),
    "RNNClassifier: a type and cells": _cells(cell_type="lstm", rnn_cell_fn=_two_layers),
    "RNNClassifier: no cells": _cells(),
    "RNNClassifier: unknown cells": _cells(num_units=[3], cell_type="other"),
    "RNNClassifier: no cells' class": _cells(num_units=[3], cell_type=dict),
    "RNNClassifier: unknown optimizer": _cells(num_units=[3], optimizer="other"),
    "RNNClassifier: a tensor": plain(
        lambda: contrib.RNNClassifier(_words(), num_units=[2]).train(
            lambda: (tf.zeros([2, 2]), tf.constant([[1], [0]])), steps=1
        )
    ),
    "RNNEstimator": _trained(
        _estimator(lambda: contrib.regression_head(label_dimension=2), num_units=[3]),
        lambda: (_features(), tf.constant([[1.0, 0.0], [2.0, 1.0], [0.5, 0.0]])),
    ),
    "RNNEstimator: two heads": _trained(
        _estimator(
            lambda: contrib.multi_head(
                [contrib.regression_head(name="a"), contrib.binary_classification_head(name="b")]
            ),
            context_feature_columns=_context(),
            num_units=[3],
        ),
        lambda: (
            _features(),
            {"a": tf.constant([[1.0], [2.0], [0.5]]), "b": tf.constant(_LABELS[2])},
        ),
    ),
    "RNNEstimator: no head of sequences": plain(
        lambda: contrib.RNNEstimator(
            contrib.regression_head(), _words(), num_units=[2], return_sequences=True
        )
    ),
}
_LOADED = {
    "SavedModelEstimator": plain(_loaded),
    "SavedModelEstimator: no train": plain(lambda: _trained_without(ModeKeys.TRAIN)),
    "SavedModelEstimator: a shape": plain(lambda: _fed(_ROWS[:, 0], _TARGETS)),
    "SavedModelEstimator: a type": plain(lambda: _fed(_ROWS.astype(np.int64), _TARGETS)),
    "SavedModelEstimator: no folder": plain(
        lambda: contrib.SavedModelEstimator(os.path.join(tempfile.mkdtemp(), "none"))
    ),
    "SavedModelEstimator: no labels": plain(
        lambda: contrib.SavedModelEstimator(_exported(), tempfile.mkdtemp()).train(_rows, steps=1)
    ),
}
_OTHERS = {
    "logistic_regression_head: too large": plain(_share([[0.5], [1.2]])),
    "logistic_regression_head: negative": plain(_share([[0.5], [-0.2]])),
    "multi_label_head: one class": plain(lambda: contrib.multi_label_head(1)),
    "multi_label_head: a dict": plain(
        lambda: contrib.multi_label_head(2, label_vocabulary={"a": 0})
    ),
    "StepsExporter": plain(
        lambda: _steps_exporter([1, 2, 3, 6, 7, 10, 12, 25], [5, 10, 15, 20, 25, 30], None)
    ),
    "StepsExporter: no steps": plain(lambda: _steps_exporter([0, -1, 1.5], [])),
    "StepsExporter: no step": plain(
        lambda: exporter.StepsExporter([1]).export(None, "out", "ckpt", {"loss": 1.0}, True)
    ),
}

CASES = {
    "estimator.%s" % name: case
    for table in (_RECURRENT, _LOADED, _OTHERS)
    for name, case in table.items()
}
