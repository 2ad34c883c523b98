"""Kinds of input that an input_fn may return to an Estimator."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def summed(features):
    """What any structure of features adds up to."""
    total = 0.0
    for leaf in tf.nest.flatten(features):
        if isinstance(leaf, tf.SparseTensor):
            total += tf.reduce_sum(leaf.values)
        elif isinstance(leaf, tf.RaggedTensor):
            total += tf.reduce_sum(leaf.flat_values)
        elif leaf.dtype == tf.string:
            total += tf.reduce_sum(tf.strings.to_number(leaf))
        else:
            total += tf.reduce_sum(tf.cast(leaf, tf.float32))
    return total


def model_fn(features, labels, mode):
    seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
    loss = summed(features) + (0 if labels is None else 1000 * summed(labels))
    with tf.control_dependencies([v1.assign_add(seen, loss)]):
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.EstimatorSpec(mode, predictions={"x": loss[None]}, loss=loss, train_op=train_op)


def sparse():
    rows = tf.data.Dataset.from_tensor_slices([[0.0, 1.0], [2.0, 0.0]])
    return rows.map(lambda row: {"sparse": tf.sparse.from_dense(row), "dense": row}).batch(2)


def ragged():
    return tf.data.Dataset.from_tensors(tf.ragged.constant([[1.0, 2.0], [3.0]]))


def text():
    return tf.data.Dataset.from_tensor_slices((["1", "2"], [1, 2])).batch(2)


def nested():
    pair = collection([1.0], {"b": [2.0], "a": ([3.0], [4.0])})
    return tf.data.Dataset.from_tensors((pair, [1.0]))


def collection(first, second):
    return {"first": first, "second": second}


def from_generator():
    def rows():
        yield from ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])

    return tf.data.Dataset.from_generator(rows, tf.float32, [2]).batch(2)


def through_python():
    data = tf.data.Dataset.range(4)
    return data.map(lambda x: v1.py_func(lambda x: np.float32(2 * x), [x], tf.float32)).batch(3)


def constants():
    return tf.constant([1.0, 2.0]), tf.constant([1.0])


def one_shot():
    return v1.data.make_one_shot_iterator(text()).get_next()


def initializable():
    iterator = v1.data.make_initializable_iterator(ragged().map(lambda r: r.to_tensor()))
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    features = iterator.get_next()
    return {"twice": 2 * features}, features[:1]


def table():
    lookup = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [10.0, 20.0]), 0.0
    )
    return tf.data.Dataset.from_tensors(["a", "b", "c"]).map(lookup.lookup)


@pytest.mark.parametrize(
    ("input_fn", "steps", "total"),
    [
        (sparse, None, 6),
        (ragged, None, 6),
        (text, None, 3003),
        (nested, None, 1010),
        (from_generator, None, 21),
        (through_python, None, 12),
        (constants, 3, 3009),
        (one_shot, None, 3003),
        (initializable, None, 3012),
        (table, None, 30),
    ],
)
def test_training_sees_all_of_it(input_fn, steps, total, tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(input_fn, steps=steps)
    assert estimator.get_variable_value("seen") == total
    if steps is None:
        predicted = estimator.predict(input_fn, yield_single_examples=False)
        assert len(list(predicted)) == estimator.get_variable_value("global_step")


def test_random_constants_differ_from_step_to_step(tmp_path):
    def noise():
        return tf.identity(v1.random_uniform([4], seed=1), name="noise")

    losses = []

    class Keep(v1.train.SessionRunHook):
        def before_run(self, run_context):
            return v1.train.SessionRunArgs("noise:0")

        def after_run(self, run_context, run_values):
            losses.append(tuple(run_values.results))

    eb.Estimator(model_fn, str(tmp_path)).train(noise, steps=5, hooks=[Keep()])
    assert len(set(losses)) == 5
