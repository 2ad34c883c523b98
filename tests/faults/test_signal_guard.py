"""The guard process, which ends a training that no longer runs Python code."""

import contextlib
import ctypes
import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest
from open_files import many_open_files

from estimator_bridge.training.supervision import guard_process, signal_guard, signal_watch
from estimator_bridge.training.supervision.guard_process import Guard
from estimator_bridge.training.supervision.termination import (
    Termination,
    ending_on_signals,
    interruptible,
)

ON = "on 1 15,2 35.0 Training\t/nowhere"


@pytest.fixture
def wake():
    reading, writing = socket.socketpair()
    with reading, writing:
        yield reading, writing


def guards(parent):
    """The guards of a process."""
    processes = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_guard = any(word.endswith(b"guard_process.py") for word in words)
        if is_guard and str(parent).encode() in words:
            processes.append(int(entry.name))
    return processes


def wait_until(condition, secs=20.0):
    end = time.monotonic() + secs
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def hang_with_the_lock():
    lock = ctypes.create_string_buffer(128)  # a mutex that nobody holds
    for _ in range(2):
        ctypes.PyDLL(None).pthread_mutex_lock(lock)


def sleep_with_the_lock(secs):
    ctypes.PyDLL(None).sleep(secs)


def forked(program, stderr):
    """Runs a program in a fork of this process; returns its id when it is ready."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.dup2(stderr.fileno(), 2)
        code = 1
        try:
            program(lambda: os.write(writing, b"."))
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    assert os.read(reading, 1)
    os.close(reading)
    return process


def test_signals_that_are_read_in_time_are_the_trainings_own(wake):
    reading, writing = wake
    guard = Guard(reading)
    guard.receive(ON, 0.0)
    assert guard.look(0.0) is None
    assert guard.look_again_in(0.0) is None
    writing.send(bytes([signal.SIGTERM]))
    assert guard.look(1.0) is None
    assert guard.look_again_in(1.0) == 0.1
    assert guard.look(35.9) is None
    reading.recv(10)
    assert guard.look(36.5) is None
    assert guard.look_again_in(36.5) is None


def test_signals_that_stay_unread_end_it(wake):
    reading, writing = wake
    guard = Guard(reading)
    guard.receive(ON, 0.0)
    writing.send(bytes([signal.SIGCHLD, signal.SIGINT, signal.SIGINT]))  # as `timeout` sends them
    assert guard.look(1.0) is None
    assert guard.look(30.0) is None
    assert guard.look(36.1) == "35 s after a signal"


def test_a_second_signal_ends_it_soon(wake):
    reading, writing = wake
    guard = Guard(reading)
    guard.receive(ON, 0.0)
    writing.send(bytes([signal.SIGTERM]))
    assert guard.look(1.0) is None
    writing.send(bytes([signal.SIGTERM]))
    assert guard.look(2.0) is None
    assert guard.look(4.1) == "at a second signal"


def test_a_training_that_falls_silent_while_it_ends(wake):
    reading, writing = wake
    guard = Guard(reading)
    guard.receive(ON, 0.0)
    guard.receive("until 7 5.0", 1.0)  # of another call
    assert guard.look(100.0) is None
    guard.receive("until 1 10.0", 101.0)
    guard.receive("until 1 10.0", 105.0)  # the last checkpoint has its own time
    assert guard.look(114.0) is None
    writing.send(bytes([signal.SIGTERM]))  # a second one, which nobody reads
    assert guard.look(114.5) is None
    assert guard.look(115.1) == "14 s after a signal"
    guard.receive("off", 115.2)
    assert not guard.is_on
    assert guard.look(200.0) is None


def test_signals_of_others_are_none_of_its_business(wake):
    reading, writing = wake
    guard = Guard(reading)
    guard.receive("on 1 2 35.0 Evaluation\t", 0.0)
    writing.send(bytes([signal.SIGTERM, signal.SIGCHLD]))
    assert guard.look(1.0) is None
    assert guard.look(100.0) is None
    assert guard.last_words("why").startswith("estimator_bridge: Evaluation is killed, why: ")


@pytest.mark.parametrize("when", ["at the signal", "after it", "with 1,024 open files"])
def test_code_that_keeps_the_lock_is_killed(tmp_path, monkeypatch, when):
    monkeypatch.setattr(signal_guard, "_MARGIN_SECS", 0.4)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-4"\n')
    (tmp_path / "model.ckpt-4.index").write_text("x")

    def program(ready):
        with contextlib.ExitStack() as context:
            if when == "with 1,024 open files":
                context.enter_context(many_open_files())
            termination = context.enter_context(ending_on_signals(str(tmp_path), 0.3))
            termination.stage = type(termination.stage).STEPS
            if when == "at the signal":
                ready()
            else:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.1)
                ready()
            hang_with_the_lock()

    with open(tmp_path / "stderr", "w+") as stderr:
        process = forked(program, stderr)
        if when == "at the signal":
            time.sleep(0.2)
            os.kill(process, signal.SIGTERM)
        status = os.waitpid(process, 0)[1]
        line = (tmp_path / "stderr").read_text().splitlines()[-1]
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert line.startswith("estimator_bridge: Training is killed, ")
    assert "keeps Python's lock (the GIL)" in line
    resumes = "is complete; training resumes from it when started again."
    assert line.endswith(f"The checkpoint {tmp_path}/model.ckpt-4 {resumes}")
    wait_until(lambda: not guards(process))


@pytest.mark.parametrize("where", ["in the third part", "in the caller's code"])
def test_a_call_of_many_short_parts_is_guarded_in_them_alone(tmp_path, monkeypatch, where):
    monkeypatch.setattr(signal_guard, "_MARGIN_SECS", -29.0)  # of 30 s of grace

    def program(ready):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
        termination = Termination("Prediction", secs=30.0)
        for _ in range(2):
            with interruptible("Prediction", termination):
                pass
        wait_until(lambda: guards(os.getpid()))
        if where == "in the third part":
            with interruptible("Prediction", termination):
                ready()
                hang_with_the_lock()
        with contextlib.suppress(KeyboardInterrupt):
            ready()
            wait_until(lambda: False)  # until the signal
        sleep_with_the_lock(4)

    with open(tmp_path / "stderr", "w+") as stderr:
        process = forked(program, stderr)
        time.sleep(0.2)
        os.kill(process, signal.SIGINT)
        status = os.waitpid(process, 0)[1]
        text = (tmp_path / "stderr").read_text()
    if where == "in the third part":
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert "estimator_bridge: Prediction is killed, " in text
    else:
        assert (status, text) == (0, "")


@pytest.mark.parametrize("how", ["well", "killed"])
def test_it_ends_with_its_parent_however_that_ends_and_forks_do_not_keep_it(tmp_path, how):
    def program(ready):
        with ending_on_signals(str(tmp_path)):
            keeper = os.fork()  # as a worker that outlives its parent
            if not keeper:
                time.sleep(60)
                os._exit(0)
            (tmp_path / "keeper").write_text(str(keeper))
        ready()
        if how == "killed":
            time.sleep(60)

    with open(tmp_path / "stderr", "w+") as stderr:
        process = forked(program, stderr)
    try:
        if how == "killed":
            wait_until(lambda: guards(process))
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        wait_until(lambda: not guards(process))
    finally:
        os.kill(int((tmp_path / "keeper").read_text()), signal.SIGKILL)


def test_one_guard_serves_all_calls_and_is_not_seen_by_waits_for_children(tmp_path):
    def program(ready):
        for _ in range(3):
            with ending_on_signals(str(tmp_path)):
                wait_until(lambda: len(guards(os.getpid())) == 1)

        def is_alone():  # and the process that has started it is reaped
            try:
                return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) and False
            except ChildProcessError:
                return True

        wait_until(is_alone)
        assert len(guards(os.getpid())) == 1
        ready()

    with open(tmp_path / "stderr", "w+") as stderr:
        process = forked(program, stderr)
    assert os.waitpid(process, 0)[1] == 0
    wait_until(lambda: not guards(process))


def test_none_is_wanted_or_can_be_started(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(signal_watch._state, "watcher", None)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with ending_on_signals(str(tmp_path)):
        pass
    assert "the process that would end it does not start" in caplog.text
    assert "/nowhere/python: No such file or directory" in caplog.text
    caplog.clear()
    monkeypatch.setattr(signal_watch._state, "watcher", None)
    monkeypatch.setenv("ESTIMATOR_BRIDGE_SIGNAL_GUARD", "0")
    with ending_on_signals(str(tmp_path)):
        pass
    assert not caplog.text


def test_a_notebook_is_not_killed_by_ctrl_c(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "ps1", "In: ", raising=False)
    with ending_on_signals(str(tmp_path)) as termination:
        assert list(termination.guarded([signal.SIGTERM, signal.SIGINT]).signums) == [15]
        assert termination.guarded([signal.SIGINT]) is None


def test_the_line_says_what_can_be_known(tmp_path):
    standing = guard_process._describe_checkpoint
    assert standing(str(tmp_path)) == f"No checkpoint was written to {tmp_path} yet."
    (tmp_path / "checkpoint").write_bytes(b"\xff\x00")
    assert standing(str(tmp_path)) == f"No checkpoint was written to {tmp_path} yet."
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-4"\n')
    assert standing(str(tmp_path)) == f"Training resumes from the newest checkpoint in {tmp_path}."
    assert standing("gs://bucket/model").endswith("the newest checkpoint in gs://bucket/model.")
