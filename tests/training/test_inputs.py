"""Kinds of input that an input_fn may return to an Estimator."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def summed(features):
    """Returns the sum of any structure of features."""
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


@pytest.mark.parametrize(
    ("returned", "total"),
    [
        (({"x": [[1], [1]]}, {"y": [[1], [2]]}), 3002),
        (({"x": np.ones([2, 3])}, np.float32(2)), 2006),
        ({"x": 1.0}, 1),
        (([np.ones(2), [3]], None), 5),
    ],
)
def test_model_fn_is_given_plain_values_as_they_are(returned, total, tmp_path):
    calls = []

    def looking(features, labels, mode):
        calls.append((features, labels))
        return model_fn(
            tf.nest.map_structure(tf.convert_to_tensor, features),
            None if labels is None else tf.nest.map_structure(tf.convert_to_tensor, labels),
            mode,
        )

    estimator = eb.Estimator(looking, str(tmp_path))
    estimator.train(lambda: returned, steps=2)
    features, labels = returned if isinstance(returned, tuple) else (returned, None)
    assert calls[0][0] is features
    assert calls[0][1] is labels
    assert estimator.get_variable_value("seen") == 2 * total


def test_values_and_tensors_side_by_side(tmp_path):
    def input_fn():
        count = v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
        return {"x": np.ones(2), "pair": [count, tf.constant(10)]}

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(input_fn)
    assert estimator.get_variable_value("seen") == 3 * (2 + 10) + 0 + 1 + 2


def test_no_features_at_all(tmp_path):
    def alone(features, labels, mode):
        assert features == {}
        return model_fn({"x": tf.constant(1.0)}, labels, mode)

    estimator = eb.Estimator(alone, str(tmp_path))
    estimator.train(lambda: ({}, None), steps=3)
    assert estimator.get_variable_value("seen") == 3


def test_an_evaluation_sees_the_values_of_its_own_call(tmp_path):
    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(constants, steps=1)
    values = []
    for value in (1.0, 2.0):
        values.append(value)
        result = estimator.evaluate(lambda: {"x": np.full(3, values[-1])}, steps=2)
        assert result["loss"] == 3 * value


@pytest.mark.parametrize("kind", ["tensors", "numbers", "a pair"])
def test_features_may_have_keys_of_several_types(tmp_path, kind):
    def input_fn():
        make = tf.constant if kind == "tensors" else np.asarray
        features = {"a": make([1.0]), 42: make([20.0]), ("b", 1): make([300.0])}
        return [features, features] if kind == "a pair" else (features, None)

    def added(features, labels, mode):
        assert set(features) == {"a", 42, ("b", 1)}
        if labels is not None:
            assert np.shape(labels[42]) == (1,)
        total = features["a"] + 2 * features[42] + 3 * features["b", 1]
        return model_fn({"x": tf.convert_to_tensor(total)}, None, mode)

    estimator = eb.Estimator(added, str(tmp_path))
    estimator.train(input_fn, steps=2)
    assert estimator.get_variable_value("seen") == 2 * 941
    assert estimator.evaluate(input_fn, steps=1)["loss"] == 941
    assert next(estimator.predict(input_fn)) == {"x": 941}


class Labelled:
    """An object that is no tensor, and converts to the one that it holds."""

    def __init__(self, tensor):
        self.tensor = tensor


tf.register_tensor_conversion_function(
    Labelled, lambda value, dtype=None, name=None, as_ref=False: value.tensor
)


def test_objects_that_convert_to_tensors_reach_model_fn_as_they_are(tmp_path):
    def input_fn():
        count = v1.data.make_one_shot_iterator(tf.data.Dataset.range(4)).get_next()
        return {"count": Labelled(count), "ten": Labelled(tf.constant(10))}

    def opening(features, labels, mode):
        return model_fn({key: value.tensor for key, value in features.items()}, labels, mode)

    estimator = eb.Estimator(opening, str(tmp_path))
    estimator.train(input_fn)
    assert estimator.get_variable_value("seen") == 4 * 10 + 0 + 1 + 2 + 3


def test_objects_that_do_not_convert_are_named():
    with pytest.raises(TypeError, match=r"made of tensors; got object"):
        eb.Estimator(model_fn).train(lambda: {"x": object()}, steps=1)


@pytest.mark.parametrize("cores", [0, 2])
@pytest.mark.parametrize("labels", [None, 0])
def test_features_of_a_prediction_may_be_a_pair(cores, labels):
    def input_fn(params):
        words = tf.constant([[1, 2], [3, 4]])
        return (words, tf.constant([2, 1])), None if labels is None else tf.constant([5, 6])

    def model_fn(features, labels, mode, params):
        assert labels is None
        words, lengths = features
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"words": words, "lengths": lengths})

    estimator = eb.tpu.TPUEstimator(
        model_fn,
        config=eb.tpu.RunConfig(master=f"emulated:{cores}" if cores else None),
        use_tpu=bool(cores),
        predict_batch_size=2,
    )
    if cores:  # as ever, a prediction on a TPU wants a dataset
        pair = input_fn
        input_fn = lambda params: tf.data.Dataset.from_tensors(pair(params)[0]).map(  # noqa: E731
            lambda words, lengths: ((words, lengths), words)
        )
    first = next(estimator.predict(input_fn))
    assert (first["words"].tolist(), first["lengths"]) == ([1, 2], 2)
