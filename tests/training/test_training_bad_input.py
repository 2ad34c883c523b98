"""Errors of the Estimator for wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def ones():
    return tf.data.Dataset.from_tensor_slices(np.ones([8, 3], np.float32)).batch(4)


def model_fn(features, labels, mode):
    value = tf.reduce_sum(v1.layers.dense(features, 1) ** 2)
    train_op = v1.train.GradientDescentOptimizer(0.01).minimize(value, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, predictions=features, loss=value, train_op=train_op)


def test_nan_loss_names_the_step_and_what_to_try(tmp_path):
    def explodes(features, labels, mode):
        step = v1.train.get_global_step()
        weight = v1.get_variable("w", [])
        loss = tf.where(step < 3, weight, tf.math.log(-1.0 - 0 * weight))
        return eb.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    def endless():
        return ones().repeat()

    estimator = eb.Estimator(explodes, str(tmp_path))
    with pytest.raises(v1.train.NanLossDuringTrainingError, match=r"step 4.*learning rate"):
        estimator.train(endless, steps=100)


@pytest.mark.parametrize("name", ["steps", "max_steps"])
def test_steps_that_are_not_positive(name):
    with pytest.raises(ValueError, match=f"Must specify {name} > 0, given: 0"):
        eb.Estimator(model_fn).train(ones, **{name: 0})


def test_steps_and_max_steps_together():
    with pytest.raises(ValueError, match="Can not provide both steps and max_steps"):
        eb.Estimator(model_fn).train(ones, steps=1, max_steps=1)


def test_model_fn_arguments():
    with pytest.raises(ValueError, match=r"not expected args: \['extra'\]"):
        eb.Estimator(lambda features, extra: None)
    with pytest.raises(ValueError, match="does not include params argument"):
        eb.Estimator(lambda features: None, params={"a": 1})
    with pytest.raises(ValueError, match="must include features argument"):
        eb.Estimator(lambda labels: None)


def test_two_model_dirs():
    with pytest.raises(ValueError, match="different values"):
        eb.Estimator(model_fn, "one", eb.RunConfig(model_dir="two"))


def test_hooks_and_listeners_are_checked():
    with pytest.raises(TypeError, match="Hooks must be a SessionRunHook"):
        eb.Estimator(model_fn).train(ones, hooks=[object()])
    with pytest.raises(TypeError, match="CheckpointSaverListener"):
        eb.Estimator(model_fn).train(ones, saving_listeners=[object()])


def test_overridden_members():
    class Mine(eb.Estimator):
        def train(self):
            return None

    with pytest.raises(ValueError, match="cannot override members of Estimator"):
        Mine(model_fn)


def test_checkpoint_path_that_is_not_there(tmp_path):
    path = str(tmp_path / "model.ckpt-7")
    with pytest.raises(ValueError, match="Could not find trained model at"):
        eb.Estimator(model_fn, str(tmp_path)).evaluate(ones, checkpoint_path=path)


def test_variables_before_training(tmp_path):
    with pytest.raises(ValueError, match="Could not find trained model in model_dir"):
        eb.Estimator(model_fn, str(tmp_path)).get_variable_names()


def test_predict_keys_that_match_nothing(tmp_path):
    def named(features, labels, mode):
        return eb.EstimatorSpec(mode, predictions={"x": features})

    with pytest.raises(ValueError, match="Expected to run at least one output from"):
        next(eb.Estimator(named, str(tmp_path)).predict(ones, predict_keys=["y"]))


def test_predictions_of_different_length(tmp_path):
    def uneven(features, labels, mode):
        return eb.EstimatorSpec(mode, predictions={"x": features, "y": features[:1]})

    estimator = eb.Estimator(uneven, str(tmp_path))
    with pytest.raises(ValueError, match="Batch length of predictions should be same"):
        next(estimator.predict(ones))
    whole = next(estimator.predict(ones, yield_single_examples=False))
    assert (len(whole["x"]), len(whole["y"])) == (4, 1)


def test_metric_called_loss(tmp_path):
    def clash(features, labels, mode):
        loss = tf.reduce_sum(features)
        return eb.EstimatorSpec(mode, loss=loss, eval_metric_ops={"loss": v1.metrics.mean(loss)})

    with pytest.raises(ValueError, match='"loss" is not allowed'):
        eb.Estimator(clash, str(tmp_path)).evaluate(ones)
