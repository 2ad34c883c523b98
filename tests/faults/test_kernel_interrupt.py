"""Ctrl-C (a notebook's stop button) in a real IPython kernel."""

import queue
import re
import time

import pytest
from jupyter_client.manager import start_new_kernel

PATIENCE = 120
SET_UP = """
import estimator_bridge as eb
import tensorflow as tf

v1 = tf.compat.v1

def model_fn(features, labels, mode):
    loss = tf.reduce_mean(features)
    train_op = v1.assign_add(v1.train.get_global_step(), 1)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()

class Says(v1.train.SessionRunHook):
    def __init__(self):
        self.steps = 0

    def before_run(self, run_context):
        self.steps += 1
        if self.steps == 5:
            print("at step 5", flush=True)

estimator = eb.Estimator(model_fn, FOLDER, eb.RunConfig(save_checkpoints_steps=1000))
"""


@pytest.fixture(scope="module")
def kernel():
    manager, client = start_new_kernel(startup_timeout=PATIENCE)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def messages(client, request):
    """Returns the kernel's messages about a request, until it is idle."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            message = client.get_iopub_msg(timeout=1)
        except queue.Empty:
            continue
        if message["parent_header"].get("msg_id") != request:
            continue
        yield message["msg_type"], message["content"]
        if message["content"].get("execution_state") == "idle":
            return
    raise AssertionError("the kernel does not answer")


def run(client, code):
    """Runs a cell; returns what it printed."""
    replies = list(messages(client, client.execute(code)))
    errors = [content["traceback"] for kind, content in replies if kind == "error"]
    assert not errors, errors
    return "".join(content["text"] for kind, content in replies if kind == "stream")


def test_a_cell_ends_in_one_line_its_checkpoint_is_there_and_the_kernel_is_usable(kernel, tmp_path):
    manager, client = kernel
    run(client, f"FOLDER = {str(tmp_path)!r}\n{SET_UP}")
    request = client.execute("estimator.train(ones, hooks=[Says()])")
    shown = []
    for kind, content in messages(client, request):
        if kind == "stream" and "at step 5" in content["text"]:
            manager.interrupt_kernel()
        if kind == "error":
            shown.append(content)
    (error,) = shown
    assert error["ename"] == "Interrupted"
    (line,) = error["traceback"]
    match = re.fullmatch(
        r"Interrupted: Training was stopped by Ctrl-C\. The checkpoint .*model\.ckpt-(\d+) is "
        "complete; training resumes from it when started again.",
        line,
    )
    assert match, line
    step = int(match[1])
    assert step >= 5
    assert (tmp_path / f"model.ckpt-{step}.index").exists()
    run(client, "estimator.train(ones, steps=2)")
    assert run(client, "print(estimator.get_variable_value('global_step'))").split()[-1] == str(
        step + 2
    )
