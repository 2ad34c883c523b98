"""Batches are predicted ahead of the caller only if the caller cannot notice."""

import re

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data.repeatable_datasets import _DRAWS
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.predict_ahead import LoopAhead

v1 = tf.compat.v1
ROWS = np.arange(23, dtype=np.float32)


def doubled(features, labels, mode):
    weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
    return eb.EstimatorSpec(mode, predictions={"x": features, "y": 2 * weight * features})


def slices():
    return tf.data.Dataset.from_tensor_slices(ROWS).batch(4)


def test_every_example_comes_once_and_in_order():
    got = list(eb.Estimator(doubled).predict(slices))
    np.testing.assert_array_equal([p["x"] for p in got], ROWS)
    np.testing.assert_array_equal([p["y"] for p in got], 2 * ROWS)
    assert isinstance(got[0]["x"], np.float32)


def test_batches_keep_their_sizes():
    got = eb.Estimator(doubled).predict(slices, yield_single_examples=False)
    assert [len(p["x"]) for p in got] == [4, 4, 4, 4, 4, 3]


def test_an_example_that_is_kept_keeps_its_own_batch_alive_and_no_more():
    def wide(features, labels, mode):
        return eb.EstimatorSpec(mode, predictions=features[:, None] * tf.ones([1, 50]))

    rows = list(eb.Estimator(wide).predict(slices))
    assert [row.base.shape for row in rows[:20]] == [(4, 50)] * 20


def test_an_endless_input_can_be_left():
    predictions = eb.Estimator(doubled).predict(lambda: slices().repeat())
    assert [float(next(predictions)["x"]) for _ in range(50)] == [i % 23 for i in range(50)]
    predictions.close()


def test_strings_and_dicts_by_key():
    def model_fn(features, labels, mode):
        text = tf.strings.as_string(tf.cast(features, tf.int32))
        return eb.EstimatorSpec(mode, predictions={"text": text, "x": features})

    got = list(eb.Estimator(model_fn).predict(slices, predict_keys=["text"]))
    assert got == [{"text": str(i).encode()} for i in range(23)]


def test_a_generator_is_asked_for_what_is_wanted_and_no_more():
    asked = []

    def rows():
        for i in range(20):
            asked.append(i)
            yield [float(i)]

    def input_fn():
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False  # tf.data's own running ahead
        return tf.data.Dataset.from_generator(rows, tf.float32, [1]).with_options(options)

    for i, prediction in enumerate(eb.Estimator(doubled).predict(input_fn)):
        assert prediction["y"] == 2.0 * i
        assert asked == list(range(i + 1))
        if i == 9:
            break


def test_a_model_that_calls_python_is_not_run_ahead():
    seen = []

    def model_fn(features, labels, mode):
        def look(x):
            seen.append(x)
            return x

        y = v1.py_func(look, [features], tf.float32)
        y.set_shape(features.shape)
        return eb.EstimatorSpec(mode, predictions=y)

    predictions = eb.Estimator(model_fn).predict(slices)
    for i in range(23):
        assert next(predictions) == i
        assert len(seen) == i // 4 + 1


