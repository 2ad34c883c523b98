"""RNN, k-means and SDCA estimators on small data, for the real tf.estimator and for the bridge.

Their first weights do not follow from the graph's seed. So the real one trains a little first; what
it has then is part of the golden, and both sides go on from there, by a checkpoint made of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from goldens.canned.canned_cases import _plain_values, _scalars, _signatures_of
from goldens.canned.canned_cases import _variables as _all_variables

__all__ = ["CASES", "RACES", "observe", "start"]

STEPS, BATCH = 4, 3
_fc, _v1 = tf.feature_column, tf.compat.v1
WORDS = [["a", "b"], ["c"], ["a", "c", "d"], ["e", "f"], ["b"], ["d", "d", "a", "b"]]
NUMBERS = np.array([1.5, 0.5, -1.0, 2.0, 0.0, 1.0, -0.5, 0.25, 1.0, 3.0, -2.0, 0.5, 1.25])


def _ragged(values: Any, lengths: list[int]) -> tf.SparseTensor:
    indices = [[row, step] for row, count in enumerate(lengths) for step in range(count)]
    return tf.SparseTensor(indices, values, [len(lengths), max(lengths)])


def _sequences(labels: str) -> Callable[[], Any]:
    """An input_fn of two batches: 'word' and 'number' of each step, 'context' and 'importance'."""

    def input_fn():
        flat = [word for words in WORDS for word in words]
        lengths = [len(words) for words in WORDS]
        batches = []
        for first in range(0, len(WORDS), BATCH):
            part = lengths[first : first + BATCH]
            begin, count = sum(lengths[:first]), sum(part)
            steps = slice(begin, begin + count)
            features = {
                "word": _ragged(flat[steps], part),
                "number": _ragged(NUMBERS[steps].astype(np.float32), part),
                "weight": _ragged(np.linspace(0.5, 2, count).astype(np.float32), part),
                "context": tf.constant([[0.1 * (first + i)] for i in range(BATCH)]),
                "importance": tf.constant([[1.0 + i] for i in range(BATCH)]),
            }
            of_steps = (NUMBERS[steps] > 0.5).astype(np.int64)
            label = {
                "two": tf.constant([[0], [1], [1]]),
                "three": tf.constant([[2], [1], [0]]),
                "real": tf.constant([[1.0], [0.5], [-1.0]]),
                "steps": _ragged(of_steps, part),
            }[labels]
            batches.append((features, label))
        first_batch, second = (tf.data.Dataset.from_tensors(batch) for batch in batches)
        return first_batch.concatenate(second)

    return input_fn


def _sequence_columns():
    words = _fc.sequence_categorical_column_with_hash_bucket("word", 5)
    return [_fc.embedding_column(words, 2), _fc.sequence_numeric_column("number")]


def _context():
    return [_fc.numeric_column("context")]


def _classifier(labels: str, **arguments: Any):
    def make(est, **kwargs):
        return est.experimental.RNNClassifier(_sequence_columns(), **arguments, **kwargs)

    return make, _sequences(labels)


def _two_cells():
    layers = tf.keras.layers
    return [layers.GRUCell(2), layers.SimpleRNNCell(2, activation="relu")]


def _rnn_estimator(est, **kwargs):
    return est.experimental.RNNEstimator(
        est.RegressionHead(name="head"), _sequence_columns(), _context(), rnn_cell_fn=_two_cells,
        optimizer=lambda: tf.keras.optimizers.legacy.Adam(0.05), **kwargs,
    )  # fmt: skip


def _points(batch: int, keyed: bool = False) -> Callable[[], Any]:
    """An input_fn of 24 points around three, in batches."""

    def input_fn():
        random = np.random.RandomState(4)
        centers = np.array([[0, 4], [5, 1], [-3, -3]])[random.randint(0, 3, 24)]
        points = (centers + random.normal(size=[24, 2])).astype(np.float32)
        features = {"x": points[:, :1], "y": points[:, 1:]} if keyed else points
        return tf.data.Dataset.from_tensor_slices(features).batch(batch)

    return input_fn


def _clusters(number: int = 3, **arguments: Any) -> Callable[..., Any]:
    return lambda est, **kwargs: est.experimental.KMeans(number, **arguments, **kwargs)


def _some(inputs, count):
    return inputs[0][: tf.minimum(count, 1)]


_KMEANS = {
    "kmeans_full": (
        _clusters(initial_clusters="kmeans_plus_plus", seed=7, use_mini_batch=False),
        _points(24),
    ),
    "kmeans_cosine": (
        _clusters(initial_clusters="kmeans_plus_plus", distance_metric="cosine", seed=7),
        _points(8, keyed=True),
    ),
    "kmeans_slow": (
        _clusters(9, seed=3, mini_batch_steps_per_iteration=3,
                  feature_columns=[_fc.numeric_column("y"), _fc.numeric_column("x")]),
        _points(4, keyed=True),
    ),
    "kmeans_slow_cosine": (
        _clusters(initial_clusters=_some, distance_metric="cosine",
                  mini_batch_steps_per_iteration=2),
        _points(6),
    ),
    "kmeans_given": (
        _clusters(initial_clusters=np.array([[0, 1], [1, 0]], np.float32), use_mini_batch=False,
                  relative_tolerance=0.3),
        _points(24),
    ),
}  # fmt: skip


def _people(label: str, rows: int = 1) -> Callable[[], Any]:
    """An input_fn of 6 people, one a batch: SDCA takes a batch's examples in an order by chance."""

    def input_fn():
        random = np.random.RandomState(8)
        features = {
            "id": np.array([f"person {i}" for i in range(6)]),
            "age": random.uniform(0, 1, [6, 1]).astype(np.float32),
            "size": random.normal(size=[6, 2]).astype(np.float32),
            "city": np.array(
                [["a", "b"], ["b", "b"], ["z", "a"], ["c", ""], ["a", ""], ["b", "c"]]
            ),
            "importance": random.uniform(0.5, 2, [6, 1]).astype(np.float32),
        }
        labels = {
            "two": np.array([[0], [1], [1], [0], [1], [0]]),
            "real": random.normal(size=[6, 1]).astype(np.float32),
        }
        data = tf.data.Dataset.from_tensor_slices((features, labels[label]))
        return data.batch(rows)

    return input_fn


