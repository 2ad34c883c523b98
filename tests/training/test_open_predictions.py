"""A prediction that is kept open answers what was asked last."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

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


def plus_variable(dataset):
    weight = v1.get_variable("v", [], tf.int64, use_resource=True)
    return dataset.map(lambda i: i + weight.read_value())


def mutable_table():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    return rows().map(table.lookup)


def handle():
    text = v1.placeholder_with_default("", [])
    return v1.data.Iterator.from_string_handle(text, tf.int64, []).get_next()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Requests().generator(),
        lambda: Requests().mapped(tf.numpy_function),
        lambda: rows().map(lambda i: tf.numpy_function(abs, [i], tf.int64, stateful=False)),
        lambda: v1.train.range_input_producer(8).dequeue(),
        lambda: plus_variable(rows()),
        mutable_table,
        handle,
        lambda: rows().map(lambda i: tf.cond(i > 2, tf.timestamp, lambda: v1.to_double(i))),
    ],
)
def test_what_is_outside_of_an_input_is_never_read_ahead(make):
    with tf.Graph().as_default() as graph:
        assert not call_input_fn(make, graph).may_be_read_ahead(lambda: False)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.data.TextLineDataset("/rows"),
        lambda: rows().map(lambda i: tf.io.read_file("/rows")),
        lambda: tf.data.TFRecordDataset("/rows").prefetch(2),
        lambda: rows().interleave(lambda i: tf.data.FixedLengthRecordDataset("/rows", 4)),
    ],
)
def test_files_are_read_ahead_where_nobody_can_change_them(make):
    with tf.Graph().as_default() as graph:
        source = call_input_fn(make, graph)
    assert source.may_be_read_ahead(lambda: False)
    assert not source.may_be_read_ahead(lambda: True)
    assert not source.is_self_contained


_CLOSED_STEPS = {
    "map": lambda d: d.map(lambda i: i * 2 + 1),
    "parallel map": lambda d: d.map(lambda i: i + 1, num_parallel_calls=2),
    "random": lambda d: d.map(lambda i: i + tf.random.uniform([], 0, 9, tf.int64)),
    "shuffle": lambda d: d.shuffle(4),
    "repeat": lambda d: d.repeat(3),
    "take": lambda d: d.take(5),
    "skip": lambda d: d.skip(1),
    "filter": lambda d: d.filter(lambda i: i > 0),
    "cond": lambda d: d.map(lambda i: tf.cond(i > 1, lambda: i, lambda: -i)),
    "loop": lambda d: d.map(lambda i: tf.while_loop(lambda x: x < 9, lambda x: x + 1, [i])[0]),
    "batch and unbatch": lambda d: d.batch(2).unbatch(),
    "prefetch": lambda d: d.prefetch(1),
    "cache": lambda d: d.cache(),
    "flat_map": lambda d: d.flat_map(lambda i: tf.data.Dataset.from_tensors(i).repeat(2)),
    "interleave": lambda d: d.interleave(tf.data.Dataset.from_tensors),
    "zip": lambda d: tf.data.Dataset.zip((d, rows())).map(lambda i, j: i + j),
    "concatenate": lambda d: d.concatenate(rows()),
    "scan": lambda d: d.scan(tf.constant(0, tf.int64), lambda n, i: (n + i, n)),
    "window": lambda d: d.window(2).flat_map(lambda w: w),
}
_OPEN_STEPS = {
    "py_func": lambda d: d.map(lambda i: tf.reshape(v1.py_func(abs, [i], tf.int64), [])),
    "py_function": lambda d: d.map(lambda i: tf.reshape(tf.py_function(abs, [i], tf.int64), [])),
    "stateless numpy_function": lambda d: d.map(
        lambda i: tf.reshape(tf.numpy_function(abs, [i], tf.int64, stateful=False), [])
    ),
    "within flat_map": lambda d: d.flat_map(lambda i: _OPEN_STEPS["py_func"](rows())),
    "within cond": lambda d: d.map(
        lambda i: tf.cond(
            i > 1, lambda: tf.reshape(tf.numpy_function(abs, [i], tf.int64), []), lambda: i
        )
    ),
    "print": lambda d: d.map(lambda i: v1.Print(i, [i])),
    "time": lambda d: d.map(lambda i: i + tf.cast(tf.timestamp(), tf.int64)),
    "generator": lambda d: tf.data.Dataset.zip(
        (d, tf.data.Dataset.from_generator(lambda: iter(range(9)), tf.int64, []))
    ).map(lambda i, j: i + j),
    "variable": plus_variable,
}


@settings(max_examples=25, deadline=None)
@given(
    before=st.lists(st.sampled_from(sorted(_CLOSED_STEPS)), max_size=4),
    opened=st.none() | st.sampled_from(sorted(_OPEN_STEPS)),
    after=st.lists(st.sampled_from(sorted(_CLOSED_STEPS)), max_size=4),
)
def test_an_input_is_self_contained_if_each_of_its_steps_is(before, opened, after):
    def input_fn():
        dataset = rows()
        for name in before:
            dataset = _CLOSED_STEPS[name](dataset)
        if opened:
            dataset = _OPEN_STEPS[opened](dataset)
        for name in after:
            dataset = _CLOSED_STEPS[name](dataset)
        return dataset

    with tf.Graph().as_default() as graph:
        assert call_input_fn(input_fn, graph).is_self_contained == (opened is None)


def noted(steps):
    """Returns a model whose steps each ask for the next element, within the graph."""

    def note(x):
        steps.append((steps.requests.draws, float(x[0])))
        steps.requests.last += 1
        return x

    def model_fn(features, labels, mode):
        weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = tf.reshape(v1.py_func(note, [features], tf.float32), []) * weight
        add = v1.assign_add(v1.train.get_global_step(), 1)
        metrics = {"mean": v1.metrics.mean(loss)}
        with tf.control_dependencies([loss]):
            return eb.EstimatorSpec(
                mode, loss=loss, train_op=tf.group(add), eval_metric_ops=metrics
            )

    return model_fn


class Steps(list):
    """The draws and the element that each step saw."""

    def __init__(self):
        super().__init__()
        self.requests = Requests()


@pytest.mark.parametrize("form", ["map and batch", "py_func without a dataset"])
def test_steps_between_hooks_draw_after_the_step_before(form):
    steps = Steps()
    estimator = eb.Estimator(noted(steps))
    estimator.train(lambda: FORMS[form](steps.requests), steps=5)
    expected = [(count + 1, float(count)) for count in range(10)]
    assert steps == expected[:5]
    assert steps.requests.draws == 5
    estimator.evaluate(lambda: FORMS[form](steps.requests), steps=5)
    assert steps == expected
    assert steps.requests.draws == 10


class Rewrite(v1.train.SessionRunHook):
    """Writes the next file after each step."""

    def __init__(self, path):
        self.path, self.rows = path, []

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(v1.get_collection("row")[0])

    def after_run(self, run_context, run_values):
        self.rows.append(float(run_values.results[0]))
        self.path.write_text(f"{len(self.rows)}\n")


def test_a_hook_writes_the_file_that_the_next_step_reads(tmp_path):
    path = tmp_path / "rows"
    path.write_text("0\n")

    def model_fn(features, labels, mode):
        v1.add_to_collection("row", tf.strings.to_number(features))
        weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=weight + 0.0, train_op=train_op)

    def input_fn():
        files = tf.data.Dataset.range(9)
        return files.flat_map(lambda i: tf.data.TextLineDataset(str(path))).batch(1)

    hook = Rewrite(path)
    eb.Estimator(model_fn).train(input_fn, steps=5, hooks=[hook])
    assert hook.rows == [0.0, 1.0, 2.0, 3.0, 4.0]
