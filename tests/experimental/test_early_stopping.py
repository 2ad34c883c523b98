"""Evaluations stop training; the loop keeps running in between."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.experimental.stopping import CheckForStoppingHook, StopOnPredicateHook
from estimator_bridge.training.metrics import write_results

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
EVALUATIONS = [(1000, 0.8, 0.5), (2000, 0.7, 0.6), (3000, 0.4, 0.7), (3500, 0.41, 0.68)]


def model_fn(features, labels, mode):
    step = v1.train.get_global_step()
    loss = 1.0 / (tf.cast(step, tf.float32) + tf.reduce_mean(features))
    return eb.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))


def ones():
    return tf.data.Dataset.from_tensors(np.ones([2], np.float32)).repeat()


@pytest.fixture
def estimator(tmp_path):
    return eb.Estimator(model_fn, str(tmp_path), eb.RunConfig(save_checkpoints_steps=10))


@pytest.fixture
def evaluated(estimator):
    with tf.Graph().as_default():
        for step, loss, accuracy in EVALUATIONS:
            results = {"loss": loss, "accuracy": accuracy, "global_step": step}
            write_results(estimator.eval_dir(), results, None)
    return estimator


def stops(hook):
    """Returns whether a hook stops TensorFlow's own session after one step."""
    with tf.Graph().as_default():
        v1.train.create_global_step()
        step = tf.no_op()
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            session.run(step)
            return session.should_stop()


@pytest.mark.parametrize(
    ("make", "arguments", "expected"),
    [
        ("stop_if_higher_hook", ("accuracy", 0.8), False),
        ("stop_if_higher_hook", ("accuracy", 0.6, None, 4000), False),
        ("stop_if_higher_hook", ("accuracy", 0.6), True),
        ("stop_if_lower_hook", ("loss", 0.3), False),
        ("stop_if_lower_hook", ("loss", 0.5, None, 4000), False),
        ("stop_if_lower_hook", ("loss", 0.5), True),
        ("stop_if_no_increase_hook", ("accuracy", 1500), False),
        ("stop_if_no_increase_hook", ("accuracy", 500, None, 4000), False),
        ("stop_if_no_increase_hook", ("accuracy", 500), True),
        ("stop_if_no_decrease_hook", ("loss", 1500), False),
        ("stop_if_no_decrease_hook", ("loss", 500, None, 4000), False),
        ("stop_if_no_decrease_hook", ("loss", 500), True),
    ],
)
def test_conditions(evaluated, make, arguments, expected):
    assert stops(getattr(eb.experimental, make)(evaluated, *arguments)) is expected


def test_metric_that_no_evaluation_has(evaluated):
    hook = eb.experimental.stop_if_lower_hook(evaluated, "los", 0.5)
    with pytest.raises(ValueError, match=r"metric 'los', but .* step 1000 .*'accuracy', 'loss'\]"):
        stops(hook)


def test_metrics_of_another_folder(evaluated, tmp_path):
    folder = str(tmp_path / "empty")
    assert not stops(eb.experimental.stop_if_lower_hook(evaluated, "loss", 0.5, folder))


def test_train_and_evaluate_stops_at_the_evaluation_that_is_good_enough(estimator):
    hook = eb.experimental.stop_if_lower_hook(
        estimator, "loss", 0.04, run_every_secs=None, run_every_steps=1
    )
    metrics, _ = eb.train_and_evaluate(
        estimator,
        eb.TrainSpec(ones, 1000, hooks=[hook]),
        eb.EvalSpec(ones, steps=1, throttle_secs=0),
    )
    assert metrics["global_step"] == 30  # the loss of step 30 is 1 / 31, of step 20 1 / 21


def test_the_loop_runs_on_between_the_calls(estimator, monkeypatch):
    calls = []
    run = eb.runtime.StepLoop.__call__
    monkeypatch.setattr(
        eb.runtime.StepLoop,
        "__call__",
        lambda self, iterator, steps, *args, **more: (
            calls.append(steps) or run(self, iterator, steps, *args, **more)
        ),
    )
    asked = []
    hook = eb.experimental.make_early_stopping_hook(
        estimator, lambda: len(asked) >= 3 or asked.append(1), None, run_every_steps=40
    )
    config = estimator.config.replace(
        save_checkpoints_steps=1000, save_summary_steps=1000, log_step_count_steps=1000
    )
    eb.Estimator(model_fn, config=config).train(ones, hooks=[hook], steps=500)
    assert len(asked) == 3
    assert sum(calls) == 1 + 3 * 40  # asked after steps 1, 41, 81, and told to stop after 121
    assert len(calls) < 20


