"""tf.contrib.checkpoint: what checkpoints have; tf.contrib.feature_column: sequences."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from contrib_goldens.cases.inputs import array
from contrib_goldens.observe import Case

checkpoint = tf.contrib.checkpoint
columns = tf.contrib.feature_column


def saved(**parts):
    """The path of a checkpoint of some objects."""
    path = os.path.join(tempfile.mkdtemp(), "kept")
    root = tf.train.Checkpoint(**parts)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return root.save(path)


def keys(path):
    return sorted(name for name, _ in tf.train.list_variables(path) if name[0] != "_")


def arrays():
    state, other = checkpoint.NumpyState(), checkpoint.NumpyState()
    state.a = np.zeros(2)
    state.a, state.number = np.arange(3.0), np.int64(4)
    path = saved(numpy=state)
    state.a[1] = 7.0
    with tf.Session():
        tf.train.Checkpoint(numpy=other).restore(path).initialize_or_restore()
    return state.a, other.a, other.number, keys(path)


def not_an_array(value):
    def build():
        checkpoint.NumpyState().a = value

    return build


def unique():
    tracker = checkpoint.UniqueNameTracker()
    for name in ("x", "x", "x_1", "y", "x"):
        tracker.track(tf.Variable(1.0, use_resource=True), name)
    return keys(saved(tracker=tracker)), len(tracker.trainable_weights)


def split():
    whole = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    parts = checkpoint.split_dependency(
        ("first", "rest"),
        (tf.float32, tf.float32),
        lambda buffer: buffer.update(first=whole[:1], rest=whole[1:]),
        lambda buffer: whole.assign(tf.concat([buffer["rest"], buffer["first"]], 0)),
        "",
    )
    holder = checkpoint.Checkpointable()
    for name in sorted(parts):
        setattr(holder, name, parts[name])
    path = saved(holder=holder)
    with tf.Session() as session:
        tf.train.Checkpoint(holder=holder).restore(path).run_restore_ops()
        return session.run(whole), keys(path)


def drawn():
    weight = tf.Variable(np.ones([2, 3], np.float32), use_resource=True, name="w")
    return checkpoint.dot_graph_from_checkpoint(saved(weight=weight))


def features():
    return {
        "n": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1.0, 2.0, 3.0]), [2, 2]),
        "w": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([2, 0, 1], tf.int64), [2, 2]),
        "long": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([1.0, 2.0, 3.0]), [2, 2]),
    }


def sequences(*makers):
    """An input layer of some columns."""
    return lambda: columns.sequence_input_layer(features(), [make() for make in makers])


def words():
    return columns.sequence_categorical_column_with_identity("w", 3)


def embedded():
    return tf.feature_column.embedding_column(
        words(), 2, initializer=tf.constant_initializer(array(3, 2))
    )


CASES = {
    "checkpoint.NumpyState": Case(arrays, has_gradients=False),
    "checkpoint.NumpyState: list": not_an_array([1]),
    "checkpoint.NumpyState: missing": lambda: checkpoint.NumpyState().a,
    "checkpoint.UniqueNameTracker": Case(unique, has_gradients=False),
    "checkpoint.dot_graph_from_checkpoint": Case(drawn, has_gradients=False),
    "checkpoint.split_dependency": Case(split, has_gradients=False),
    "feature_column.sequence_input_layer": sequences(
        embedded, lambda: columns.sequence_numeric_column("n")
    ),
    "feature_column.sequence_input_layer: indicator": sequences(
        lambda: tf.feature_column.indicator_column(words())
    ),
    "feature_column.sequence_input_layer: lengths": sequences(
        lambda: columns.sequence_numeric_column("n"),
        lambda: columns.sequence_numeric_column("long"),
    ),
    "feature_column.sequence_input_layer: no sequence": sequences(
        lambda: tf.feature_column.numeric_column("n")
    ),
    "feature_column.sequence_input_layer: normalized": sequences(
        lambda: columns.sequence_numeric_column("n", normalizer_fn=lambda x: x * 2.0)
    ),
}
