"""Steps compiled by the real libtpu, on a machine without a TPU."""

from __future__ import annotations

import json
import linecache
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tpu_compiler import needs_libtpu

import estimator_bridge as eb
from estimator_bridge.compile_for import find_slice
from estimator_bridge.compile_for.compiler import shared_compiler
from estimator_bridge.testing import ModelCheckError, compile_for_tpu
from parity.compiled.counted import mlp_flops

pytestmark = needs_libtpu
v1 = tf.compat.v1
HERE = pathlib.Path(__file__).name
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAIN, EVAL, PREDICT = eb.ModeKeys.TRAIN, eb.ModeKeys.EVAL, eb.ModeKeys.PREDICT


def input_fn(params, mode):
    x = np.ones([20, 12], np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1)))
    if mode == TRAIN:
        return data.repeat().batch(params["batch_size"], drop_remainder=True)
    return data.batch(params["batch_size"])


def model(features, labels, mode, before=lambda x: x, optimizer=None):
    hidden = v1.layers.dense(before(features), 16, activation=tf.nn.relu, name="hidden")
    hidden = v1.layers.dropout(hidden, 0.5, training=mode == TRAIN)
    outputs = v1.layers.dense(hidden, 1, name="out")[:, 0]
    if mode == PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"y": outputs})
    loss = tf.reduce_mean(tf.square(outputs - labels))
    if mode == EVAL:
        metrics = (lambda y: {"mean": v1.metrics.mean(y)}, [outputs])
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=metrics)
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.MomentumOptimizer(0.1, 0.9), **optimizer or {})
    train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def good(features, labels, mode):
    return model(features, labels, mode)


@pytest.fixture(scope="module", autouse=True)
def cores():
    eb.runtime.emulate_cores(8)
    yield
    shared_compiler(None, 1800.0).close()  # 0.7 GB that other tests may need


def test_each_step_of_a_model_is_compiled_for_one_chip():
    report = compile_for_tpu(good, input_fn, "v5e-1", train_batch_size=8)
    assert report.passed
    steps = {step.name: step for step in report.compiled}
    assert list(steps) == ["training", "evaluation", "evaluation, last batch of 4", "prediction"]
    training = steps["training"]
    assert training.device == "TPU v5 lite"
    assert training.replicas == 1
    # Batch, labels, position, global step, two layers with a momentum and an optimizer's rate each.
    weights = 12 * 16 + 16 + 16 + 1
    assert training.memory.arguments_unpadded == 4 * (8 * 12 + 8 + 2 * weights) + 8 + 8
    assert training.all_reduces.count == 0
    by_hand = 2 * 8 * (12 * 16 + 16)
    assert by_hand < steps["evaluation"].flops < 1.2 * by_hand  # biases, relu and loss besides
    assert 0 < training.memory.share < 0.01
    assert training.compiler_bytes > 1e8
    lines = {cost.op: cost.line for cost in training.costs}
    of_hidden = next(line for op, line in lines.items() if op.startswith("gradients/hidden/"))
    assert 'name="hidden"' in of_hidden
    assert of_hidden.startswith(f"{HERE}:") or f"/{HERE}:" in of_hidden
    assert report.table().count("== ") == 4


def test_flops_and_arguments_are_those_counted_by_hand():
    sizes = (256, 512, 512, 128)

    def wide(params, mode):
        data = tf.data.Dataset.from_tensors((tf.zeros([256]), tf.zeros([], tf.int32)))
        return data.repeat().batch(params["batch_size"], drop_remainder=True)

    def perceptron(features, labels, mode):
        for size in sizes[1:-1]:
            features = v1.layers.dense(features, size, activation=tf.nn.relu)
        logits = v1.layers.dense(features, sizes[-1])
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    report = compile_for_tpu(perceptron, wide, "v5e-1", train_batch_size=512, modes=[TRAIN])
    (step,) = report.compiled
    assert step.flops == pytest.approx(mlp_flops(512, sizes), rel=0.05)
    weights = sum(rows * columns + columns for rows, columns in zip(sizes, sizes[1:]))
    arguments = 4 * (512 * 256 + 512 + weights) + 8 + 8  # global step, position
    assert step.memory.arguments_unpadded == arguments
    # These sizes fill the chip's tiles; what is small is padded to some.
    assert arguments <= step.memory.arguments < arguments + 2**14


def test_dropout_draws_with_the_chips_own_generator():
    def wide(params, mode):
        data = tf.data.Dataset.from_tensors((tf.zeros([1024]), tf.zeros([])))
        return data.repeat().batch(params["batch_size"], drop_remainder=True)

    def noisy(features, labels, mode):
        weight = v1.get_variable("w", [1024])
        outputs = tf.reduce_sum(tf.nn.dropout(features * weight, 0.5), axis=1)
        loss = tf.reduce_mean(tf.square(outputs - labels))
        optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

    report = compile_for_tpu(noisy, wide, "v5e-1", train_batch_size=128, modes=[TRAIN])
    (step,) = report.compiled
    # Philox, as TensorFlow lowers it for CPUs, takes over 170 FLOPs a number.
    assert 128 * 1024 < step.flops < 20 * 128 * 1024


