"""add_metrics and call_logit_fn."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.experimental import call_logit_fn

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def model_fn(features, labels, mode, params):
    predictions = {"twice": features["x"] * 2 + params["offset"]}
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, predictions=predictions)
    return eb.EstimatorSpec(
        mode,
        predictions=predictions,
        loss=tf.reduce_mean(features["x"]),
        train_op=v1.assign_add(v1.train.get_global_step(), 1),
        eval_metric_ops={"mean": v1.metrics.mean(labels), "own": v1.metrics.mean(labels)},
    )


def input_fn(params):
    x = np.arange(4, dtype=np.float32)
    return tf.data.Dataset.from_tensors(({"x": x + params["offset"]}, x)).repeat(2)


@pytest.fixture
def estimator(tmp_path):
    config = eb.RunConfig(tf_random_seed=5)
    return eb.Estimator(model_fn, str(tmp_path), config, params={"offset": 1.0})


def test_added_metrics_join_those_of_the_model(estimator):
    def metric_fn(labels, predictions, features, config):
        assert config.tf_random_seed == 5
        error = tf.keras.metrics.Mean()
        error.update_state(predictions["twice"] - features["x"])
        return {"error": error, "mean": v1.metrics.mean(labels * 10)}

    extended = eb.add_metrics(estimator, metric_fn)
    extended.train(input_fn, steps=2)
    assert extended.model_dir == estimator.model_dir
    results = extended.evaluate(input_fn)
    assert results == {"error": 3.5, "mean": 15.0, "own": 1.5, "loss": 2.5, "global_step": 2}
    assert estimator.evaluate(input_fn)["mean"] == 1.5
    assert next(extended.predict(input_fn)) == {"twice": 3.0}


def test_metrics_of_one_argument_twice(estimator):
    once = eb.add_metrics(estimator, lambda labels: {"a": v1.metrics.mean(labels)})
    twice = eb.add_metrics(once, lambda features: {"b": v1.metrics.mean(features["x"])})
    results = twice.evaluate(input_fn)
    assert (results["a"], results["b"]) == (1.5, 2.5)


def test_metrics_added_to_a_tpu_spec():
    def tpu_model_fn(features, labels, mode):
        metrics = (lambda x: {"mean": v1.metrics.mean(x)}, [features["x"]])
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(labels), eval_metrics=metrics)

    estimator = eb.Estimator(tpu_model_fn)
    extended = eb.add_metrics(estimator, lambda labels: {"labels": v1.metrics.mean(labels)})
    results = extended.evaluate(lambda: input_fn({"offset": 1.0}))
    assert (results["mean"], results["labels"]) == (2.5, 1.5)


def test_tpu_estimator_is_refused():
    config = eb.tpu.RunConfig()
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, eval_batch_size=4)
    with pytest.raises(NotImplementedError, match=r"but got a TPUEstimator.*eval_metrics"):
        eb.add_metrics(estimator, lambda labels: {})


def test_metric_fn_of_other_arguments(estimator):
    with pytest.raises(ValueError, match=r"has following not expected args: \['logits'\]"):
        eb.add_metrics(estimator, lambda labels, logits: {})


def test_logit_fn_is_given_what_it_takes():
    arguments = {"mode": "train", "params": {"n": 3}, "config": "config"}

    def logit_fn(features, params, mode):
        return tf.constant([features, params["n"], len(mode)])

    assert list(call_logit_fn(logit_fn, 7, **arguments).numpy()) == [7, 3, 5]
    two = call_logit_fn(lambda features: {"a": tf.ones([1]), "b": tf.zeros([1])}, 7, **arguments)
    assert sorted(two) == ["a", "b"]


@pytest.mark.parametrize("returned", [None, [1.0], {"a": 1.0}, {1: tf.ones([])}])
def test_logit_fn_that_returns_no_logits(returned):
    with pytest.raises(ValueError, match="logit_fn should return a Tensor or a dictionary mapping"):
        call_logit_fn(lambda features: returned, 7, "train", {}, None)
