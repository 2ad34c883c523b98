"""ESTIMATOR_BRIDGE_XLA: off, on, or the quicker of both, measured in the training."""

import logging
import re

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.runtime import LoopResult
from estimator_bridge.training.xla_trial import TrialLoop, XlaTrial

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    outputs = v1.layers.dense(features, 1)[:, 0]
    loss = v1.losses.mean_squared_error(labels, outputs)
    train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(0).rand(8, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).repeat().batch(4, True)


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_a_training_says_which_way_was_quicker(tmp_path, monkeypatch, caplog, mode):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_XLA", mode)
    config = eb.RunConfig(model_dir=str(tmp_path), tf_random_seed=1, log_step_count_steps=20)
    estimator = eb.Estimator(model_fn, config=config)
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        estimator.train(input_fn, steps=700)
    assert estimator.get_variable_value("global_step") == 700
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("XLA: ")]
    if mode == "off":
        assert not lines
    else:
        (line,) = lines
        assert re.fullmatch(
            r"XLA: the training step runs [\d.e+]+ times a second compiled and [\d.e+]+ times "
            r"without; the rest runs (compiled|without)\.",
            line,
        )


def test_another_value_is_refused_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_XLA", "yes")
    estimator = eb.Estimator(model_fn, str(tmp_path))
    with pytest.raises(ValueError, match=r"ESTIMATOR_BRIDGE_XLA must be 'auto', .*got 'yes'"):
        estimator.train(input_fn, steps=1)
    assert not list(tmp_path.glob("*"))


class FakeLoop:
    """A loop whose calls take a given time; the first takes longer, as it compiles."""

    request = sums = has_effects = draws_more = names = None

    def __init__(self, clock, secs):
        self._clock, self._secs, self.calls = clock, secs, 0

    def __call__(self, iterator, steps, *_):
        self.calls += 1
        self._clock.now += steps * self._secs + (100.0 if self.calls == 1 else 0.0)
        return LoopResult(steps, False, 0.0, {}, None)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(("compiled_secs", "choice"), [(0.5, True), (2.0, False)])
def test_the_quicker_loop_runs_the_rest(caplog, compiled_secs, choice):
    clock = Clock()
    trial = XlaTrial("train", clock)
    compiled, plain = FakeLoop(clock, compiled_secs), FakeLoop(clock, 1.0)
    loop = TrialLoop(compiled, plain, trial)
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        for _ in range(8):
            assert trial.choice is None
            loop(None, 10)
    assert trial.choice is choice
    quicker, other = (compiled, plain) if choice else (plain, compiled)
    assert (quicker.calls, other.calls) == (4, 4)
    for _ in range(5):
        loop(None, 10)
    assert (quicker.calls, other.calls) == (9, 4)
    assert f"{1 / compiled_secs:.4g} times a second compiled and 1 times without" in caplog.text


def test_calls_of_very_different_lengths_are_not_compared():
    trial = XlaTrial("train", Clock())
    for _ in range(10):
        trial.observe(True, 100, 1.0)
        trial.observe(False, 10, 1.0)
    assert trial.choice is None
