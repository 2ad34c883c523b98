"""The number of Python calls of a step with a hook: it is the same on every machine."""

import cProfile
import os
import pstats

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.training import hooked_loop

_v1 = tf.compat.v1
_PACKAGE = os.path.dirname(eb.__file__) + os.sep
_STEPS = 70  # ends before the loop that is worth its compilation after 100 steps alone
# Measured: 76. Calls that are not made in every step are left out: how many functions a library
# holds depends on the tests before, and how often the lock's file is read on the time.
_MOST_CALLS = 77


def _model_fn(features, labels, mode):
    weight = _v1.get_variable("w", [4, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(features["x"], weight) - labels))
    step = _v1.train.get_global_step()
    train_op = _v1.train.GradientDescentOptimizer(0.01).minimize(loss, step)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _rows():
    row = {"x": np.ones([8, 4], np.float32)}, np.ones([8, 1], np.float32)
    return tf.data.Dataset.from_tensors(row).repeat()


def _train(folder, hook):
    config = eb.RunConfig(
        tf_random_seed=1, log_step_count_steps=1000, save_summary_steps=1000,
        save_checkpoints_steps=1000,
    )  # fmt: skip
    eb.Estimator(_model_fn, str(folder), config).train(_rows, hooks=[hook], steps=_STEPS + 40)


class _Profiled(tf.compat.v1.train.SessionRunHook):
    """Profiles from its 20th call on."""

    def __init__(self):
        self.profile = cProfile.Profile()
        self._calls = 0

    def after_run(self, run_context, run_values):
        self._calls += 1
        if self._calls == 20:
            self.profile.enable()
        elif self._calls == 20 + _STEPS:
            self.profile.disable()


def test_python_calls_of_a_step_with_a_hook(tmp_path):
    hook = _Profiled()
    _train(tmp_path, hook)
    calls = {
        (where[0].removeprefix(_PACKAGE), where[2]): counts[1] // _STEPS
        for where, counts in pstats.Stats(hook.profile).stats.items()
        if where[0].startswith(_PACKAGE)
    }
    assert 30 < sum(calls.values()) <= _MOST_CALLS, sorted(calls.items(), key=lambda c: -c[1])


def test_what_the_hooks_of_the_log_see_is_made_for_them_alone(tmp_path, monkeypatch):
    summaries = []

    def reached(*values):
        summaries.append(original(*values))
        return summaries[-1]

    original = hooked_loop.Reached
    monkeypatch.setattr(hooked_loop, "Reached", reached)
    _train(tmp_path, _v1.train.LoggingTensorHook({}, every_n_iter=1))
    assert {value.step for value in summaries} == {1}  # one line of the log, at the first step
