"""The machine's clock is set while a program runs: no timer notices."""

import ast
import threading
import time
from pathlib import Path

import pytest
import tensorflow as tf
from tensorflow.python.summary.writer import event_file_writer

import estimator_bridge as eb
from estimator_bridge.experimental.stopping import StopOnPredicateHook
from estimator_bridge.legacy.library.training import StopAtSecsHook
from estimator_bridge.tensorflow_private import timers
from estimator_bridge.tensorflow_private.hooks import timer_of
from estimator_bridge.tensorflow_private.timers import use_steady_timers
from estimator_bridge.training.async_saver import AsyncCheckpointSaverHook
from estimator_bridge.training.continuous.evaluation_results import EvalResult, EvalStatus
from estimator_bridge.training.continuous.evaluator_loop import evaluate_until_final
from estimator_bridge.training.continuous.listeners import (
    ContinuousEvalListener,
    EvaluateAfterSaving,
)
from estimator_bridge.training.graph_files import GraphSaverHook
from estimator_bridge.training.hook_schedule import due_by_timer
from estimator_bridge.training.log_hooks import LossLogHook, RateLogHook, Reached
from estimator_bridge_contrib.learn.monitor_files import CheckpointSaver
from estimator_bridge_contrib.training.waiting import wait_for_new_checkpoint

v1 = tf.compat.v1
PACKAGE = Path(eb.__file__).parent
NOW = 1_700_000_000.0
SECS = 600
JUMPS = {
    "back two hours": -7200,
    "forward two hours": 7200,
    "forward ten years": 10 * 365 * 86400,
    "back before 2001": 86400 - NOW,
}


class Clock:
    """The machine's clock, and its monotonic one."""

    def __init__(self):
        self.wall, self.monotonic = NOW, 1000.0

    def pass_secs(self, secs):
        self.wall += secs
        self.monotonic += secs

    def jump(self, secs):
        self.wall += secs


