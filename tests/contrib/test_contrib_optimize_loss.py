"""tf.contrib.layers.optimize_loss: its steps and errors."""

import numpy as np
import pytest
import tensorflow as tf

from estimator_bridge_contrib import layers

v1 = tf.compat.v1


def train(steps=1, rate=0.1, gradient=3.0, start=1.0, **options):
    """Trains w on the loss gradient * w; returns w after the steps, the summaries, the step."""
    with tf.Graph().as_default():
        v1.set_random_seed(1)
        step = v1.train.get_or_create_global_step()
        w = v1.get_variable("w", [], initializer=v1.constant_initializer(start))
        options = {"optimizer": "SGD", **options}
        op = layers.optimize_loss(gradient * w, step, rate, **options)
        summaries = v1.summary.merge_all()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(steps):
                session.run(op)
            values = {each.op.name: session.run(each) for each in v1.global_variables()}
            written = (
                v1.Summary.FromString(session.run(summaries)) if summaries is not None else None
            )
    tags = {each.tag: each.simple_value for each in written.value} if written else {}
    return values, tags


def test_a_step_of_gradient_descent():
    values, tags = train(steps=2)
    np.testing.assert_allclose(values["w"], 1 - 2 * 0.3, rtol=1e-6)
    assert values["global_step"] == 2
    np.testing.assert_allclose(values["OptimizeLoss/learning_rate"], 0.1)
    assert set(tags) == {"OptimizeLoss/loss", "OptimizeLoss/global_norm/gradient_norm"}
    np.testing.assert_allclose(tags["OptimizeLoss/global_norm/gradient_norm"], 3)


@pytest.mark.parametrize(
    "optimizer",
    [
        *layers.OPTIMIZER_CLS_NAMES,
        v1.train.AdamOptimizer,
        v1.train.GradientDescentOptimizer(0.5),
        lambda rate: v1.train.MomentumOptimizer(rate, 0.9),
    ],
)
def test_every_form_of_an_optimizer_goes_downhill(optimizer):
    values, _ = train(optimizer=optimizer)
    assert values["w"] < 1


def test_a_decayed_rate_and_no_counting():
    values, tags = train(
        learning_rate_decay_fn=lambda rate, step: rate * 0.5, increment_global_step=False
    )
    np.testing.assert_allclose(values["w"], 1 - 0.15, rtol=1e-6)
    # The variable has taken the name itself.
    np.testing.assert_allclose(tags["OptimizeLoss/learning_rate_1"], 0.05)
    assert values["global_step"] == 0


def test_clipping_and_multipliers_and_noise():
    values, tags = train(clip_gradients=0.5, summaries=["gradient_norm"], name="Mine")
    np.testing.assert_allclose(values["w"], 1 - 0.05, rtol=1e-6)
    np.testing.assert_allclose(tags["Mine/global_norm/clipped_gradient_norm"], 0.5, rtol=1e-6)
    np.testing.assert_allclose(tags["Mine/gradient_norm/w_0"], 0.5, rtol=1e-6)
    values, _ = train(gradient_multipliers={"w:0": 2.0})
    np.testing.assert_allclose(values["w"], 1 - 0.6, rtol=1e-6)
    values, _ = train(clip_gradients=lambda pairs: [(-g, w) for g, w in pairs])
    np.testing.assert_allclose(values["w"], 1.3, rtol=1e-6)
    values, _ = train(gradient_noise_scale=1.0)
    assert 0 < abs(values["w"] - 0.7) < 0.21


def test_adaptive_clipping_cuts_what_is_out_of_the_ordinary():
    # With norms of 3 only, the average tends to log 3, and nothing is cut in the end.
    clip = layers.adaptive_clipping_fn(decay=0.5, report_summary=True)
    values, tags = train(steps=30, clip_gradients=clip)
    np.testing.assert_allclose(values["OptimizeLoss/AdaptiveMaxNorm/mean"], np.log(3), rtol=1e-4)
    np.testing.assert_allclose(
        tags["OptimizeLoss/global_norm/adaptive_max_gradient_norm"], 3, rtol=1e-2
    )
    bounded = layers.adaptive_clipping_fn(decay=0.5, static_max_norm=0.3)
    values, _ = train(steps=1, clip_gradients=bounded)
    assert 1 - values["w"] <= 0.1 * 0.3 + 1e-6


def test_updates_run_before_the_step():
    with tf.Graph().as_default():
        v1.train.create_global_step()
        count = v1.get_variable("count", [], initializer=v1.zeros_initializer(), trainable=False)
        w = v1.get_variable("w", [], initializer=v1.ones_initializer())
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, v1.assign_add(count, 1.0))
        op = layers.optimize_loss(w * 1.0, None, 0.1, "SGD", summaries=[])
        again = layers.optimize_loss(w * 1.0, None, 0.1, "SGD", update_ops=[], name="none")
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run([op])
            session.run([again])
            assert session.run(count) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"optimizer": "Nadam"}, r"should be one of \[Adagrad, .*you provided Nadam"),
        ({"optimizer": "SGD", "rate": None}, r"Learning rate is None.*string \(SGD\)"),
        ({"rate": 1}, "should be 0d Tensor or float. Got 1 of type"),
        ({"rate": -1.0}, "Invalid learning_rate -1.0"),
        ({"optimizer": 3}, "Unrecognized optimizer: should be string"),
        ({"optimizer": lambda rate: 3}, "function should return subclass of Optimizer. Got 3"),
        ({"clip_gradients": 1}, "Unknown type .* for clip_gradients: give a float"),
        ({"summaries": ["losses"]}, "Summaries should be one of"),
        ({"gradient": [1.0, 2.0]}, "Expected scalar shape for the loss"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        train(**options)
