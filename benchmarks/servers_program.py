"""A process of a cluster with parameter servers that trains a large embedding; times its job.

    python servers_program.py ROWS STEPS MODEL_DIR [coordinator]

TF_CONFIG gives the role. It runs under TensorFlow 2.15's Estimator and here. With `coordinator` the
same model runs under TF2's ParameterServerStrategy: the chief coordinates, and workers only serve.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np
import tensorflow as tf

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_WIDTH, _IDS, _BATCH, _WARM = 16, 8, 256, 100


def _batches(rows: int) -> tf.data.Dataset:
    random = np.random.RandomState(1)
    ids = random.randint(0, rows, (4096, _IDS))
    labels = (ids.sum(1) % 2).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((ids, labels)).repeat().batch(_BATCH)


class _Rate(_Hook):
    """Prints the global steps per second from step 100 to the last step that this process saw."""

    def begin(self):
        """Finds the step."""
        self._step, self._first, self._last = _v1.train.get_global_step(), None, None

    def before_run(self, run_context):
        """Requests the step."""
        return _v1.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        """Notes the time."""
        now = int(run_values.results), time.monotonic()
        if self._first is None and now[0] >= _WARM:
            self._first = now
        self._last = now

    def end(self, session):
        """Prints."""
        steps, secs = (last - first for last, first in zip(self._last, self._first))
        print(json.dumps({"steps_per_sec": steps / secs}), flush=True)


def _run_estimator(rows: int, steps: int, model_dir: str) -> None:
    if hasattr(tf, "estimator"):
        api: Any = tf.estimator
    else:
        import estimator_bridge as api

    def model_fn(features, labels, mode):
        table = _v1.get_variable("table", [rows, _WIDTH])
        pooled = tf.reduce_mean(_v1.nn.embedding_lookup(table, features), 1)
        hidden = _v1.layers.dense(pooled, 32, tf.nn.relu)
        logits = _v1.layers.dense(hidden, 1)[:, 0]
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses)
        optimizer = _v1.train.AdagradOptimizer(0.05)
        train_op = optimizer.minimize(loss, _v1.train.get_global_step())
        return api.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[_Rate()])

    config = api.RunConfig(
        model_dir, save_checkpoints_secs=3600, experimental_max_worker_delay_secs=0
    )
    estimator = api.Estimator(model_fn, config=config)
    train_spec = api.TrainSpec(lambda: _batches(rows), max_steps=steps)
    api.train_and_evaluate(estimator, train_spec, api.EvalSpec(lambda: _batches(rows), steps=1))


def _run_coordinator(rows: int, steps: int) -> None:
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        tf.distribute.Server(
            resolver.cluster_spec(),
            job_name=resolver.task_type,
            task_index=resolver.task_id,
            protocol="grpc",
        ).join()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        initial = tf.initializers.GlorotUniform()
        table = tf.Variable(lambda: initial([rows, _WIDTH]))
        layers = [tf.Variable(lambda s=s: initial(s)) for s in ([_WIDTH, 32], [32, 1])]
        sums = [tf.Variable(tf.fill(v.shape, 0.1)) for v in (table, *layers)]
    per_worker = coordinator.create_per_worker_dataset(lambda: _batches(rows))
    iterator = iter(per_worker)

    @tf.function
    def step(iterator):
        ids, labels = next(iterator)
        with tf.GradientTape() as tape:
            looked_up = tf.gather(table, ids)
            hidden = tf.nn.relu(tf.reduce_mean(looked_up, 1) @ layers[0])
            logits = (hidden @ layers[1])[:, 0]
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        slices, *dense = tape.gradient(loss, [table, *layers])
        tf.raw_ops.ResourceSparseApplyAdagrad(
            var=table.handle,
            accum=sums[0].handle,
            lr=0.05,
            grad=slices.values,
            indices=slices.indices,
        )
        for variable, total, gradient in zip(layers, sums[1:], dense):
            tf.raw_ops.ResourceApplyAdagrad(
                var=variable.handle, accum=total.handle, lr=0.05, grad=gradient
            )
        return loss

    for _ in range(_WARM):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    start = time.monotonic()
    for _ in range(steps - _WARM):
        coordinator.schedule(step, args=(iterator,))
    coordinator.join()
    rate = (steps - _WARM) / (time.monotonic() - start)
    print(json.dumps({"steps_per_sec": rate}), flush=True)
    os._exit(0)  # the coordinator's threads would wait for the servers


if __name__ == "__main__":
    _rows, _steps = int(sys.argv[1]), int(sys.argv[2])
    if sys.argv[4:] == ["coordinator"]:
        _run_coordinator(_rows, _steps)
    else:
        _run_estimator(_rows, _steps, sys.argv[3])
