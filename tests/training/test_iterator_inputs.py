"""Input functions that return an iterator's elements, however it is made and initialized."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    total = 0.0
    for leaf in tf.nest.flatten([features, 0 if labels is None else labels]):
        values = leaf.values if isinstance(leaf, tf.SparseTensor) else leaf
        values = values.flat_values if isinstance(values, tf.RaggedTensor) else values
        total += tf.reduce_sum(tf.cast(values, tf.float32))
    seen = v1.get_variable("seen", [], initializer=v1.zeros_initializer(), trainable=False)
    with tf.control_dependencies([v1.assign_add(seen, total)]):
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.EstimatorSpec(mode, {"total": total[None]}, total, train_op)


class InitializerHook(v1.train.SessionRunHook):
    """The idiom: the input_fn sets what is run when the session is there."""

    def __init__(self):
        self.initialize = None

    def after_create_session(self, session, coord):
        self.initialize(session)


def trained(input_fn, folder, hooks=(), **steps):
    """The sum of what was read, and in how many steps."""
    estimator = eb.Estimator(model_fn, str(folder))
    estimator.train(input_fn, hooks=hooks, **steps)
    return estimator.get_variable_value("seen"), estimator.get_variable_value("global_step")


def fed_through_a_hook(hook, data):
    def input_fn():
        place = v1.placeholder(tf.float32, [None])
        dataset = tf.data.Dataset.from_tensor_slices(place).batch(4)
        iterator = v1.data.make_initializable_iterator(dataset)
        hook.initialize = lambda session: session.run(iterator.initializer, {place: data})
        return {"x": 2 * iterator.get_next()}

    return input_fn


def test_a_hook_feeds_the_data_that_is_read(tmp_path):
    hook = InitializerHook()
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(fed_through_a_hook(hook, np.arange(10)), hooks=[hook])
    assert estimator.get_variable_value("seen") == 90
    assert estimator.get_variable_value("global_step") == 3
    for data, loss in ((np.ones(8), 8), (np.ones(4), 8), (2 * np.ones(4), 16)):
        result = estimator.evaluate(fed_through_a_hook(hook, data), hooks=[hook])
        assert result["loss"] == loss
    predicted = estimator.predict(fed_through_a_hook(hook, np.arange(3)), hooks=[hook])
    assert [p["total"] for p in predicted] == [6]


def test_a_placeholder_that_no_hook_fed_is_named(tmp_path):
    with pytest.raises(
        tf.errors.FailedPreconditionError, match=r"not been initialized.*\['Placeholder'\].*hook"
    ):
        trained(fed_through_a_hook(InitializerHook(), None), tmp_path)


def test_an_iterator_cannot_be_initialized_again_while_it_is_read(tmp_path):
    class Again(InitializerHook):
        def after_run(self, run_context, run_values):
            self.initialize(run_context.session)

    hook = Again()
    with pytest.raises(NotImplementedError, match=r"'IteratorV2' was initialized again.*from_str"):
        trained(fed_through_a_hook(hook, np.arange(10)), tmp_path, hooks=[hook])


def initializable(dataset=None):
    return v1.data.make_initializable_iterator(dataset or tf.data.Dataset.range(1, 6))


def initialized_with_the_tables():
    iterator = initializable()
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next(), None


def never_initialized():
    return initializable().get_next()


def two_draws_of_one():
    iterator = v1.data.make_one_shot_iterator(tf.data.Dataset.range(1, 7))
    return iterator.get_next(), iterator.get_next()


def two_draws_of_an_initializable_one():
    iterator = initializable(tf.data.Dataset.range(1, 7))
    v1.add_to_collection(v1.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next(), iterator.get_next()


def two_iterators():
    features = v1.data.make_one_shot_iterator(tf.data.Dataset.range(6)).get_next()
    labels = v1.data.make_one_shot_iterator(tf.data.Dataset.range(10, 13)).get_next()
    return {"x": features}, {"y": labels}


def named_by_a_handle():
    chosen = v1.data.make_one_shot_iterator(tf.data.Dataset.range(1, 6))
    return v1.data.Iterator.from_string_handle(chosen.string_handle(), tf.int64, []).get_next()


def in_a_branch():
    iterator = v1.data.make_one_shot_iterator(tf.data.Dataset.range(1, 6))
    return tf.cond(tf.constant(True), iterator.get_next, lambda: tf.constant(0, tf.int64))


def sparse_and_ragged():
    rows = tf.data.Dataset.from_tensor_slices([[0.0, 1.0], [2.0, 0.0]])
    dataset = rows.map(
        lambda row: {
            "s": tf.sparse.from_dense(row),
            "r": tf.RaggedTensor.from_row_lengths(row, [2]),
        }
    )
    return v1.data.make_one_shot_iterator(dataset).get_next()


def a_table_and_python():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], [10.0, 20.0]), 0.0
    )
    words = tf.data.Dataset.from_generator(lambda: iter("abc"), tf.string, [])
    one = words.map(lambda word: tf.numpy_function(lambda _: np.float32(1), [word], tf.float32))
    pairs = tf.data.Dataset.zip((words, one)).map(lambda word, one: table.lookup(word) + one)
    return pairs


def of_version_1():
    return v1.data.Dataset.range(1, 6)


def named_pairs():
    pair = collections.namedtuple("pair", "first second")
    return tf.data.Dataset.from_tensor_slices(pair([1.0, 2.0], [10.0, 20.0]))


def every_argument(mode, params, config, input_context):
    assert (mode, params, input_context) == ("train", {}, None)
    assert config.model_dir
    return tf.data.Dataset.range(1, 6)


@pytest.mark.parametrize(
    ("input_fn", "total", "steps"),
    [
        (initialized_with_the_tables, 15, 5),
        (never_initialized, 15, 5),
        (two_draws_of_one, 21, 3),
        (two_draws_of_an_initializable_one, 21, 3),
        (two_iterators, 36, 3),
        (named_by_a_handle, 15, 5),
        (in_a_branch, 15, 5),
        (sparse_and_ragged, 6, 2),
        (a_table_and_python, 33, 3),
        (of_version_1, 15, 5),
        (named_pairs, 33, 2),
        (every_argument, 15, 5),
    ],
)
def test_training_sees_the_whole_dataset(input_fn, total, steps, tmp_path):
    assert trained(input_fn, tmp_path) == (total, steps)


def test_the_scaffold_may_initialize_the_iterator(tmp_path):
    initializers = {}

    def input_fn():
        iterator = v1.data.Iterator.from_structure(tf.int64, [])
        initializers["local"] = iterator.make_initializer(tf.data.Dataset.range(1, 4))
        return iterator.get_next()

    def with_scaffold(features, labels, mode):
        local = tf.group(v1.train.Scaffold.default_local_init_op(), initializers["local"])
        spec = model_fn(features, labels, mode)
        return spec._replace(scaffold=v1.train.Scaffold(local_init_op=local))

    estimator = eb.Estimator(with_scaffold, str(tmp_path))
    estimator.train(input_fn)
    assert estimator.get_variable_value("seen") == 6


def test_a_hook_changes_the_dataset_between_two_steps(tmp_path):
    class Switch(InitializerHook):
        later, calls = None, 0

        def after_run(self, run_context, run_values):
            self.calls += 1
            if self.calls == 2:
                run_context.session.run(self.later)

    hook = Switch()

    def input_fn():
        iterator = v1.data.Iterator.from_structure(tf.int64, [])
        first = iterator.make_initializer(tf.data.Dataset.range(5))
        hook.later = iterator.make_initializer(tf.data.Dataset.range(100, 103))
        hook.initialize = lambda session: session.run(first)
        return iterator.get_next()

    assert trained(input_fn, tmp_path, hooks=[hook]) == (0 + 1 + 100 + 101 + 102, 5)


def test_an_iterator_of_several_datasets_that_none_initialized(tmp_path):
    def input_fn():
        iterator = v1.data.Iterator.from_structure(tf.int64, [])
        for end in (3, 4):
            iterator.make_initializer(tf.data.Dataset.range(end))
        return iterator.get_next()

    with pytest.raises(tf.errors.FailedPreconditionError, match="it has 2 initializers"):
        trained(input_fn, tmp_path)


def test_a_handle_that_would_have_to_be_fed(tmp_path):
    def input_fn():
        handle = v1.placeholder(tf.string, [], name="handle")
        return v1.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must feed .* 'handle'"):
        trained(input_fn, tmp_path)


def test_labels_are_not_computed_for_a_prediction(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    assert len(list(estimator.predict(two_iterators))) == 6  # there are 3 labels


@pytest.mark.parametrize(
    ("input_fn", "is_said"),
    [(lambda: tf.constant([1.0]), True), (never_initialized, False), (in_a_branch, False)],
)
def test_predicting_without_an_end_is_said(input_fn, is_said, tmp_path, monkeypatch):
    messages = []
    monkeypatch.setattr(v1.logging, "warning", messages.append)
    next(eb.Estimator(model_fn, str(tmp_path)).predict(input_fn))
    assert ["contain a QueueRunner" in message for message in messages] == [True] * is_said
