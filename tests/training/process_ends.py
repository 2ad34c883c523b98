"""Runs small programs, each in a process forked before TensorFlow's first operation.

Standard input is JSON: the programs' sources by name. The argument is the longest time of each, in
seconds. Writes a line of JSON for each program: its name, its exit code (null: it was stopped after
that time), and its output.

A fork saves the import of TensorFlow, and Python ends it like any other process: the program is
this script's last statement.
"""

import atexit
import concurrent.futures
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import weakref

import numpy as np
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1
MODULES = atexit, concurrent.futures, multiprocessing, threading, weakref  # of the programs


def code_within(pid, secs):
    """Returns a child's exit code, or None after killing it and its children."""
    deadline = time.monotonic() + secs
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def program_of_this_process(programs, secs):
    """Returns a program's source in each child. The parent exits when all have ended."""
    for name, source in programs.items():
        with tempfile.TemporaryFile() as output:
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                return source
            code = code_within(pid, secs)
            output.seek(0)
            text = output.read().decode(errors="replace")
        print(json.dumps({"name": name, "code": code, "output": text}), flush=True)
    os._exit(0)


def model_fn(features, labels, mode):
    weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
    answers = weight * tf.reshape(features, [-1])
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, predictions=answers)
    loss = tf.reduce_mean(answers)
    step = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=step)


def rows():
    while True:
        yield np.float32(1)


def endless():
    """An input that is not read ahead."""
    return tf.data.Dataset.from_generator(rows, tf.float32, []).batch(1)


def ahead():
    """An input that is read ahead."""
    return tf.data.Dataset.from_tensors(np.float32(1)).repeat().batch(2).prefetch(2)


def queued():
    """An input of queues, with threads that fill them."""
    return v1.train.batch(
        [tf.ones([]) * v1.to_float(v1.train.range_input_producer(8).dequeue())], 2
    )


def opened(input_fn=endless):
    """Returns a prediction that has answered once."""
    prediction = eb.Estimator(model_fn).predict(input_fn)
    next(prediction)
    return prediction


class Service:
    """Holds an open prediction, and itself in a cycle."""

    def __init__(self, input_fn=endless):
        self.itself, self.prediction = self, opened(input_fn)


class Call(v1.train.SessionRunHook):
    """Calls a function after each step."""

    def __init__(self, function):
        self.function = function

    def after_run(self, run_context, run_values):
        self.function()


exec(program_of_this_process(json.load(sys.stdin), float(sys.argv[1])))
