"""Evaluation and prediction are traced once; each call sees its own input and checkpoint."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


class Recorder:
    def __init__(self):
        self.modes = []

    def model_fn(self, features, labels, mode):
        self.modes.append(mode)
        weight = v1.get_variable("weight", [], initializer=v1.zeros_initializer())
        if mode == "infer":
            return eb.EstimatorSpec(mode, predictions=features * weight)
        loss = tf.reduce_mean((features * weight - labels) ** 2)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(
            mode,
            predictions=features * weight,
            loss=loss,
            train_op=train_op,
            eval_metric_ops={"mean_label": v1.metrics.mean(labels)},
        )


def input_of(*labels, batch=2):
    def input_fn():
        values = np.array(labels, np.float32)
        return tf.data.Dataset.from_tensor_slices((np.ones_like(values), values)).batch(batch)

    return input_fn


def test_trace_is_used_again_for_each_input_and_checkpoint(tmp_path):
    recorder = Recorder()
    estimator = eb.Estimator(recorder.model_fn, str(tmp_path))
    estimator.train(input_of(2, 2))
    first = estimator.evaluate(input_of(2, 2, 5))
    estimator.train(input_of(2, 2))
    second = estimator.evaluate(input_of(1, 1, 1, 1))
    assert recorder.modes.count("eval") == 1
    np.testing.assert_allclose(first["mean_label"], 3)
    np.testing.assert_allclose(second["mean_label"], 1)
    assert (first["global_step"], second["global_step"]) == (1, 2)
    weights = [0.4, 0.72]  # w += 0.2 (2 - w)
    np.testing.assert_allclose(second["loss"], (weights[1] - 1) ** 2, rtol=1e-5)


def test_another_shape_is_traced_anew(tmp_path):
    recorder = Recorder()
    estimator = eb.Estimator(recorder.model_fn, str(tmp_path))
    estimator.train(input_of(2, 2))

    def matrix():
        return tf.data.Dataset.from_tensors((np.ones([2, 3], "f"), np.ones([2, 3], "f")))

    estimator.evaluate(input_of(2, 2))
    estimator.evaluate(matrix)
    assert recorder.modes.count("eval") == 2


def test_lookup_table_of_the_input_is_made_for_each_evaluation(tmp_path):
    def words():
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [2.0, 4.0]), -1.0
        )
        words = tf.data.Dataset.from_tensor_slices(["a", "b"]).batch(2)
        return words.map(lambda w: (tf.ones([2]), table.lookup(w)))

    estimator = eb.Estimator(Recorder().model_fn, str(tmp_path))
    estimator.train(words, steps=1)
    for _ in range(2):
        np.testing.assert_allclose(estimator.evaluate(words)["mean_label"], 3)


def predicted(estimator, *labels, **arguments):
    return [float(value) for value in estimator.predict(input_of(*labels), **arguments)]


def test_predictions_use_a_trace_again_for_each_input_and_checkpoint(tmp_path):
    recorder = Recorder()
    estimator = eb.Estimator(recorder.model_fn, str(tmp_path))
    estimator.train(input_of(2, 2))
    first = predicted(estimator, 1, 2, 3)
    estimator.train(input_of(2, 2))
    second = predicted(estimator, 1)
    before = predicted(estimator, 1, 1, checkpoint_path=str(tmp_path / "model.ckpt-1"))
    assert recorder.modes.count("infer") == 1
    np.testing.assert_allclose(first, [0.4] * 3, rtol=1e-6)
    np.testing.assert_allclose(second, [0.72], rtol=1e-6)
    np.testing.assert_allclose(before, [0.4] * 2, rtol=1e-6)


def test_who_wants_one_prediction_at_a_time_pays_for_one_trace(tmp_path):
    recorder = Recorder()
    estimator = eb.Estimator(recorder.model_fn, str(tmp_path))
    estimator.train(input_of(2, 2))
    predictions = [float(next(estimator.predict(input_of(1, 2, 3)))) for _ in range(3)]
    assert recorder.modes.count("infer") == 1
    np.testing.assert_allclose(predictions, [0.4] * 3, rtol=1e-6)


def test_predictions_in_turn_do_not_meet(tmp_path):
    recorder = Recorder()
    estimator = eb.Estimator(recorder.model_fn, str(tmp_path))
    estimator.train(input_of(2, 2))
    predicted(estimator, 1)
    latest = estimator.predict(input_of(1, 2, 3, 4, 5))
    predictions = [float(next(latest))]
    estimator.train(input_of(2, 2))
    newer = estimator.predict(input_of(1, 2, 3))
    pairs = [(float(a), float(b)) for a, b in zip(latest, newer)]
    assert recorder.modes.count("infer") == 2
    np.testing.assert_allclose([*predictions, *(a for a, _ in pairs)], [0.4] * 4, rtol=1e-6)
    np.testing.assert_allclose([b for _, b in pairs], [0.72] * 3, rtol=1e-6)


def test_a_failed_prediction_leaves_nothing_behind(tmp_path):
    recorder = Recorder()
    estimator = eb.Estimator(recorder.model_fn, str(tmp_path))
    estimator.train(input_of(2, 2))

    def failing():
        values = input_of(1, 2, 3, 4)()
        return values.map(lambda x, y: (tf.debugging.assert_less(y, 3.0), (x, y))[1])

    with pytest.raises(tf.errors.InvalidArgumentError):
        list(estimator.predict(failing))
    np.testing.assert_allclose(predicted(estimator, 1), [0.4], rtol=1e-6)
