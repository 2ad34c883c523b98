"""Measures compiling a small program for a TPU: python -m benchmarks.compile_for_tpu.

Runs `estimator-bridge run --compile-for v5e-1 --compile-only` on a program with two steps, training
and evaluation, in a new process each round. The time is that of the whole command, including
TensorFlow's import; the CPU time is that of the program's process and the compiler's together. The
memory is that of the larger of the two, and the compiler's by its report. The load shows how busy
the machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import numpy as np
import tensorflow.compat.v1 as tf

def input_fn(params):
    x = np.ones([12, 4], np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, x[:, 0])).repeat(50)
    return data.batch(params["batch_size"], drop_remainder=True)

def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 1)[:, 0] - labels))
    if mode == "eval":
        return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss)
    optimizer = tf.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)

config = tf.estimator.tpu.RunConfig(master="grpc://10.0.0.2:8470", model_dir="model")
estimator = tf.estimator.tpu.TPUEstimator(
    model_fn, config=config, use_tpu=True, train_batch_size=8, eval_batch_size=8)
estimator.train(input_fn, max_steps=5)
estimator.evaluate(input_fn, steps=1)
"""
_GIB = 2**30


def _round(folder: Path, target: str) -> dict[str, float]:
    """Runs the program once, and returns seconds and GiB."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "estimator_bridge", "run", "--compile-for", target]
    command += ["--compile-only", "--report", str(report), str(folder / "program.py")]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": os.getcwd()}
    load = os.getloadavg()[0]
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise RuntimeError(f"the program ended with status {os.waitstatus_to_exitcode(status)}")
    steps = json.loads(report.read_text())["steps"]
    return {
        "wall s": wall,
        "CPU s": usage.ru_utime + usage.ru_stime,
        "GiB": usage.ru_maxrss * 1024 / _GIB,
        "compiler GiB": max(step["compiler_bytes"] for step in steps) / _GIB,
        "load": load,
    }


def main() -> None:
    """Measures, and prints medians with all rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slice", default="v5e-1")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        rounds = [_round(folder, args.slice) for _ in range(args.rounds)]
    for measure in rounds[0]:
        values = sorted(one[measure] for one in rounds)
        text = ", ".join(f"{value:.2f}" for value in values)
        print(f"{measure:12} {statistics.median(values):6.2f}  ({text})")


if __name__ == "__main__":
    main()