def test_sums_of_eight_replicas_become_one_all_reduce():
    report = compile_for_tpu(good, input_fn, "v3-8", train_batch_size=16, modes=[TRAIN])
    (step,) = report.compiled
    weights = 12 * 16 + 16 + 16 + 1
    assert (step.device, step.replicas, step.examples) == ("TPU v3", 8, 16)
    assert step.all_reduces.asked == 4
    assert step.all_reduces.count == 1
    assert step.all_reduces.bytes == 4 * weights


def test_sums_in_groups_stay_within_them():
    groups = [[0, 1, 2, 3], [4, 5, 6, 7]]

    def grouped(features, labels, mode):
        return model(features, labels, mode, optimizer={"group_assignment": groups})

    report = compile_for_tpu(grouped, input_fn, "v5e-8", train_batch_size=16, modes=[TRAIN])
    sums, chip = report.compiled[0].all_reduces, find_slice("v5e-8").chip
    assert sums.bytes == 4 * (12 * 16 + 16 + 16 + 1)
    assert sums.seconds == pytest.approx(2 * 3 / 4 * sums.bytes / chip.ici_bytes_per_second)


def test_float64_and_shapes_that_depend_on_data_are_warned_of_with_their_lines():
    def slow(features, labels, mode):
        some = tf.boolean_mask(features, features[:, 0] > 0)
        wide = tf.cast(tf.reduce_sum(some), tf.float64)
        return model(features + tf.cast(wide, tf.float32), labels, mode)

    (step,) = compile_for_tpu(slow, input_fn, "v5e-1", modes=[TRAIN]).compiled
    line = slow.__code__.co_firstlineno
    assert f"{HERE}:{line + 2}:" in step.float64[0].line
    assert f"{HERE}:{line + 1}:" in step.dynamic[0].line


def test_a_step_that_cannot_be_compiled_is_named_with_its_line():
    def python(x):
        return tf.ensure_shape(v1.py_func(abs, [x], tf.float32), x.shape)

    def printing(features, labels, mode):
        return model(features, labels, mode, python)

    with pytest.raises(ModelCheckError, match="training for v5e-1") as caught:
        compile_for_tpu(printing, input_fn, "v5e-1", modes=[TRAIN])
    line = python.__code__.co_firstlineno + 1
    assert linecache.getline(__file__, line).strip() in str(caught.value)


PROGRAM = """
import sys
import numpy as np
import tensorflow.compat.v1 as tf

def input_fn(params):
    x = np.ones([12, 4], np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, x[:, 0])).repeat(50)
    return data.batch(params["batch_size"], drop_remainder="--dynamic" not in sys.argv)

def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 1)[:, 0] - labels))
    if mode == "eval":
        return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss)
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

config = tf.estimator.tpu.RunConfig(master="grpc://10.0.0.2:8470", model_dir="model")
estimator = tf.estimator.tpu.TPUEstimator(
    model_fn, config=config, use_tpu="--cpu" not in sys.argv, train_batch_size=8, eval_batch_size=8)
estimator.train(input_fn, max_steps=5)
if "--copy" in sys.argv:
    open("model/model.ckpt-5.index")
results = estimator.evaluate(input_fn, steps=1)
print("evaluated, with jax" if "jax" in sys.modules else "evaluated")
print("loss", results["loss"])
"""


def run(folder, *arguments):
    (folder / "program.py").write_text(PROGRAM)
    return subprocess.run(
        [sys.executable, "-m", "estimator_bridge", "run", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_program_that_is_only_compiled_ends_where_it_asks_for_a_number(tmp_path):
    options = ["--compile-for", "v5e-8", "--compile-only", "--report", "report.json"]
    done = run(tmp_path, *options, "program.py")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    assert [line.partition(":")[0] for line in lines] == [
        "== training for v5e-8",
        "== evaluation for v5e-8",
        "evaluated",
        "--compile-only",
    ]
    assert "no step ran, so there is no metric" in lines[-1]
    values = json.loads((tmp_path / "report.json").read_text())
    assert [step["replicas"] for step in values["steps"]] == [8, 8]
    assert not (tmp_path / "model").exists()


def test_a_program_runs_on_emulated_cores_once_its_steps_are_compiled(tmp_path):
    done = run(tmp_path, "--compile-for", "v2-8", "program.py")
    assert done.returncode == 0, done.stderr
    assert "== training for v2-8: compiled" in done.stdout
    assert "== evaluation for v2-8: compiled" in done.stdout
    assert (tmp_path / "model" / "model.ckpt-5.index").exists()
    assert done.stdout.splitlines()[-1].startswith("loss ")


def test_a_program_that_asks_for_no_tpu_is_told_so(tmp_path):
    done = run(tmp_path, "--compile-for", "v5e-1", "--compile-only", "program.py", "--cpu")
    assert done.returncode == 1, done.stderr
    assert "== training for v5e-1: not compiled: it is not covered" in done.stdout
    assert "asks for no TPU" in done.stdout


@pytest.mark.parametrize(
    ("flag", "error", "is_missing"),
    [("--dynamic", "must have static shape", False), ("--copy", "model.ckpt-5.index", True)],
)
def test_an_error_is_said_to_be_about_a_missing_result_only_after_a_step(
    tmp_path, flag, error, is_missing
):
    done = run(tmp_path, "--compile-for", "v5e-1", "--compile-only", "program.py", flag)
    assert done.returncode == 1, done.stderr
    assert error in done.stderr.splitlines()[-1]
    assert ("the files of a run, such as checkpoints, are missing" in done.stdout) == is_missing
