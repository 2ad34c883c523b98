"""TensorFlow in a folder of any name, as `pip install --target` makes it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tensorflow as tf  # isort: skip

PROGRAM = """
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.batch_normalization(tf.layers.dense(features, 3))
    outputs, _ = tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(2), [net], dtype=tf.float32)
    logarithm = tf.check_numerics(tf.log(tf.to_float(outputs[0]) * 0.0), "no logarithm")  # its line
    loss = tf.reduce_sum(logarithm)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    ones = tf.data.Dataset.from_tensors(np.ones([2, 3], "f")).repeat()
    return ones.make_one_shot_iterator().get_next()


print(tf.__file__)
tf.estimator.Estimator(model_fn).train(input_fn, steps=3)
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "any name").mkdir()
    for package in Path(tf.__file__).parents[1].iterdir():
        if "estimator_bridge" not in package.name:
            (folder / "any name" / package.name).symlink_to(package)
    (folder / "old.py").write_text(PROGRAM)
    root = str(Path(__file__).resolve().parents[2])
    # Without the environment's own folder of packages.
    command = [sys.executable, "-S", "-m", "estimator_bridge", "run", "old.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "any name"), root])}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip().startswith(str(folder / "any name" / "tensorflow")), done.stderr
    return done.stderr


def test_an_error_names_the_programs_own_line(output):
    number = PROGRAM[: PROGRAM.index("# its line")].count("\n") + 1
    assert f"was made at old.py:{number}: logarithm = " in output


def test_deprecations_are_not_shown(output):
    assert "no logarithm" in output
    assert "deprecated" not in output
    assert "UserWarning" not in output