@pytest.mark.parametrize("bad", [3, 17])
def test_what_came_before_an_error_is_handed_over_first(bad):
    def input_fn():
        def checked(x):
            with tf.control_dependencies([tf.debugging.assert_less(x, float(bad))]):
                return tf.identity(x)

        return tf.data.Dataset.from_tensor_slices(ROWS).map(checked).batch(1)

    got = []
    with pytest.raises(tf.errors.InvalidArgumentError):
        for prediction in eb.Estimator(doubled).predict(input_fn):
            got.append(float(prediction["x"]))
    assert got == list(range(bad))


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("bad", [3, 17])
def test_what_the_model_computed_before_it_failed_is_handed_over_first(bad, size):
    def model_fn(features, labels, mode):
        with tf.control_dependencies([tf.debugging.assert_less(features, float(bad))]):
            return eb.EstimatorSpec(mode, predictions=tf.identity(features))

    got = []
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        for prediction in eb.Estimator(model_fn).predict(
            lambda: tf.data.Dataset.from_tensor_slices(ROWS).batch(size)
        ):
            got.append(float(prediction))
    assert got == list(range(bad // size * size))


def test_an_end_that_the_model_declares_comes_after_what_it_computed():
    def model_fn(features, labels, mode):
        def ended():
            queue = tf.queue.FIFOQueue(1, tf.float32)
            with tf.control_dependencies([queue.close()]):
                return queue.dequeue()

        x = tf.cond(tf.reduce_any(features > 12.0), ended, lambda: 0.0)
        return eb.EstimatorSpec(mode, predictions=features + x)

    assert list(eb.Estimator(model_fn).predict(slices)) == list(range(12))


def test_batches_of_other_shapes_and_scalars():
    def input_fn():
        rows = tf.data.Dataset.range(1, 12).map(lambda n: tf.fill([n % 3 + 1], n))
        return rows.padded_batch(2, padded_shapes=[None])

    def model_fn(features, labels, mode):
        return eb.EstimatorSpec(
            mode, predictions={"rows": features, "sum": v1.reduce_sum(features)}
        )

    got = list(eb.Estimator(model_fn).predict(input_fn, yield_single_examples=False))
    assert [p["rows"].shape for p in got] == [(2, 3), (2, 2), (2, 3), (2, 3), (2, 2), (1, 3)]
    assert [int(p["sum"]) for p in got] == [int(p["rows"].sum()) for p in got]
    assert got[0]["rows"].tolist() == [[1, 1, 0], [2, 2, 2]]


def by_default(rows):
    return rows


def shuffled(rows):
    return rows.shuffle(100)


def shuffled_within(rows):
    return tf.data.Dataset.range(1).flat_map(lambda _: rows.shuffle(100))


def of_one_shot(rows):
    return v1.data.make_one_shot_iterator(rows.batch(4)).get_next()


def shuffled_of_one_shot(rows):
    return of_one_shot(rows.shuffle(100))


def in_any_order(rows):
    return rows.map(lambda x: x + 0, num_parallel_calls=2, deterministic=False)


def in_any_order_by_its_options(rows):
    options = tf.data.Options()
    options.deterministic = False
    return rows.with_options(options)


def interleaved(rows):
    many = v1.data.experimental.parallel_interleave(lambda x: rows, cycle_length=2, sloppy=True)
    return tf.data.Dataset.range(1).apply(many)


@pytest.mark.parametrize(
    "make, is_ahead",
    [
        (by_default, True),
        (of_one_shot, True),
        (shuffled, False),
        (shuffled_within, False),
        (shuffled_of_one_shot, False),
        (in_any_order, False),
        (in_any_order_by_its_options, False),
        (interleaved, False),
    ],
)
def test_only_an_input_that_can_be_made_again_is_run_ahead(make, is_ahead, monkeypatch):
    calls = []
    run = LoopAhead.batches
    monkeypatch.setattr(LoopAhead, "batches", lambda *args: calls.append(1) or run(*args))

    def input_fn():
        rows = make(tf.data.Dataset.from_tensor_slices(ROWS))
        return rows.batch(4) if isinstance(rows, tf.data.Dataset) else rows

    got = [float(p["y"]) for p in eb.Estimator(doubled).predict(input_fn)]
    assert sorted(got) == [2.0 * row for row in ROWS]
    assert bool(calls) == is_ahead


@pytest.mark.parametrize("make, is_ahead", [(by_default, True), (shuffled, False)])
def test_a_dataset_that_was_made_outside(make, is_ahead, monkeypatch):
    calls = []
    run = LoopAhead.batches
    monkeypatch.setattr(LoopAhead, "batches", lambda *args: calls.append(1) or run(*args))
    with eager_mode():
        dataset = make(tf.data.Dataset.from_tensor_slices(ROWS)).batch(4)
    got = [float(p["y"]) for p in eb.Estimator(doubled).predict(lambda: dataset)]
    assert sorted(got) == [2.0 * row for row in ROWS]
    assert bool(calls) == is_ahead


def test_every_dataset_of_tensorflow_that_draws_is_known():
    operations = [name for name in dir(tf.raw_ops) if re.search(r"Dataset(V\d)?$", name)]
    draw = [name for name in operations if re.search("Shuffle|Random|Sampling", name)]
    assert len(draw) > 5
    assert all(_DRAWS.fullmatch(name) for name in draw)
    assert not _DRAWS.fullmatch("TensorSliceDataset")


def test_a_scalar_string_may_be_predicted():
    def model_fn(features, labels, mode):
        predictions = {"id": features["id"], "y": features["x"] * 2.0}
        return eb.EstimatorSpec(mode, predictions=predictions)

    one = {"id": "a", "x": np.ones([3, 2], np.float32)}
    predicted = eb.Estimator(model_fn).predict(
        lambda: tf.data.Dataset.from_tensors(one).repeat(3), yield_single_examples=False
    )
    got = list(predicted)
    assert [batch["id"] for batch in got] == [b"a"] * 3
    np.testing.assert_array_equal(got[2]["y"], np.full([3, 2], 2.0))
