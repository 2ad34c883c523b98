"""The log of a program is the original's, line by line, and each line comes once."""

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from goldens.logs import log_lines

import estimator_bridge as eb
from estimator_bridge.training.log_hooks import LossLogHook, RateLogHook, Reached

HERE = Path(__file__).resolve().parent.parent / "goldens" / "logs"

ORIGINAL = json.loads((HERE / "logs.json").read_text())
PROGRAM = str(HERE / "log_program.py")
INSTALLED = "import runpy, sys, estimator_bridge as eb; eb.install(); sys.argv = sys.argv[1:]; "
INSTALLED += "runpy.run_path(sys.argv[0], run_name='__main__')"
START = {
    "installed": [sys.executable, "-c", INSTALLED],
    "run": [sys.executable, "-c", "from estimator_bridge.commands.cli import main; main()", "run"],
}
TRACING = ["Calling model_fn.", "in model_fn", "Done calling model_fn.", "Running eval on CPU/GPU"]
TRACING = ["INFO:tensorflow:" + line for line in TRACING]


def logged(start, kind, mode, folder):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [*START[start], PROGRAM, kind, mode, str(folder)],
        capture_output=True, text=True, env=environment, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "INFO:tensorflow" not in done.stdout
    return log_lines.phases(done.stderr, str(folder))


RATES = ["INFO:tensorflow:global_step/sec: #", "INFO:tensorflow:examples/sec: #"]


def compared(phases, kind):
    """The lines to compare, by phase."""
    by_phase = {}
    for phase, lines in phases.items():
        # A race of the original's.
        remaining = [line for line in lines if "has not been increased" not in line]
        if kind == "tpu":
            # A TPUEstimator had two hooks for the rates, and none for the loss, which users missed.
            remaining = [
                line for line in remaining if line not in RATES and "tensorflow:loss =" not in line
            ]
            # Its own log_step_count_steps it shows as None, and TPUConfig whole.
            pattern = r"'_(tpu_config|log_step_count_steps)': (TPUConfig\(.*?\)|\w+)"
            remaining = [re.sub(pattern, "", line) for line in remaining]
        by_phase[phase] = remaining
    return by_phase


def without_tracing(lines):
    """The lines of which the last evaluation traces no model, as it uses that of the one before."""
    lines = list(lines)
    start = next(i for i, line in enumerate(lines) if "Starting evaluation" in line)
    while lines[start - 1] in TRACING:
        del lines[start - 1]
        start -= 1
    graph = next(i for i, line in enumerate(lines) if i > start and "Graph was" in line)
    return lines[:graph] + lines[graph + 1 :]


@pytest.mark.parametrize(
    ("start", "kind", "mode"),
    [
        ("installed", "estimator", "v2"),
        ("installed", "tpu", "v1"),
        ("run", "estimator", "v1"),
    ],
)
def test_the_lines_are_the_originals(tmp_path, start, kind, mode):
    ours = logged(start, kind, mode, tmp_path)
    theirs = compared(ORIGINAL[f"2.15 {mode} {kind}"], kind)
    for phase in ("evaluate again", "train_and_evaluate"):
        theirs[phase] = without_tracing(theirs[phase])
    if kind == "tpu":
        # The model is exported once. There it was for a CPU and a TPU.
        once = theirs["export"].index("INFO:tensorflow:No assets to write.") + 1
        theirs["export"] = [*theirs["export"][:once], theirs["export"][-1]]
        assert [line for line in ours["train"] if line in RATES] == RATES * 3
        losses = [line for line in ours["train"] if "loss =" in line]
        # The original had none off TPU. Its step was a resource variable there in each mode.
        estimators = ORIGINAL["2.15 v2 estimator"]["train"]
        assert losses == [line for line in estimators if "loss =" in line]
    assert compared(ours, kind) == theirs


def test_tensorflow_115_wrote_the_same_lines_but_for_those_that_came_later():
    """So programs of TF1 see what they saw."""
    later = ("Calling checkpoint listeners", "Inference Time")
    for kind in ("estimator", "tpu"):
        new, old = (
            compared(ORIGINAL[f"{release} v1 {kind}"], kind) for release in ("2.15", "1.15")
        )
        for phase in ("train", "evaluate", "evaluate again", "predict", "train_and_evaluate"):
            remaining = [line for line in new[phase] if not any(text in line for text in later)]
            assert [line.replace("CPU/GPU", "CPU") for line in remaining] == old[phase]


class Listener(logging.Handler):
    """Keeps what TensorFlow's logger is given."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))


@pytest.fixture
def lines():
    """Collects the log at the level INFO."""
    logger, listener = tf.get_logger(), Listener()
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(listener)
    yield listener.lines
    logger.removeHandler(listener)
    logger.setLevel(before)


def seen(reached):
    """Returns the values for a hook's after_run."""
    return tf.compat.v1.train.SessionRunValues(reached, None, None)


def counting_model_fn(features, labels, mode):
    weight = tf.compat.v1.get_variable("w", [], initializer=tf.compat.v1.ones_initializer())
    loss = tf.reduce_mean(weight * features)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
    counts = tf.compat.v1.train.get_global_step() if labels is None else None
    return eb.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, counts))


