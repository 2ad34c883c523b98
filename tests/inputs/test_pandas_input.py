"""pandas_input_fn: its contents for a DataFrame, and its errors."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data import call_input_fn
from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.inputs import pandas_input_fn
from estimator_bridge.runtime import default_strategy
from estimator_bridge.tensorflow_private.names import eager_mode

v1 = tf.compat.v1


def frame(rows=4):
    index = np.arange(100, 100 + rows)
    return pd.DataFrame({"a": np.arange(rows), "b": np.arange(32.0, 32.0 + rows)}, index=index)


def labels_of(x):
    return pd.Series(-np.arange(len(x)), index=x.index)


def batches(input_fn):
    with trace_graph() as graph:
        inputs = call_input_fn(input_fn, graph)
    dataset = inputs.dataset(LiftedSession(graph, default_strategy()))
    with eager_mode():
        structures = list(dataset.as_numpy_iterator())
    return [tf.nest.map_structure(lambda leaf: leaf.tolist(), batch) for batch in structures]


def test_features_and_labels_without_the_index():
    x = frame()
    read_batches = batches(pandas_input_fn(x, labels_of(x), batch_size=3, shuffle=False))
    assert read_batches == [
        ({"a": [0, 1, 2], "b": [32, 33, 34]}, [0, -1, -2]),
        ({"a": [3], "b": [35]}, [-3]),
    ]
    assert batches(pandas_input_fn(x, batch_size=9, shuffle=False)) == [
        {"a": [0, 1, 2, 3], "b": [32, 33, 34, 35]}
    ]


def test_a_frame_of_labels_may_name_its_columns_as_the_features_do():
    x = frame(2)
    y = x.rename(columns={"b": "c"}) * 10
    (batch,) = batches(pandas_input_fn(x, y, shuffle=False))
    assert batch == ({"a": [0, 1], "b": [32, 33]}, {"a": [0, 10], "c": [320, 330]})


def test_a_plain_session_reads_epochs_to_their_end():
    with tf.Graph().as_default(), v1.Session() as session:
        tensors = pandas_input_fn(frame(2), batch_size=3, num_epochs=2, shuffle=False)()
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        assert session.run(tensors)["a"].tolist() == [0, 1, 0]
        assert session.run(tensors)["a"].tolist() == [1]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(tensors)
        coordinator.request_stop()
        coordinator.join(threads)


@pytest.mark.parametrize("capacity", [1000, None])
def test_shuffling_keeps_rows_together(capacity):
    x = frame(50)
    reading = pandas_input_fn(
        x, labels_of(x), 20, num_epochs=2, shuffle=True, queue_capacity=capacity
    )
    read_batches = batches(reading)
    rows = [row for f, labels in read_batches for row in zip(f["a"], f["b"], labels)]
    assert sorted(rows) == sorted([(i, 32 + i, -i) for i in range(50)] * 2)
    assert [row[0] for row in rows] != [(rows[0][0] + i) % 50 for i in range(100)]


def test_types_of_columns():
    x = pd.DataFrame(
        {
            "text": ["u", "v"],
            "nullable": pd.array([1, 2], dtype="Int32"),
            "kind": pd.Categorical(["x", "y"]),
            "flag": [True, False],
        }
    )
    with tf.Graph().as_default():
        features = pandas_input_fn(x, shuffle=False)()
    kinds = {name: tensor.dtype for name, tensor in features.items()}
    expected = {"text": tf.string, "nullable": tf.int32, "kind": tf.string, "flag": tf.bool}
    assert kinds == expected
    (batch,) = batches(pandas_input_fn(x, shuffle=False))
    assert batch["text"] == [b"u", b"v"]
    assert batch["nullable"] == [1, 2]
    assert batch["kind"] == [b"x", b"y"]


def test_later_changes_of_the_frame_are_not_seen():
    x = frame(2)
    input_fn = pandas_input_fn(x, shuffle=False)
    x["a"] = 7
    assert batches(input_fn)[0]["a"] == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shuffle": None}, ValueError, "shuffle must be provided and explicitly set as boolean"),
        ({"target_column": ["t"]}, TypeError, "target_column must be a string type"),
        ({"target_column": "a"}, ValueError, "Cannot use name a for target column: DataFrame alr"),
        ({"y": pd.Series([1, 2, 3, 4])}, ValueError, "Index for x and y are mismatched"),
        ({"x": {"a": np.arange(4)}}, TypeError, "must be a pandas.DataFrame, got dict"),
        ({"x": frame(0), "y": None}, ValueError, "x has no rows"),
    ],
)
def test_what_it_refuses(arguments, error, message):
    keywords = {"x": frame(), "y": labels_of(frame()), "shuffle": False, **arguments}
    with pytest.raises(error, match=message):
        pandas_input_fn(**keywords)


def test_a_column_that_tensorflow_has_no_type_for_is_named():
    x = pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])})
    with tf.Graph().as_default(), pytest.raises(TypeError, match=r"'when' is of type datetime64"):
        pandas_input_fn(x, shuffle=False)()


def test_without_pandas_it_says_so(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas")
    with pytest.raises(TypeError, match="should not be called without pandas"):
        pandas_input_fn([[1]], shuffle=False)


def test_an_estimator_sees_every_row(tmp_path):
    def model_fn(features, labels, mode):
        total = tf.reduce_sum(features["a"]) - tf.reduce_sum(labels)
        seen = v1.get_variable("seen", [], tf.int64, v1.zeros_initializer(), trainable=False)
        step = v1.assign_add(v1.train.get_global_step(), 1)
        with tf.control_dependencies([v1.assign_add(seen, total)]):
            return eb.EstimatorSpec(
                mode, loss=tf.cast(total, tf.float32), train_op=tf.identity(step)
            )

    x = frame(5)
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(pandas_input_fn(x, labels_of(x), 2, num_epochs=2, shuffle=False))
    assert estimator.get_variable_value("seen") == 40
    assert estimator.get_variable_value("global_step") == 5
