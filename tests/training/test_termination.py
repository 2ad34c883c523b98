"""SIGTERM during training: a checkpoint, and a clean end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1

PROGRAM = """
import sys
import estimator_bridge as eb
import tensorflow as tf
v1 = tf.compat.v1

def model_fn(features, labels, mode):
    print("tracing", flush=True)
    step = v1.train.get_global_step()
    return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=v1.assign_add(step, 1))

config = eb.RunConfig(model_dir=sys.argv[1], log_step_count_steps=10)
ones = lambda: tf.data.Dataset.from_tensors([1.0]).repeat()
eb.Estimator(model_fn, config=config).train(ones)
print("not reached")
"""


class SendsSigterm(v1.train.SessionRunHook):
    def __init__(self, at_step):
        self.at_step, self.steps, self.ended = at_step, 0, False

    def after_run(self, run_context, run_values):
        self.steps += 1
        if self.steps == self.at_step:
            os.kill(os.getpid(), signal.SIGTERM)

    def end(self, session):
        self.ended = True


def model_fn(features, labels, mode):
    step = v1.train.get_global_step()
    return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=v1.assign_add(step, 1))


def ones():
    return tf.data.Dataset.from_tensors(np.ones([4], np.float32)).repeat()


def test_a_checkpoint_is_saved_and_the_process_ends(tmp_path):
    estimator, hook = eb.Estimator(model_fn, str(tmp_path)), SendsSigterm(7)
    with pytest.raises(SystemExit) as ended:
        estimator.train(ones, hooks=[hook], steps=1000)
    assert ended.value.code == 143
    assert hook.ended
    assert estimator.get_variable_value("global_step") == 7
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    estimator.train(ones, max_steps=10)  # started again, it goes on
    assert estimator.get_variable_value("global_step") == 10


def test_a_handler_of_the_program_is_left_alone(tmp_path):
    signals = []
    signal.signal(signal.SIGTERM, lambda *arguments: signals.append(arguments))
    try:
        estimator = eb.Estimator(model_fn, str(tmp_path))
        estimator.train(ones, hooks=[SendsSigterm(3)], steps=5)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert len(signals) == 1
    assert estimator.get_variable_value("global_step") == 5


def test_a_real_process(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "tracing\n"
        deadline = time.monotonic() + 300
        while not list(tmp_path.glob("model.ckpt-0.index")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 143
    assert output == ""
    assert "Traceback" not in errors
    assert "SIGTERM" in errors
    assert eb.Estimator(model_fn, str(tmp_path)).get_variable_value("global_step") > 0