def test_a_step_that_stands_still_is_warned_of(tmp_path, lines):
    """As often as there: five times a process, from the second step on."""
    data = tf.data.Dataset.from_tensors((tf.ones([2]), tf.ones([2]))).repeat(20)
    config = eb.RunConfig(log_step_count_steps=4)
    eb.Estimator(counting_model_fn, str(tmp_path), config).train(lambda: data, steps=3)
    warned = [text for level, text in lines if level == "WARNING" and "global step" in text]
    assert len(warned) == 5
    assert warned[0].startswith(
        "It seems that global step (tf.train.get_global_step) has not been increased. Current "
        "value (could be stable): 0 vs previous value: 0. You could increase the global step by "
        "passing tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize."
    )
    assert "steps and max_steps" in warned[0]
    losses = [text for _, text in lines if text.startswith("loss = ")]
    assert len(losses) == 5
    assert all("step = 0" in line for line in losses)


def test_a_long_training_tells_how_much_is_left(lines):
    times = iter([0.0, 2.0, 4.0])
    hook = LossLogHook(100, tf.float32, examples=32, clock=lambda: next(times))
    for step in (1, 101, 10001):
        values = tf.compat.v1.train.SessionRunValues(
            Reached(step, step - 1, 0.1, 10101), None, None
        )
        hook.skip(99)
        hook.after_run(None, values)
    assert [text for _, text in lines] == [
        "loss = 0.1, step = 0",
        "loss = 0.1, step = 100 (2.000 sec)",
        "About 4 min left, at 1600 examples/s.",
        "loss = 0.1, step = 10000 (2.000 sec)",
    ]


def test_rates_follow_the_step_whatever_a_call_adds_to_it(tmp_path, lines):
    times = iter([0.0, 1.0, 2.0, 4.0])
    hook = RateLogHook(10, str(tmp_path), ("global_step/sec", None), clock=lambda: next(times))
    step, due = 0, []
    for _ in range(3):
        due.append(hook.steps_until_due(step))
        step += 3 * due[-1]
        values = seen(Reached(step, step - 3, 1.0, None))
        with tf.Graph().as_default():
            hook.after_run(None, values)
    assert due == [1, 4, 4]
    assert [text for _, text in lines] == ["global_step/sec: 12", "global_step/sec: 12"]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.bfloat16])
def test_a_loss_is_printed_as_its_own_type_prints_it(lines, dtype):
    hook = LossLogHook(1, dtype)
    loss = float(dtype.as_numpy_dtype(0.1))
    values = seen(Reached(1, 0, loss, None))
    hook.after_run(None, values)
    shown = {tf.float32: "0.1", tf.float64: "0.1", tf.bfloat16: str(dtype.as_numpy_dtype(0.1))}
    assert lines == [("INFO", f"loss = {shown[dtype]}, step = 0")]
    assert float(np.float32(0.1)) != 0.1


WITH_ABSL = """
import logging, sys
import tensorflow as tf
from absl import app, logging as absl_logging
import estimator_bridge as eb
tf1 = tf.compat.v1
tf1.logging.set_verbosity(tf1.logging.INFO)
def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf1.get_variable("w", []) * features)
    step = tf1.train.get_global_step()
    return eb.EstimatorSpec(mode, loss=loss, train_op=tf1.assign_add(step, 1))
def train():
    data = tf.data.Dataset.from_tensors([1.0]).repeat()
    eb.Estimator(model_fn, sys.argv[1]).train(lambda: data, steps=1)
    tf1.logging.info("a line of the program's")
def main(argv):
    train()
    absl_logging.error("by absl")
"""


@pytest.mark.parametrize("end", ["app.run(main)", "absl_logging.error('by absl'); train()"])
def test_each_line_comes_once_though_absl_gives_the_root_a_handler(tmp_path, end):
    done = subprocess.run(
        [sys.executable, "-c", WITH_ABSL + end, str(tmp_path)],
        capture_output=True, text=True, timeout=200, check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    for text in ("a line of the program's", "Calling model_fn.", "Loss for final step", "by absl"):
        assert done.stderr.count(text) == 1, done.stderr
    assert "INFO:tensorflow:a line of the program's" in done.stderr


NOTEBOOK = """
import asyncio, sys
import nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell(text) for text in sys.stdin.read().split("# ---")]
notebook = nbformat.v4.new_notebook(cells=cells)
NotebookClient(notebook, timeout=200, kernel_name="python3", allow_errors=True).execute()
for cell in notebook.cells:
    for output in cell.outputs:
        name = output.get("name", output["output_type"])
        for line in (output.get("text") or output.get("evalue", "")).splitlines():
            print(name, line)
"""
CELLS = """
import tensorflow as tf
import estimator_bridge as eb
tf1 = tf.compat.v1
def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf1.get_variable("w", []) * features)
    step = tf1.train.get_global_step()
    return eb.EstimatorSpec(mode, loss=loss, train_op=tf1.assign_add(step, 1))
# ---
eb.Estimator(model_fn).train(lambda: tf.data.Dataset.from_tensors([1.0]), steps=1)
tf1.logging.info("a line of the program's")
# ---
tf.constant(1) + 1
eb.runtime.emulate_cores(4)
"""


def test_a_notebook_shows_each_line_once_and_how_to_be_early(tmp_path):
    """There TensorFlow's log is at INFO, and goes to the standard output, as it did."""
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], input=CELLS, cwd=tmp_path, check=False,
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    shown = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    for text in ("a line of the program's", "Calling model_fn.", "loss = ", "Loss for final step"):
        assert [line.partition(" ")[0] for line in shown if text in line] == ["stdout"], shown
    assert any(
        "Restart the kernel, and call estimator_bridge.runtime.emulate_cores(4)" in line
        for line in shown
    )
