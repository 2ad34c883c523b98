"""RunConfig's session_config, in separate processes: it changes the whole process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import estimator_bridge as eb
from estimator_bridge.training import session_options
from estimator_bridge.training.session_options import apply_session_config

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1

PROGRAM = """
import json, sys
import estimator_bridge as eb
import tensorflow as tf
v1 = tf.compat.v1

def model_fn(features, labels, mode):
    step = v1.train.get_global_step()
    return eb.EstimatorSpec(mode, loss=tf.reduce_mean(features), train_op=v1.assign_add(step, 1))

def ones():
    return tf.data.Dataset.from_tensors([1.0]).repeat()

config = v1.ConfigProto(
    intra_op_parallelism_threads=1, inter_op_parallelism_threads=3, allow_soft_placement=True,
    log_device_placement=False, operation_timeout_in_ms=1000,
    gpu_options=v1.GPUOptions(allow_growth=True, per_process_gpu_memory_fraction=0.5),
)
config.graph_options.optimizer_options.global_jit_level = v1.OptimizerOptions.ON_1
config.graph_options.rewrite_options.constant_folding = 2  # OFF
config.graph_options.rewrite_options.meta_optimizer_iterations = 2
if "late" in sys.argv:
    tf.constant(1) + 1
for _ in range(2):
    estimator = eb.Estimator(model_fn, config=eb.RunConfig(session_config=config))
    estimator.train(ones, steps=2)
print(json.dumps({
    "intra": tf.config.threading.get_intra_op_parallelism_threads(),
    "inter": tf.config.threading.get_inter_op_parallelism_threads(),
    "jit": tf.config.optimizer.get_jit(),
    "options": tf.config.optimizer.get_experimental_options(),
    "step": int(estimator.get_variable_value("global_step")),
}))
"""


@pytest.mark.parametrize("late", [False, True])
def test_session_config_is_carried_over(late):
    arguments = ["late"] if late else []
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    got = json.loads(run.stdout)
    assert got["step"] == 2
    assert got["jit"] == "autoclustering"
    assert got["options"]["constant_folding"] is False
    warnings = [line for line in run.stderr.splitlines() if "session_config has settings" in line]
    assert len(warnings) == 1  # though two estimators were made
    assert "operation_timeout_in_ms (no counterpart in TF2)" in warnings[0]
    for name in ("gpu_options", "global_jit_level", "meta_optimizer", "soft_placement"):
        assert name not in warnings[0]
    if late:
        assert "intra_op_parallelism_threads: 1 (TensorFlow has started already" in warnings[0]
    else:
        assert (got["intra"], got["inter"]) == (1, 3)
        assert "threads" not in warnings[0]


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_share_of_gpus_memory_is_missed_where_there_are_gpus(gpus, monkeypatch, caplog):
    monkeypatch.setattr(session_options, "_configs", set())
    devices = [tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")] * gpus
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: devices)
    options = v1.GPUOptions(per_process_gpu_memory_fraction=0.95)
    apply_session_config(v1.ConfigProto(gpu_options=options))
    messages = [record.getMessage() for record in caplog.records]
    name = "gpu_options.per_process_gpu_memory_fraction (no counterpart in TF2)"
    assert [name in line for line in messages] == [True] * gpus


def test_device_fn_names_the_devices_of_the_graph(tmp_path):
    seen = {}

    def device_fn(op):
        return "/device:CPU:3" if op.type == "Mean" else "/device:CPU:1"

    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(features)
        step = v1.train.get_global_step()
        seen.update(loss=loss.device, step=step.device)
        return eb.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    config = eb.RunConfig(model_dir=str(tmp_path), device_fn=device_fn)
    estimator = eb.Estimator(model_fn, config=config)
    estimator.train(lambda: tf.data.Dataset.from_tensors([1.0]).repeat(), steps=2)
    assert seen == {"loss": "/device:CPU:3", "step": "/device:CPU:1"}
    assert estimator.get_variable_value("global_step") == 2
