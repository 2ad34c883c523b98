"""Signals in the training process: notebooks, the program's own handlers, forked children."""

import os
import signal
import sys
import time

import pytest

import estimator_bridge as eb
from estimator_bridge.errors import Interrupted, InterruptedScript

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


class After(v1.train.SessionRunHook):
    def __init__(self, steps, function):
        self.steps, self.function = steps, function

    def before_run(self, run_context):
        pass

    def after_run(self, run_context, run_values):
        self.steps -= 1
        if not self.steps:
            self.function()


def model_fn(features, labels, mode):
    loss = tf.reduce_mean(features)
    if mode == "infer":
        return eb.EstimatorSpec(mode, predictions=features)
    step = v1.train.get_global_step()
    return eb.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))


def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()


def send(signum=signal.SIGINT):
    os.kill(os.getpid(), signum)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A background job of a shell may ignore Ctrl-C, and these tests would train for ever."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def estimator(tmp_path):
    return eb.Estimator(model_fn, str(tmp_path))


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setattr(sys, "ps1", "In: ", raising=False)


def handlers():
    wakeup = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakeup)
    return signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT), wakeup


def test_ctrl_c_in_a_script_saves_and_exits_with_130(estimator):
    before = handlers()
    with pytest.raises(KeyboardInterrupt) as ended:  # as with the original
        estimator.train(ones, hooks=[After(7, send)])
    assert isinstance(ended.value, SystemExit)  # so Python prints no traceback
    assert ended.value.code == 130
    assert isinstance(ended.value, InterruptedScript)
    assert "Training was stopped by Ctrl-C. The checkpoint" in str(ended.value)
    assert "model.ckpt-7 is complete" in str(ended.value)
    assert estimator.get_variable_value("global_step") == 7
    assert handlers() == before


def test_ctrl_c_in_a_notebook_saves_and_the_cell_ends_in_one_line(estimator, notebook):
    with pytest.raises(Interrupted) as ended:
        estimator.train(ones, hooks=[After(4, send)])
    assert not isinstance(ended.value, SystemExit)
    (line,) = ended.value._render_traceback_()
    assert line.startswith("Interrupted: Training was stopped by Ctrl-C. The checkpoint ")
    estimator.train(ones, steps=2)  # the kernel is usable
    assert estimator.get_variable_value("global_step") == 6


def test_a_second_ctrl_c_in_a_notebook_ends_a_hook_that_hangs(estimator, notebook):
    def hang():
        send()
        time.sleep(0.7)
        send()
        time.sleep(200)

    started = time.monotonic()
    with pytest.raises(Interrupted, match=r"model\.ckpt-0 is complete"):
        estimator.train(ones, hooks=[After(3, hang)])
    assert time.monotonic() - started < 100
    estimator.train(ones, max_steps=2)
    assert estimator.get_variable_value("global_step") == 2


def test_a_signal_that_comes_before_a_wait_begins_is_sent_again(estimator, notebook, monkeypatch):
    sent, kill = [], signal.pthread_kill

    def lose_the_first(thread, signum):
        sent.append(signum)
        if len(sent) > 1:
            kill(thread, signum)

    monkeypatch.setattr(signal, "pthread_kill", lose_the_first)

    def hang():
        send()
        time.sleep(0.7)
        send()
        time.sleep(0.05)  # the handler of the second Ctrl-C itself
        time.sleep(200)

    started = time.monotonic()
    with pytest.raises(Interrupted, match=r"model\.ckpt-0 is complete"):
        estimator.train(ones, hooks=[After(3, hang)])
    assert time.monotonic() - started < 100
    assert len(sent) >= 2


def test_a_signal_that_comes_twice_at_once_is_one_request(estimator):
    """`timeout`, for one, signals a process, and then its process group."""

    def twice():
        send(signal.SIGTERM)
        send(signal.SIGTERM)
        time.sleep(0.2)

    with pytest.raises(SystemExit) as ended:
        estimator.train(ones, hooks=[After(3, twice)])
    assert ended.value.code == 143
    assert estimator.get_variable_value("global_step") == 3


def test_ctrl_c_ends_an_evaluation_and_a_prediction(estimator, notebook):
    estimator.train(ones, steps=1)
    before = handlers()
    with pytest.raises(Interrupted, match="Evaluation was stopped by Ctrl-C"):
        estimator.evaluate(ones, steps=20, hooks=[After(2, send)])
    with pytest.raises(Interrupted, match="Prediction was stopped by Ctrl-C"):
        list(estimator.predict(ones, hooks=[After(2, send)]))
    assert handlers() == before
    assert estimator.evaluate(ones, steps=2)["loss"] == 1


def test_handlers_of_the_program_are_left_alone(estimator):
    signals = []
    before = signal.signal(signal.SIGINT, lambda *arguments: signals.append(arguments))
    try:
        estimator.train(ones, steps=5, hooks=[After(2, send)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(signals) == 1
    assert estimator.get_variable_value("global_step") == 5


def test_signals_are_handed_on_to_whom_they_woke_before(estimator):
    """An event loop, such as a notebook's, has its own wakeup file descriptor."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    try:
        with pytest.raises(SystemExit):
            estimator.train(ones, hooks=[After(2, lambda: send(signal.SIGTERM))])
        assert os.read(reading, 10) == bytes([signal.SIGTERM])
        assert signal.set_wakeup_fd(before) == writing
    finally:
        signal.set_wakeup_fd(before)


def test_a_forked_child_dies_of_sigterm_and_its_parent_trains_on(estimator):
    """As multiprocessing's workers have it, which are ended by SIGTERM."""
    statuses = []

    def fork():
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
        os.kill(child, signal.SIGTERM)
        statuses.append(os.waitpid(child, 0)[1])

    estimator.train(ones, steps=4, hooks=[After(2, fork)])
    assert os.WTERMSIG(statuses[0]) == signal.SIGTERM
    assert estimator.get_variable_value("global_step") == 4


@pytest.mark.parametrize("seconds", ["soon", "-1", "nan"])
def test_a_grace_period_that_is_no_time(estimator, monkeypatch, seconds):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_GRACE_SECS", seconds)
    with pytest.raises(
        ValueError, match=f"GRACE_SECS must be a number of seconds >= 0, got '{seconds}'"
    ):
        estimator.train(ones, steps=1)
    with pytest.raises(ValueError, match="must be a number of seconds >= 0"):
        eb.training.GracePeriod(seconds)
