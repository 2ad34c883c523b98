"""Probes of session-run hooks."""

from __future__ import annotations

import tempfile

import tensorflow as tf

from estimator_bridge.tensorflow_private.hooks import (
    checkpoint_folder,
    checkpoint_path,
    count_logged_calls,
    final_step,
    forget_event_writers,
    has_saver_attributes,
    has_waited,
    listeners_of,
    logged_calls,
    move_next_step,
    open_event_writers,
    profile_path,
    saver_of,
    timer_of,
    timer_periods,
    watched_loss,
    write_graph_def,
)
from estimator_bridge.tensorflow_private.sessions import SessionCalls
from estimator_bridge.tensorflow_private.timers import steady_time, timed_modules, use_steady_timers
from tooling.tensorflow_probes.registry import check, new_graph, probe

v1 = tf.compat.v1
_train = v1.train


@probe("watched_loss", "final_step", "has_waited", "timer_of", "timer_periods", "logged_calls",
        "count_logged_calls", "move_next_step", "profile_path")  # fmt: skip
def _hooks() -> None:
    with new_graph(), tempfile.TemporaryDirectory() as folder:
        loss = tf.constant(1.0)
        _train.get_or_create_global_step()
        check(watched_loss(_train.NanTensorHook(loss)) is loss, "NanTensorHook")
        check(final_step(_train.StopAtStepHook(last_step=7)) == 7, "StopAtStepHook")
        waiter = _train.GlobalStepWaiterHook(3)
        check(has_waited(waiter) is False, "GlobalStepWaiterHook")
        waiter.begin()
        check("_worker_is_started" in vars(waiter), "GlobalStepWaiterHook, when it has begun")
        log = _train.LoggingTensorHook([loss], every_n_iter=5)
        check(timer_periods(timer_of(log)) == (5, None), "LoggingTensorHook")
        check(logged_calls(log) == 0, "calls before begin()")
        log.begin()
        count_logged_calls(log, 4)
        check(logged_calls(log) == 4, "calls that were not made")
        profiler = _train.ProfilerHook(save_steps=2, output_dir=folder)
        profiler.begin()
        move_next_step(profiler, 9)
        check(profiler._next_step is None, "ProfilerHook's next step")
        check(profile_path(profiler).startswith(folder), "ProfilerHook's path")
        summaries = _train.SummarySaverHook(2, output_dir=folder, summary_op=tf.constant(b""))
        check(timer_periods(timer_of(summaries)) == (2, None), "SummarySaverHook")
        at_end = _train.LoggingTensorHook([loss], at_end=True)
        check(timer_periods(timer_of(at_end)) == (None, None), "no timer")


@probe("checkpoint_folder", "checkpoint_path", "saver_of", "listeners_of", "write_graph_def",
        "has_saver_attributes")  # fmt: skip
def _saver_hook() -> None:
    with new_graph(), tempfile.TemporaryDirectory() as folder:
        v1.get_variable("w", [])
        saver = _train.Saver()
        hook = _train.CheckpointSaverHook(folder, save_steps=1, saver=saver)
        check(has_saver_attributes(hook), "the constructor's attributes")
        check(checkpoint_folder(hook) == folder, "the folder")
        check(checkpoint_path(hook) == f"{folder}/model.ckpt", "the path")
        check(saver_of(hook) is saver, "the saver")
        listeners_of(hook).append("listener")
        check(listeners_of(hook) == ["listener"], "the listeners are a copy")
        check("_save_graph_def" in vars(hook), "graph.pbtxt is chosen elsewhere")
        write_graph_def(hook, should_write=False)


@probe("steady_time", "timed_modules", "use_steady_timers")
def _timers() -> None:
    for module in timed_modules:
        check("time" in vars(module), f"{module.__name__} does not use the module time")
    use_steady_timers()
    timer = _train.SecondOrStepTimer(every_secs=1)
    before = steady_time()
    timer.update_last_triggered_step(1)
    after = steady_time()
    check(before <= timer._last_triggered_time <= after, "SecondOrStepTimer has another clock")


@probe("open_event_writers", "forget_event_writers")
def _writers() -> None:
    with new_graph(), tempfile.TemporaryDirectory() as folder:
        writer = v1.summary.FileWriterCache.get(folder)
        check(writer in open_event_writers(), "a writer of the cache is not listed")
        forget_event_writers(folder)
        check(writer not in open_event_writers(), "a writer stays in the cache")
        v1.summary.FileWriterCache.clear()


@probe("SessionCalls")
def _session_calls() -> None:
    with new_graph() as graph:
        x = v1.placeholder(tf.float32, [None])
        fetches = {"y": 2 * x}
        with v1.Session(graph=graph) as session:
            session_run, v1.Session._run = v1.Session._run, None  # it works without
            try:
                got = SessionCalls().run(session, fetches, {x: [1.0, 2.0]})
            finally:
                v1.Session._run = session_run
        check(list(got["y"]) == [2, 4], "a session")
        with _train.MonitoredSession() as monitored_session:
            got = SessionCalls().run(monitored_session, fetches, {x: [3.0]})
            check(list(got["y"]) == [6], "a monitored session")
