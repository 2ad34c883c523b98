"""Measures the cost of checkpoints: python -m benchmarks.async_checkpoints [--folder FOLDER].

A model with 100 MB of variables trains in turns without checkpoints, with synchronous and with
asynchronous ones. `--rate` slows each write to a disk of the given MB/s, without work for the
processor. The time is measured from the second step to the return of train(), so it includes the
last checkpoint.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time

import estimator_bridge as eb
from estimator_bridge.checkpoint import CheckpointingSession
from estimator_bridge.training import AsyncCheckpoints

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
WAYS = ("no checkpoints", "training waits", "beside the steps")
_ROWS = 25_000_000  # of float32
_BATCH = 2048


class _Clock(v1.train.SessionRunHook):
    """Records the time when the second step begins."""

    def __init__(self):
        self.start_time = 0.0
        self._step = 0

    def before_run(self, run_context):
        self._step += 1
        if self._step == 2:
            self.start_time = time.perf_counter()


def _model_fn(features, labels, mode, params):
    del labels
    # Large weights of which a step changes a part, and dense ones with which it computes.
    table = v1.get_variable("table", [_ROWS // 100, 96], initializer=v1.zeros_initializer())
    rows = tf.nn.embedding_lookup(table, tf.cast(features[:, 0] * 1000, tf.int32))
    hidden = tf.concat([features, rows], 1)
    for width in (512, 512, 512):
        hidden = v1.layers.dense(hidden, width, tf.nn.relu)
    loss = tf.reduce_mean(tf.square(v1.layers.dense(hidden, 1) - 1.0))
    optimizer = v1.train.GradientDescentOptimizer(params["rate"])
    return eb.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, v1.train.get_global_step())
    )


def _batches():
    batch = tf.random.stateless_uniform([_BATCH, 256], seed=[1, 2])
    return tf.data.Dataset.from_tensors(batch).repeat()


def _secs(way: str, folder: str, steps: int, every: int) -> float:
    clock = _Clock()
    config = eb.RunConfig(
        save_checkpoints_steps=None if way == WAYS[0] else every,
        save_checkpoints_secs=None,
        save_summary_steps=None,
        log_step_count_steps=None,
        keep_checkpoint_max=2,
    )
    with tempfile.TemporaryDirectory(dir=folder) as model_dir:
        estimator = eb.Estimator(_model_fn, model_dir, config, params={"rate": 0.01})
        hooks = [clock, AsyncCheckpoints(way == WAYS[2])]
        estimator.train(_batches, hooks=hooks, steps=steps)
        return time.perf_counter() - clock.start_time


def _slow_down(rate: float) -> None:
    save = CheckpointingSession.save

    def slowly(self, prefix, write):
        start = time.perf_counter()
        prefix_written = save(self, prefix, write)
        size = os.path.getsize(tf.compat.as_str(prefix) + ".data-00000-of-00001") / 1e6
        time.sleep(max(0.0, size / rate - (time.perf_counter() - start)))
        return prefix_written

    CheckpointingSession.save = slowly


def main() -> None:
    """Measures in turns, and prints medians and their ratios to training without checkpoints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", help="on the disk to measure; by default the system's")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=float, help="MB/s of the disk to stand in for")
    args = parser.parse_args()
    if args.rate:
        _slow_down(args.rate)
    v1.logging.set_verbosity("ERROR")
    secs_by_way: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(args.rounds):
        for way in WAYS:
            secs_by_way[way].append(_secs(way, args.folder, args.steps, args.every))
    base = statistics.median(secs_by_way[WAYS[0]])
    for way, secs in secs_by_way.items():
        median = statistics.median(secs)
        print(f"{way:18} {median:6.2f} s  {median / base:5.2f}x  {sorted(secs)}")


if __name__ == "__main__":
    main()
