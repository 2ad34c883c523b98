"""Batches are predicted ahead of the caller only where the caller cannot tell."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

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


def test_an_endless_input_can_be_left():
    predictions = eb.Estimator(doubled).predict(lambda: slices().repeat())
    assert [float(next(predictions)["x"]) for _ in range(50)] == [i % 23 for i in range(50)]
    predictions.close()


def test_strings_and_dicts_by_key():
    def model_fn(features, labels, mode):
        text = tf.strings.as_string(tf.cast(features, tf.int32))
        return eb.EstimatorSpec(mode, predictions={"text": text, "x": features})

    got = list(eb.Estimator(model_fn).predict(slices, predict_keys="text"))
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
