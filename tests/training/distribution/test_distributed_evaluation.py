"""eval_distribute: metrics over all examples, wherever they were seen."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from distributed_models import Fetched, batches, estimator, mirrored, model, output

import estimator_bridge as eb

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained")
    estimator(model(), path).train(batches(8), steps=5)
    return path


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_metrics_are_those_of_one_replica(replicas, folder):
    alone = estimator(model(), folder).evaluate(batches(4))
    together = estimator(model(), folder, evaluate=mirrored(replicas)).evaluate(batches(4))
    assert together["count"] == 48
    assert together.keys() == alone.keys()
    for key, value in alone.items():
        np.testing.assert_allclose(together[key], value, rtol=1e-5, err_msg=key)


@pytest.mark.parametrize("examples", [4, 5, 9, 13, 15])
def test_elements_left_over_at_the_end_count(examples, folder):
    """With 4 an element and 2 replicas: one element alone, a short one, an odd number of them."""
    alone = estimator(model(), folder).evaluate(batches(4, examples))
    run = estimator(model(), folder, evaluate=mirrored(2))
    together = run.evaluate(batches(4, examples))
    assert together["count"] == examples
    np.testing.assert_allclose(together["loss"], alone["loss"], rtol=1e-5)
    again = run.evaluate(batches(4, examples))  # with the same trace
    assert again == together


def test_steps_bound_the_evaluation(folder):
    run = estimator(model(), folder, evaluate=mirrored(2))
    assert run.evaluate(batches(4, 20), steps=1)["count"] == 8
    assert run.evaluate(batches(4, 20), steps=2)["count"] == 16
    assert run.evaluate(batches(4, 20), steps=3)["count"] == 20


def test_keras_metrics(folder):
    def model_fn(features, labels, mode):
        logits = output(features)
        loss = v1.losses.sigmoid_cross_entropy(labels, logits)
        mean, auc = tf.keras.metrics.Mean(), tf.keras.metrics.AUC()
        mean.update_state(features)
        auc.update_state(labels, tf.sigmoid(logits))
        return eb.EstimatorSpec(mode, loss=loss, eval_metric_ops={"mean": mean, "auc": auc})

    alone = estimator(model_fn, folder).evaluate(batches(4))
    together = estimator(model_fn, folder, evaluate=mirrored(2)).evaluate(batches(4))
    for key, value in alone.items():
        np.testing.assert_allclose(together[key], value, rtol=1e-5, err_msg=key)


def test_a_hook_sees_a_metric_over_all_replicas(tmp_path):
    def model_fn(features, labels, mode):
        total = v1.metrics.mean(features, name="mine")
        return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), eval_metric_ops={"m": total})

    numbers = tf.data.Dataset.range(6).map(lambda x: tf.cast(x, tf.float32)).batch(1)
    hook = Fetched("mine/value:0")
    run = estimator(model_fn, tmp_path, evaluate=mirrored(2))
    assert run.evaluate(lambda: numbers, hooks=[hook])["m"] == 2.5
    assert hook.values == [0.5, 1.5, 2.5]


def test_a_metric_that_adds_values_up_drops_what_is_left_over(tmp_path, caplog):
    def model_fn(features, labels, mode):
        context = tf.distribute.get_replica_context()
        total = context.all_reduce(tf.distribute.ReduceOp.SUM, tf.reduce_sum(features))
        return eb.EstimatorSpec(mode, loss=total, eval_metric_ops={"mean": v1.metrics.mean(total)})

    numbers = tf.data.Dataset.range(5).map(lambda x: tf.cast(x, tf.float32)).batch(1)
    run = estimator(model_fn, tmp_path, evaluate=mirrored(2))
    assert run.evaluate(lambda: numbers)["mean"] == (1 + 5) / 2
    assert "last 1 element(s)" in caplog.text