def _linear(kind: str, l1: float, shards: int | None = None, **arguments: Any):
    def make(est, **kwargs):
        city = _fc.categorical_column_with_vocabulary_list("city", ["a", "b", "c"])
        age = _fc.numeric_column("age")
        columns = [age, _fc.numeric_column("size", shape=[2]), city]
        columns.append(_fc.bucketized_column(age, [0.3, 0.6]))
        optimizer = est.experimental.LinearSDCA(
            "id", num_table_shards=shards, symmetric_l1_regularization=l1,
            symmetric_l2_regularization=2.0,
        )  # fmt: skip
        return getattr(est, kind)(columns, optimizer=optimizer, **arguments, **kwargs)

    return make


_SDCA = {
    "sdca_two": ("v2", _linear("LinearClassifier", 0.0), _people("two")),
    "sdca_two_v1": ("v1", _linear("LinearClassifier", 0.1, 2), _people("two")),
    "sdca_real": (
        "v2", _linear("LinearRegressor", 0.05, weight_column="importance"), _people("real"),
    ),
    "sdca_real_v1": (
        "v1", _linear("LinearRegressor", 0.0, weight_column="importance"), _people("real"),
    ),
}  # fmt: skip

# By name: the face, a function of it that makes the estimator, and the input_fn.
CASES: dict[str, tuple[str, Callable[..., Any], Callable[[], Any]]] = {
    "rnn_default": ("v2", *_classifier("two", units=[3], context_feature_columns=_context())),
    "rnn_lstm_layer": ("v2", *_classifier("two", units=3, cell_type="lstm")),
    "rnn_lstm_cells": (
        "v2",
        *_classifier("three", units=[3, 2], cell_type="lstm", n_classes=3,
                     weight_column="importance"),
    ),
    "rnn_gru_steps": (
        "v2",
        *_classifier("steps", units=[2], cell_type="gru", return_sequences=True,
                     weight_column="weight", optimizer="SGD", loss_reduction="sum"),
    ),
    "rnn_estimator": ("v2", _rnn_estimator, _sequences("real")),
    **{name: ("v1", *case) for name, case in _KMEANS.items()},
    **_SDCA,
}  # fmt: skip
# What the original's mini-batches come to was a race: whether a step reads its counts of points
# before they are updated, as the formula has it, or after.
RACES = {
    "kmeans_cosine": "clusters",
    "kmeans_slow": "clusters_updated",
    "kmeans_slow_cosine": "clusters_updated",
}
EXPORTED = ("rnn_default", "rnn_gru_steps", "kmeans_full", "kmeans_cosine")


