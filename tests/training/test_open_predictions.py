"""A prediction that is kept open answers what was asked last."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data.inputs import call_input_fn

v1 = tf.compat.v1


def scaled(features, labels, mode):
    weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
    return eb.EstimatorSpec(mode, predictions=weight * tf.reshape(features, [-1]))


class Requests:
    """Answers each draw with the last request."""

    def __init__(self):
        self.last, self.draws = 0.0, 0

    def __call__(self, *_):
        self.draws += 1
        return np.float32(self.last)

    def generate(self):
        while True:
            yield self()

    def generator(self):
        return tf.data.Dataset.from_generator(self.generate, tf.float32, [])

    def mapped(self, call):
        rows = tf.data.Dataset.range(100)
        return rows.map(lambda i: tf.reshape(call(self, [i], tf.float32), [])).batch(1)


FORMS = {
    "batch": lambda r: r.generator().batch(1),
    "map and batch": lambda r: r.generator().map(lambda x: x + 0).batch(1),
    "batch and map": lambda r: r.generator().batch(1).map(lambda x: x + 0),
    "take and repeat": lambda r: r.generator().take(50).repeat().batch(1),
    "interleave": lambda r: tf.data.Dataset.range(9).interleave(
        lambda i: r.generator().batch(1), cycle_length=1
    ),
    "zip": lambda r: (
        tf.data.Dataset.zip((r.generator(), tf.data.Dataset.range(9))).map(lambda x, i: x).batch(1)
    ),
    "py_func": lambda r: r.mapped(v1.py_func),
    "py_function": lambda r: r.mapped(tf.py_function),
    "py_func without a dataset": lambda r: {"x": tf.reshape(v1.py_func(r, [], tf.float32), [1])}[
        "x"
    ],
    "one-shot iterator": lambda r: v1.data.make_one_shot_iterator(
        r.generator().map(lambda x: x + 0).batch(1)
    ).get_next(),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_answer_is_that_of_the_last_request(form):
    requests = Requests()
    predictions = eb.Estimator(scaled).predict(lambda: FORMS[form](requests))
    for count in range(1, 5):
        requests.last = float(count)
        assert next(predictions) == count
        assert requests.draws == count
    predictions.close()


def test_a_file_is_opened_again_when_its_rows_are_asked_for(tmp_path):
    path = tmp_path / "rows"

    def model_fn(features, labels, mode):
        return eb.EstimatorSpec(mode, predictions=tf.strings.to_number(features))

    def input_fn():
        files = tf.data.Dataset.range(9)
        return files.flat_map(lambda i: tf.data.TextLineDataset(str(path))).batch(1)

    predictions = None
    for count in range(4):
        path.write_text(f"{count}\n")
        predictions = predictions or eb.Estimator(model_fn).predict(input_fn)
        assert next(predictions) == count
    predictions.close()


def rows():
    return tf.data.Dataset.range(8)


def table():
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(tf.range(8, dtype=tf.int64), tf.range(8)), -1
    )


@pytest.mark.parametrize(
    "make",
    [
        rows,
        lambda: tf.data.Dataset.from_tensor_slices(np.arange(8)).shuffle(8).repeat().batch(2),
        lambda: rows().map(lambda i: tf.cast(i, tf.float32) + tf.random.uniform([])),
        lambda: rows().map(table().lookup),
        lambda: rows().flat_map(tf.data.Dataset.range).filter(lambda i: i > 2).prefetch(2),
        lambda: v1.data.make_one_shot_iterator(rows()).get_next(),
        v1.estimator.inputs.numpy_input_fn(np.arange(8), shuffle=True)
        if hasattr(v1, "estimator")
        else rows,
    ],
)
def test_arrays_and_random_numbers_are_self_contained(make):
    with tf.Graph().as_default() as graph:
        assert call_input_fn(make, graph).is_self_contained


def variable():
    weight = v1.get_variable("v", [], tf.int64, use_resource=True)
    return rows().map(lambda i: i + weight.read_value())


def mutable_table():
    known = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    return rows().map(known.lookup)


def handle():
    text = v1.placeholder_with_default("", [])
    return v1.data.Iterator.from_string_handle(text, tf.int64, []).get_next()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Requests().generator(),
        lambda: Requests().mapped(tf.numpy_function),
        lambda: rows().map(lambda i: tf.numpy_function(abs, [i], tf.int64, stateful=False)),
        lambda: tf.data.TextLineDataset("/rows"),
        lambda: rows().map(lambda i: tf.io.read_file("/rows")),
        lambda: tf.data.TFRecordDataset("/rows").prefetch(2),
        lambda: v1.train.range_input_producer(8).dequeue(),
        variable,
        mutable_table,
        handle,
        lambda: rows().map(lambda i: tf.cond(i > 2, tf.timestamp, lambda: v1.to_double(i))),
    ],
)
def test_what_is_outside_of_an_input_makes_it_not_self_contained(make):
    with tf.Graph().as_default() as graph:
        assert not call_input_fn(make, graph).is_self_contained
