"""A program of 2018, rewritten, gives in plain Python the numbers that `run` gives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from estimator_bridge.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240  # seconds

PROGRAM = '''\
"""A TPUEstimator in the idioms of 2018."""
from __future__ import print_function

import collections
import cPickle as pickle
import numpy as np
import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.contrib import bigtable, tpu
from tensorflow.python.estimator import model_fn as model_fn_lib

flags = tf.flags
flags.DEFINE_string("model_dir", None, "Where checkpoints go.")
flags.DEFINE_string("tpu", None, "The TPU.")
FLAGS = flags.FLAGS


def input_fn(params):
    x = np.arange(96, dtype=np.float).reshape(32, 3) % 7 / 7.0
    assert isinstance({}, collections.Mapping)
    data = {"x": x.astype(np.float32)}, np.int32([i % 2 for i in xrange(32)])
    dataset = tf.data.Dataset.from_tensor_slices(data).repeat()
    return dataset.apply(tf.contrib.data.batch_and_drop_remainder(params["batch_size"]))


def model_fn(features, labels, mode, params):
    net = slim.fully_connected(
        features["x"], 4, weights_initializer=slim.variance_scaling_initializer(seed=1)
    )
    net = tf.contrib.layers.layer_norm(net)
    net = tf.layers.dropout(net, 0.5, seed=3, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(net, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == model_fn_lib.ModeKeys.EVAL:
        metric = lambda labels, logits: {"auc": tf.metrics.auc(labels, tf.nn.softmax(logits)[:, 1])}
        return tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric, [labels, logits]))
    optimizer = tf.contrib.opt.AdamWOptimizer(weight_decay=0.01, learning_rate=0.1)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    step = tf.train.get_or_create_global_step()
    return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, step))


def main(_):
    config = tpu.RunConfig(
        cluster=tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu),
        model_dir=FLAGS.model_dir,
        tf_random_seed=5,
        tpu_config=tpu.TPUConfig(iterations_per_loop=2),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn, config=config, use_tpu=bool(FLAGS.tpu), train_batch_size=8, eval_batch_size=8
    )
    estimator.train(input_fn, max_steps=4)
    result = estimator.evaluate(input_fn, steps=4)
    print("result %r" % sorted((key, float(result[key])) for key in result))
    print("pickled %d" % len(pickle.loads(pickle.dumps([1, 2]))))


if __name__ == "__main__":
    tf.app.run()
'''


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The program as it was, and rewritten."""
    folder = tmp_path_factory.mktemp("rewritten")
    (folder / "old.py").write_text(PROGRAM)
    (folder / "new.py").write_text(PROGRAM)
    assert main(["rewrite", "--write", str(folder / "new.py")]) == 0
    assert main(["check", str(folder / "new.py")]) == 0
    return folder


def run_program(*command, folder, cores=None):
    """Returns the results that a process prints."""
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=PATIENCE,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TF_CPP_MIN_LOG_LEVEL": "2",
            **({"ESTIMATOR_BRIDGE_CORES": cores} if cores else {}),
        },
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def test_nothing_of_the_old_names_is_left(programs):
    text = (programs / "new.py").read_text()
    for old in (
        "tf.contrib",
        "tensorflow.contrib",
        "tf.estimator",
        "np.float)",
        "cPickle",
        "xrange",
    ):
        assert old not in text, text
    assert "bigtable" not in text
    assert text.count("\n") - PROGRAM.count("\n") == 4, text


@pytest.mark.parametrize("tpu", ["", "emulated:2"], ids=["cpu", "cores"])
def test_the_numbers_are_those_of_run(programs, tpu):
    run = ("-m", "estimator_bridge", "run", "old.py")
    place = f"--model_dir={programs}/{tpu[:1] or 'c'}"
    was = run_program(*run, f"{place}-was", f"--tpu={tpu}", folder=programs)
    now = run_program("new.py", f"{place}-now", f"--tpu={tpu}", folder=programs)
    assert was.startswith("result [('auc', ")
    assert now == was


def test_a_session_on_emulated_cores_is_that_of_run(tmp_path):
    """The program opens a session of the cores' master, which `run` lets it do."""
    script = ROOT / "tests" / "legacy_programs" / "scripts" / "sessions.py"
    for name in ("old.py", "new.py"):
        (tmp_path / name).write_text(script.read_text())
    assert main(["rewrite", "--write", str(tmp_path / "new.py")]) == 0
    assert "eb.bridge_v1_behavior()" in (tmp_path / "new.py").read_text()
    run = ("-m", "estimator_bridge", "run", "--cores", "2", "old.py")
    was = run_program(*run, str(tmp_path / "was"), "grpc://10.0.0.9:8470", folder=tmp_path)
    now = run_program(
        "new.py", str(tmp_path / "now"), "grpc://10.0.0.9:8470", folder=tmp_path, cores="2"
    )
    assert "tripled 6.0" in was
    assert now == was
