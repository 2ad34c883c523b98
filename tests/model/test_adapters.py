import functools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from running import STEPS, Traced, X, Y, assert_same, descent, linear, squared, train

from estimator_bridge.model import (
    CrossShardOptimizer,
    EstimatorSpec,
    ModeKeys,
    Model,
    TPUEstimatorSpec,
)

v1 = tf.compat.v1


class HandWritten(v1.train.Optimizer):
    """Overrides apply_gradients, and does not count."""

    def __init__(self):
        super().__init__(False, "HandWritten")

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return tf.group(*(v.assign_sub(0.01 * g) for g, v in grads_and_vars), name=name)


class ScaledBack(v1.train.GradientDescentOptimizer):
    """Overrides compute_gradients too."""

    def compute_gradients(self, loss, var_list=None, **kwargs):
        return [(g * 0.5, v) for g, v in super().compute_gradients(loss, var_list, **kwargs)]


OPTIMIZERS = {
    "v1 descent": descent,
    "v1 momentum": lambda: v1.train.MomentumOptimizer(0.01, 0.9),
    "v1 Adam": lambda: v1.train.AdamOptimizer(0.01),
    "hand-written": HandWritten,
    "overrides both": lambda: ScaledBack(0.01),
    "legacy SGD": lambda: tf_keras.optimizers.legacy.SGD(0.01, 0.9),
    "legacy Adam": lambda: tf_keras.optimizers.legacy.Adam(0.01),
    "SGD": lambda: tf_keras.optimizers.SGD(0.01, 0.9),
    "AdamW": lambda: tf_keras.optimizers.AdamW(0.01, weight_decay=0.1, clipnorm=0.5),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_both_adapters_train_alike_on_any_number_of_cores(optimizer):
    model = Model(linear, squared, optimizer=optimizer)
    losses, weights = train(model.model_fn, X, Y, STEPS)
    assert losses[-1] < losses[0]
    assert weights["global_step"] == STEPS
    for cores in (1, 2):
        tpu_losses, tpu_weights = train(model.tpu_model_fn, X, Y, STEPS, cores)
        assert_same(tpu_weights, weights)
        np.testing.assert_allclose(tpu_losses, losses, rtol=1e-5)


def test_a_schedule_follows_the_global_step():
    def optimizer():
        schedule = tf_keras.optimizers.schedules.PiecewiseConstantDecay([2], [0.01, 0.0])
        return tf_keras.optimizers.SGD(schedule)

    model = Model(linear, squared, optimizer=optimizer)
    _, early = train(model.model_fn, X, Y, 3)
    _, late = train(model.model_fn, X, Y, STEPS)
    np.testing.assert_array_equal(early["linear/kernel"], late["linear/kernel"])
    assert abs(early["linear/kernel"] - 1).max() > 1e-4


def test_an_optimizer_that_is_cross_shard_already_is_not_wrapped_again():
    for wrap in (CrossShardOptimizer, v1.tpu.CrossShardOptimizer):
        plain = Model(linear, squared, optimizer=descent)
        wrapped = Model(linear, squared, optimizer=functools.partial(_wrapped, wrap))
        _, expected = train(plain.tpu_model_fn, X, Y, 3, cores=2)
        _, got = train(wrapped.tpu_model_fn, X, Y, 3, cores=2)
        assert_same(got, expected)


def _wrapped(wrap):
    return wrap(descent())


# Evaluation and prediction.


def nested(features):
    return {"last": linear(features), "all": [features, 2 * features]}


def v1_metrics(labels, outputs):
    return {
        "error": v1.metrics.mean_squared_error(labels, outputs["last"]),
        "mean": v1.metrics.mean(outputs["all"][1]),
    }


def keras_metrics(labels, logits):
    error = tf_keras.metrics.MeanSquaredError()
    error.update_state(labels, logits["last"])
    mean = tf_keras.metrics.Mean()
    mean.update_state(logits["all"][1])
    return {"error": error, "mean": mean}


@pytest.mark.parametrize("metrics", [v1_metrics, keras_metrics])
@pytest.mark.parametrize("cores", [None, 1, 2])
def test_metrics_are_of_the_global_batch(metrics, cores):
    model = Model(nested, lambda labels, outputs: squared(labels, outputs["last"]), metrics)
    traced = Traced(model.tpu_model_fn if cores else model.model_fn, ModeKeys.EVAL, X, Y, cores)
    losses = traced.run(STEPS)
    expected = {
        "error": np.mean((X.sum(axis=-1, keepdims=True) - Y) ** 2),
        "mean": np.mean(2 * X),
    }
    assert_same(traced.results(), expected)
    np.testing.assert_allclose(np.mean(losses), expected["error"], rtol=1e-5)


def test_metrics_may_ask_for_features_and_settings():
    def metrics(features, labels, params, mode):
        assert (mode, params) == (ModeKeys.EVAL, {"factor": 3.0})
        return {"spread": v1.metrics.mean(params["factor"] * (features[:, :1] - labels))}

    model = Model(linear, squared, metrics)
    for cores in (None, 2):
        build = model.tpu_model_fn if cores else model.model_fn
        traced = Traced(build, ModeKeys.EVAL, X, Y, cores, params={"factor": 3.0})
        traced.run(1)
        assert_same(traced.results(), {"spread": np.mean(3 * (X[0, :, :1] - Y[0]))})


def test_only_what_metrics_ask_for_is_gathered():
    model = Model(linear, squared, lambda outputs: {"mean": v1.metrics.mean(outputs)})
    with tf.Graph().as_default():
        spec = model.tpu_model_fn(tf.zeros([2, 3]), tf.zeros([2, 1]), ModeKeys.EVAL)
        assert list(spec.eval_metrics[1]) == ["outputs"]


def _predict(model, adapter="model_fn"):
    with tf.Graph().as_default():
        features = v1.placeholder(tf.float32, [2, 3])
        spec = getattr(model, adapter)(features, None, ModeKeys.PREDICT)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return spec, session.run(spec.predictions, {features: np.ones([2, 3])})


@pytest.mark.parametrize("adapter", ["model_fn", "tpu_model_fn"])
def test_predictions_are_the_outputs_unless_told(adapter):
    spec, values = _predict(Model(linear), adapter)
    assert isinstance(spec, EstimatorSpec if adapter == "model_fn" else TPUEstimatorSpec)
    assert_same(values, {"outputs": np.full([2, 1], 3.0)})
    assert list(spec.export_outputs) == ["serving_default"]
    _, values = _predict(Model(lambda features: {"a": linear(features)}), adapter)
    assert_same(values, {"a": np.full([2, 1], 3.0)})
    model = Model(linear, predictions=lambda features, logits: {"b": logits + features})
    _, values = _predict(model, adapter)
    assert_same(values, {"b": np.full([2, 3], 4.0)})


def test_a_mode_builds_nothing_that_it_does_not_need():
    def refuse():
        raise AssertionError("called without need")

    model = Model(linear, loss=refuse, metrics=refuse, optimizer=refuse)
    assert list(_predict(model)[1]) == ["outputs"]


def test_a_partial_fills_other_arguments():
    def scaled(features, factor):
        return factor * linear(features)

    _, values = _predict(Model(functools.partial(scaled, factor=2.0)))
    assert_same(values, {"outputs": np.full([2, 1], 6.0)})