def _build(est: Any, case: str, folder: str) -> Any:
    config = est.RunConfig(tf_random_seed=5, save_summary_steps=1, model_dir=folder)
    return CASES[case][1](est, config=config)


def start(est: Any, case: str) -> dict[str, Any]:
    """Returns the variables of a case after two steps: values and types by name."""
    with tempfile.TemporaryDirectory() as folder:
        estimator = _build(est, case, folder)
        estimator.train(lambda: CASES[case][2]().repeat(), steps=2)
        types = tf.train.load_checkpoint(folder).get_variable_to_dtype_map()
        return {name: [types[name].name, v] for name, v in _variables(estimator).items()}


def observe(est: Any, case: str, begin: dict[str, Any]) -> dict[str, Any]:
    """All that a user sees of a case that goes on from values of its variables."""
    input_fn = CASES[case][2]
    observed: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        _write_checkpoint(folder, begin)
        estimator = _build(est, case, folder)
        if case not in RACES:
            estimator.train(lambda: input_fn().repeat(), steps=STEPS)
            observed["weights"] = _variables(estimator)
            observed["scalars"] = _scalars(folder)
            if "sdca" in case and "average_loss" in observed["scalars"]:
                observed["scalars"]["average_loss"] = []  # before or after the update: a race, too
        observed["evaluation"] = {k: float(v) for k, v in estimator.evaluate(input_fn).items()}
        observed["predictions"] = [_plain_values(p) for p in estimator.predict(input_fn)]
        if case in EXPORTED:
            path = estimator.export_saved_model(os.path.join(folder, "export"), _serving(est, case))
            observed["signatures"] = _signatures_of(os.fsdecode(path))
        if case in RACES:
            estimator.train(input_fn, steps=1)
            observed["weights"] = {
                k: v for k, v in _variables(estimator).items() if k != RACES[case]
            }
            observed["scalars"] = _scalars(folder)
    return observed


def _serving(est: Any, case: str) -> Any:
    if case == "kmeans_full":

        def receive():
            points = _v1.placeholder(tf.float32, [None, 2], "points")
            return est.export.TensorServingInputReceiver(points, points)

        return receive
    columns = [*_sequence_columns(), *_context()]
    if case == "kmeans_cosine":
        columns = [_fc.numeric_column("x"), _fc.numeric_column("y")]
    spec = _fc.make_parse_example_spec(columns)
    return est.export.build_parsing_serving_input_receiver_fn(spec)


def _variables(estimator: Any) -> dict[str, Any]:
    """Values by name; those of tables, which are nearly empty, by how many rows, and the filled."""
    variables = _all_variables(estimator)
    for name, value in variables.items():
        if "HashTable" in name:
            filled = {str(row): numbers for row, numbers in enumerate(value) if any(numbers)}
            variables[name] = {"shape": list(np.shape(value)), "filled": filled}
    return variables


def _array(kind: str, value: Any) -> np.ndarray:
    if not isinstance(value, dict):
        return np.array(value, kind)
    array = np.zeros(value["shape"], kind)
    for row, numbers in value["filled"].items():
        array[int(row)] = numbers
    return array


def _write_checkpoint(folder: str, values: dict[str, Any]) -> None:
    with tf.Graph().as_default(), _v1.Session() as session:
        variables = [
            _v1.get_variable(name, initializer=_array(kind, value), use_resource=True)
            for name, (kind, value) in values.items()
        ]
        session.run(_v1.global_variables_initializer())
        step = int(session.run(next(v for v in variables if v.op.name == "global_step")))
        _v1.train.Saver(variables).save(session, os.path.join(folder, "model.ckpt"), step)
