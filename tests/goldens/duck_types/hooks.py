"""Hooks, their timers, listeners and summary writers of programs."""

from __future__ import annotations

from unittest import mock

import tensorflow as tf
from goldens.duck_types.models import case, make, nans, steps_of, threes, trained

v1 = tf.compat.v1
train = v1.train


class Listener(train.CheckpointSaverListener):
    """Has no attribute of its class, and one of each name that this library's listeners have."""

    def __init__(self, log):  # pylint: disable=super-init-not-called
        self.log = log

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.log.append(f"{name} called")

    def begin(self):
        self.log.append("begin")

    def before_save(self, session, global_step_value):
        self.log.append(f"before {global_step_value}")

    def after_save(self, session, global_step_value):
        self.log.append(f"after {global_step_value}")

    def end(self, session, global_step_value):
        self.log.append(f"end {global_step_value}")


@case
def listener_with_any_attribute(estimator, folder):
    log = []
    seen = trained(make(estimator, folder), folder, saving_listeners=[Listener(log)])
    return {**seen, "log": log}


@case
def listener_mock(estimator, folder):
    listener = mock.Mock(spec=train.CheckpointSaverListener)
    listener.after_save.return_value = None
    seen = trained(make(estimator, folder), folder, saving_listeners=[listener])
    return {**seen, "calls": [name for name, _, _ in listener.method_calls]}


class AnyHook(train.SessionRunHook):
    """Answers to any public name, as a recording proxy does."""

    def __init__(self):
        self.log = []

    def __getattr__(self, name):
        if name.startswith("_") or name == "log":
            raise AttributeError(name)
        return lambda *args, **kwargs: self.log.append(f"{name} called")

    def before_run(self, run_context):
        self.log.append("before_run")

    def after_run(self, run_context, run_values):
        self.log.append("after_run")


class OwnNames(train.SessionRunHook):
    """Has methods of its own under the names of this library's."""

    def __init__(self):
        self.log = []

    def after_run(self, run_context, run_values):
        self.log.append("after_run")

    def observe(self):
        self.log.append("observe")

    def skip(self):
        self.log.append("skip")

    def use_input(self):
        self.log.append("use_input")

    def take(self):
        self.log.append("take")

    sees_reached = True
    is_of_run = True


@case
def hook_with_any_attribute(estimator, folder):
    hooks = [AnyHook(), AnyHook(), AnyHook()]
    model = make(estimator, folder)
    model.train(threes, steps=2, hooks=hooks[:1])
    model.evaluate(threes, steps=2, hooks=hooks[1:2])
    next(model.predict(threes, hooks=hooks[2:]))
    return [hook.log for hook in hooks]


@case
def hook_with_own_names(estimator, folder):
    hooks = [OwnNames(), OwnNames()]
    model = make(estimator, folder)
    model.train(threes, steps=2, hooks=hooks[:1])
    model.evaluate(threes, steps=2, hooks=hooks[1:])
    return [hook.log for hook in hooks]


@case
def hook_mock(estimator, folder):
    hook = mock.Mock(spec=train.SessionRunHook)
    hook.before_run.return_value = None
    seen = trained(make(estimator, folder), folder, steps=2, hooks=[hook])
    return {**seen, "calls": [name for name, _, _ in hook.method_calls]}


@case
def hook_mock_that_wraps(estimator, folder):
    inner = train.StopAtStepHook(num_steps=3)
    hook = mock.Mock(wraps=inner, spec=inner)
    seen = trained(make(estimator, folder), folder, steps=9, hooks=[hook])
    return {**seen, "calls": [name for name, _, _ in hook.method_calls]}


class NoNanHook(train.NanTensorHook):
    """Lets NaN pass for a while, by a hook of its own."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.calls = 0

    def before_run(self, run_context):
        return None

    def after_run(self, run_context, run_values):
        self.calls += 1


class DelegatingSaverHook(train.CheckpointSaverHook):
    """Has no attribute of its class, and calls another hook."""

    def __init__(self, inner):  # pylint: disable=super-init-not-called
        self.inner, self.calls = inner, []

    def begin(self):
        self.calls.append("begin")
        self.inner.begin()

    def after_create_session(self, session, coord):
        self.calls.append("after_create_session")
        self.inner.after_create_session(session, coord)

    def before_run(self, run_context):
        self.calls.append("before_run")
        return self.inner.before_run(run_context)

    def after_run(self, run_context, run_values):
        self.calls.append("after_run")
        self.inner.after_run(run_context, run_values)

    def end(self, session):
        self.calls.append("end")
        self.inner.end(session)


@case
def nan_hook_of_program(estimator, folder):
    hook = NoNanHook()
    return {**trained(make(estimator, folder), folder, hooks=[hook]), "calls": hook.calls}


@case
def nan_with_hook_of_program(estimator, folder):
    hook = NoNanHook()
    try:
        make(estimator, folder).train(nans, steps=3, hooks=[hook])
    except train.NanLossDuringTrainingError as error:
        return {"error": "NaN" if "NaN" in str(error) else str(error), "calls": hook.calls}
    return {}


@case
def saver_hook_that_delegates(estimator, folder):
    hook = DelegatingSaverHook(train.CheckpointSaverHook(folder, save_steps=2))
    return {**trained(make(estimator, folder), folder, hooks=[hook]), "calls": hook.calls}


@case
def saver_hook_mock(estimator, folder):
    hook = mock.Mock(spec=train.CheckpointSaverHook)
    hook.before_run.return_value = None
    make(estimator, folder).train(threes, steps=2, hooks=[hook])
    return {"steps": steps_of(folder), "calls": [name for name, _, _ in hook.method_calls]}


class EveryThird(train.SecondOrStepTimer):
    """A timer with its own rule."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.last = None

    def reset(self):
        self.last = None

    def should_trigger_for_step(self, step):
        return step % 3 == 0

    def update_last_triggered_step(self, step):
        before, self.last = self.last, step
        return (None, None) if before is None else (1.0, step - before)

    def last_triggered_step(self):
        return self.last


@case
def hook_with_own_timer(estimator, folder):
    log = []

    class FollowsTimer(train.StepCounterHook):
        def __init__(self):
            super().__init__(every_n_steps=1, output_dir=folder)
            self._timer = EveryThird()

        def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
            log.append(int(global_step))

    seen = trained(make(estimator, folder), folder, steps=13, hooks=[FollowsTimer()])
    return {**seen, "log": log}


# Summary writers


class Writer:
    """A summary writer by hand."""

    def __init__(self):
        self.log = []

    def add_summary(self, summary, global_step=None):
        self.log.append(["summary", int(global_step)])

    def add_session_log(self, session_log, global_step=None):
        self.log.append(["session_log", int(global_step)])

    def flush(self):
        self.log.append(["flush"])


@case
def summary_writer(estimator, folder):
    writer = Writer()

    def hooks():
        v1.summary.scalar("one", tf.constant(1.0))
        merged = v1.summary.merge_all()
        return [train.SummarySaverHook(2, summary_writer=writer, summary_op=merged)]

    seen = trained(make(estimator, folder, training_hooks=hooks), folder)
    return {**seen, "log": [entry for entry in writer.log if entry != ["flush"]]}


@case
def summary_writer_of_rates(estimator, folder):
    writer = Writer()
    hook = train.StepCounterHook(every_n_steps=2, summary_writer=writer)
    trained(make(estimator, folder), folder, hooks=[hook])
    return [entry for entry in writer.log if entry != ["flush"]]