def test_tpu_loops_are_left_when_the_function_says_so(tmp_path):
    def tpu_model_fn(features, labels, mode, params):
        train_op = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.tpu.TPUEstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=train_op)

    config = eb.tpu.RunConfig(
        master="emulated:1", model_dir=str(tmp_path), tpu_config=eb.tpu.TPUConfig(4)
    )
    estimator = eb.tpu.TPUEstimator(tpu_model_fn, config=config, train_batch_size=2)
    asked = []
    hook = eb.experimental.make_early_stopping_hook(
        estimator, lambda: asked.append(1) or len(asked) == 3, None, run_every_steps=8
    )
    estimator.train(lambda params: ones(), hooks=[hook], steps=100)
    assert estimator.get_variable_value("global_step") == 4 + 8 + 8


def test_seconds_between_calls():
    now, asked = [0.0], []
    hook = StopOnPredicateHook(lambda: asked.append(now[0]), 60, clock=lambda: now[0])
    with tf.Graph().as_default():
        v1.train.create_global_step()
        step = tf.no_op()
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            for now[0] in (0, 10, 59, 61, 100, 122):
                session.run(step)
    assert asked == [0, 61, 122]


def test_a_loop_asks_when_the_seconds_are_over():
    now = [0.0]
    hook = StopOnPredicateHook(lambda: False, 60, clock=lambda: now[0])
    assert hook.steps_until_due(0) == 1
    with tf.Graph().as_default():
        v1.train.create_global_step()
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            session.run([])
    assert hook.steps_until_due(1) == float("inf")
    now[0] = 60.0
    assert hook.steps_until_due(5).now


def test_chief_sets_the_variable_that_workers_look_at():
    stop = [False]
    with tf.Graph().as_default():
        v1.train.create_global_step()
        step = tf.no_op()
        hook = StopOnPredicateHook(lambda: stop[0], run_every_secs=0)
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            (stop_signal,) = (
                v for v in v1.global_variables() if v.name == "signal_early_stopping/STOP:0"
            )
            is_set = []
            for stop[0] in (False, True):
                session.run(step)
                is_set.append(bool(session.raw_session().run(stop_signal)))
    assert is_set == [False, True]


def test_worker_in_training_stops_by_the_variable(tmp_path):
    """The worker's own loop sees a variable that something else sets."""

    class Chief(v1.train.SessionRunHook):
        def begin(self):
            with v1.variable_scope("signal_early_stopping", reuse=v1.AUTO_REUSE):
                self.stop = v1.assign(v1.get_variable("STOP", [], tf.bool), True)

        def after_run(self, run_context, run_values):
            if run_context.session.run(v1.train.get_global_step()) == 7:
                run_context.session.run(self.stop)

    estimator = eb.Estimator(model_fn, str(tmp_path))
    estimator.train(ones, hooks=[CheckForStoppingHook(), Chief()], steps=1000)
    assert 7 < int(estimator.get_variable_value("global_step")) <= 9


class Worker(eb.RunConfig):
    is_chief = False


def test_hook_of_a_worker():
    hook = eb.experimental.make_early_stopping_hook(
        eb.Estimator(model_fn, config=Worker()), lambda: True
    )
    assert isinstance(hook, CheckForStoppingHook)


class MultiWorkerMirroredStrategyForTest(tf.distribute.OneDeviceStrategy):
    """Named as those are that let all workers count steps alike."""


def test_workers_of_one_strategy_decide_alike():
    strategy = MultiWorkerMirroredStrategyForTest("/cpu:0")
    estimator = eb.Estimator(model_fn, config=Worker(train_distribute=strategy))
    with pytest.raises(ValueError, match="run_every_secs should not be set when using Multi"):
        eb.experimental.make_early_stopping_hook(estimator, lambda: True)
    hook = eb.experimental.make_early_stopping_hook(estimator, lambda: True, None, 10)
    assert stops(hook)


def test_other_strategies_may_count_seconds():
    config = eb.RunConfig(train_distribute=tf.distribute.OneDeviceStrategy("/cpu:0"))
    hook = eb.experimental.make_early_stopping_hook(
        eb.Estimator(model_fn, config=config), lambda: True
    )
    assert stops(hook)


def test_wrong_arguments(estimator):
    make = eb.experimental.make_early_stopping_hook
    with pytest.raises(TypeError, match=r"`estimator` must have type `tf.estimator.Estimator`"):
        make(object(), lambda: True)
    with pytest.raises(ValueError, match="Only one of `run_every_secs` and `run_every_steps`"):
        make(estimator, lambda: True, 60, 100)
    with pytest.raises(ValueError, match="Either every_secs or every_steps should be provided"):
        make(estimator, lambda: True, None)
    with pytest.raises(TypeError, match="`should_stop_fn` must be callable"):
        make(estimator, True)