@pytest.fixture
def clock(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where ProfilerHook opens an event file
    clock = Clock()
    system_time = lambda: clock.wall  # noqa: E731 - it has an identity
    use_steady_timers()
    monkeypatch.setattr(time, "time", system_time)
    monkeypatch.setattr(timers, "_system_time", system_time)
    monkeypatch.setattr(timers, "_start", NOW - clock.monotonic)
    monkeypatch.setattr(time, "monotonic", lambda: clock.monotonic)
    yield clock
    v1.summary.FileWriterCache.clear()  # its thread opens the file later, then in another folder


@pytest.fixture(params=JUMPS.values(), ids=JUMPS)
def jump(request):
    return request.param


def of_hook(hook):
    """The timer of TensorFlow's hook: its start, and whether the hook is due at the next step."""
    timer = timer_of(hook)
    timer.update_last_triggered_step(1)
    return lambda: due_by_timer(timer, 1).now


class OwnTimer(v1.train.SecondOrStepTimer):
    """A program's, which counts the times it is asked."""

    asked = 0

    def should_trigger_for_step(self, step):
        self.asked += 1
        return super().should_trigger_for_step(step)


def own_timer():
    timer = OwnTimer(every_secs=SECS)
    timer.update_last_triggered_step(1)
    return lambda: timer.should_trigger_for_step(2)


class Session:
    def run(self, fetches):
        return 1


def stop_on_predicate():
    calls = []
    with tf.Graph().as_default():
        v1.train.create_global_step()
        hook = StopOnPredicateHook(lambda: calls.append(1), SECS, clock=time.monotonic)
        hook.begin()
    hook.after_run(v1.train.SessionRunContext(None, Session()), None)
    return lambda: hook.steps_until_due(1).now if hook.steps_until_due(1) != float("inf") else False


class Evaluator:
    """Evaluates in no time, and counts."""

    model_dir = "/a/folder/that/is/not/there"

    def __init__(self):
        self.count = 0

    def evaluate_and_export(self):
        self.count += 1
        return EvalResult(EvalStatus.EVALUATED, {"global_step": 1}, "path"), []


def throttle():
    evaluator = Evaluator()
    listener = EvaluateAfterSaving(evaluator, SECS, ContinuousEvalListener(), time.monotonic)
    listener.begin()
    listener.after_save(None, 0)
    listener.after_save(None, 1)

    def is_due():
        before = evaluator.count
        listener.after_save(None, 2)
        return evaluator.count > before

    return is_due


def stop_at_secs():
    hook = StopAtSecsHook(SECS)
    hook.begin()

    def is_due():
        context = v1.train.SessionRunContext(None, None)
        hook.after_run(context, None)
        return context.stop_requested

    return is_due


def learn_saver(monkeypatch):
    saves = []
    monkeypatch.setattr(CheckpointSaver, "_save", lambda self, step, session: saves.append(step))
    monitor = CheckpointSaver("unused", save_secs=SECS, saver=object())
    monitor._saved = 0, time.monotonic()

    def is_due():
        saves.clear()
        monitor.post_step(1, None)
        return bool(saves)

    return is_due


def in_graph(make):
    def started():
        with tf.Graph().as_default():
            v1.train.create_global_step()
            return of_hook(make())

    return started


TIMERS = {
    "save_checkpoints_secs": in_graph(lambda: GraphSaverHook("unused", save_secs=SECS)),
    "asynchronous checkpoints": in_graph(lambda: AsyncCheckpointSaverHook("unused", SECS)),
    "CheckpointSaverHook": in_graph(lambda: v1.train.CheckpointSaverHook("unused", SECS)),
    "SummarySaverHook": in_graph(
        lambda: v1.train.SummarySaverHook(
            save_secs=SECS, output_dir="unused", summary_op=tf.constant(b"")
        )
    ),
    "LoggingTensorHook": in_graph(
        lambda: v1.train.LoggingTensorHook([tf.constant(1)], every_n_secs=SECS)
    ),
    "StepCounterHook": in_graph(
        lambda: v1.train.StepCounterHook(every_n_steps=None, every_n_secs=SECS)
    ),
    "ProfilerHook": in_graph(lambda: v1.train.ProfilerHook(save_secs=SECS)),
    "a program's timer": own_timer,
    "early stopping": stop_on_predicate,
    "throttle_secs": throttle,
    "StopAtSecsHook": stop_at_secs,
}


def check(is_due, clock, jump):
    """Checks that the timer is due after SECS, and not before, whatever is done to the clock."""
    clock.pass_secs(100)
    assert not is_due()
    clock.jump(jump)
    assert not is_due()
    clock.pass_secs(SECS - 101)
    assert not is_due()
    clock.pass_secs(2)
    assert is_due()


@pytest.mark.parametrize("timer", TIMERS.values(), ids=TIMERS)
def test_a_timer_does_not_notice_that_the_clock_is_set(timer, clock, jump):
    check(timer(), clock, jump)


def test_the_saver_of_contrib_learn_does_not_notice_it(clock, jump, monkeypatch):
    check(learn_saver(monkeypatch), clock, jump)


def test_an_evaluator_waits_for_the_rest_of_throttle_secs(clock, jump):
    class Once(ContinuousEvalListener):
        count = 0

        def after_eval(self, eval_result):
            self.count += 1
            clock.pass_secs(100)
            clock.jump(jump)
            return self.count < 2

    evaluator, waits = Evaluator(), []
    evaluator.is_final = lambda result: False
    spec = eb.EvalSpec(lambda: None, start_delay_secs=7, throttle_secs=SECS)
    evaluate_until_final(evaluator, spec, Once(), waits.append, time.monotonic)
    assert waits == [7, SECS - 100]


@pytest.mark.parametrize(
    "wait", [wait_for_new_checkpoint, v1.train.checkpoints_iterator], ids=["contrib", "iterator"]
)
def test_a_wait_for_a_checkpoint_ends_in_time(wait, clock, jump, monkeypatch, tmp_path):
    sleeps = []

    def sleep(secs):
        sleeps.append(secs)
        assert len(sleeps) < 100
        clock.pass_secs(secs)
        if len(sleeps) == 3:
            clock.jump(jump)

    monkeypatch.setattr(time, "sleep", sleep)
    if wait is wait_for_new_checkpoint:
        assert wait(str(tmp_path), seconds_to_sleep=1, timeout=20) is None
    else:
        assert list(wait(str(tmp_path), timeout=20)) == []
    assert 18 <= sum(sleeps) <= 20


def test_rates_are_those_of_the_time_that_has_passed(clock, jump, monkeypatch):
    lines = []
    monkeypatch.setattr(v1.logging, "info", lambda text, *values: lines.append(text % values))
    rate = RateLogHook(10, "unused", ("global_step/sec", None), clock=time.monotonic)
    monkeypatch.setattr(rate, "_tell", lambda tag, value, step: lines.append(value))
    loss = LossLogHook(10, tf.float32, clock=time.monotonic)
    for step in (1, 11, 21):
        for hook in (rate, loss):
            values = v1.train.SessionRunValues(Reached(step, step - 1, 0.5, 1000), None, None)
            hook.skip(9) if hasattr(hook, "skip") else None
            hook.after_run(None, values)
        clock.pass_secs(20)
        clock.jump(jump)
    assert lines[:2] == ["loss = 0.5, step = 0", 0.5]
    assert [line for line in lines if isinstance(line, float)] == [0.5, 0.5]
    assert "loss = 0.5, step = 10 (20.000 sec)" in lines
    assert "About 33 min left." in lines


def test_events_reach_the_disk_in_time(clock, jump):
    """TensorFlow's thread that writes events flushes the file every so many seconds."""
    log, secs_between = [], iter([0, 300, SECS - 200, 300, SECS + 1])

    class Events:
        def get(self):
            clock.pass_secs(secs := next(secs_between, None) or 0)
            clock.jump(jump if secs == 300 else 0)
            return "event" if len(log) < 8 else "close"

        def close(self):
            pass

    class Writer:
        def WriteEvent(self, event):
            log.append(event)

        def Flush(self):
            log.append("flush")

    flushed = threading.Event()
    event_file_writer._EventLoggerThread(
        Events(), Writer(), SECS, flushed, "flush now", "close"
    ).run()
    assert log == ["event", "flush", "event", "event", "flush", "event", "event", "flush"]


def test_a_saver_keeps_a_checkpoint_every_hour(clock, jump, tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("w", [], initializer=v1.zeros_initializer())
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1)
        for minutes in range(10, 250, 10):
            clock.pass_secs(600)
            clock.jump(jump if minutes == 90 else 0)
            saver.save(session, str(tmp_path / "model.ckpt"), minutes, write_meta_graph=False)
    steps = sorted(int(path.stem.split("-")[1]) for path in tmp_path.glob("*.index"))
    assert steps == [70, 130, 190, 240]


def test_a_program_that_replaces_the_clock_sees_its_own(monkeypatch):
    """Tests of programs do, such as the original's own."""
    use_steady_timers()
    times = iter([100.0, 200.0, 100.0 + SECS])
    monkeypatch.setattr(time, "time", lambda: next(times))
    timer = v1.train.SecondOrStepTimer(every_secs=SECS)
    timer.update_last_triggered_step(1)
    assert timer._last_triggered_time == 100.0
    assert [timer.should_trigger_for_step(2) for _ in range(2)] == [False, True]


# Times of the wall clock: in files that other machines read, and as the name of an export.
WALL_CLOCK = {"checkpoint/lock_holder.py", "export/export_folders.py"}


def test_no_duration_is_measured_by_the_wall_clock():
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "tensorflow_private"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("time.time", "datetime.now")
    }
    assert users == WALL_CLOCK
