"""A process of a cluster with parameter servers; TF_CONFIG gives its role.

    python servers_program.py FOLDER STEPS [--v2off]

It runs under the real tf.estimator and here. A process that trains prints what it saw as one line
of JSON: the losses of its steps, and the devices of the variables.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import tensorflow as tf

if hasattr(tf, "estimator"):
    api: Any = tf.estimator
else:
    import estimator_bridge as api  # type: ignore[no-redef]

__all__ = ["ROWS", "main"]

ROWS = 20
_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_Optimizer: Any = _v1.train.GradientDescentOptimizer


class _Losses(_Hook):
    """Prints what its process saw."""

    def __init__(self, loss: tf.Tensor):
        self._loss, self._losses = loss, []

    def begin(self):
        """Notes where the variables are."""
        self._devices = {v.name: v.device for v in _v1.global_variables()}

    def before_run(self, run_context):
        """Requests the loss of each step."""
        return _v1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        """Notes it."""
        self._losses.append(float(run_values.results))

    def end(self, session):
        """Prints."""
        print(json.dumps({"losses": self._losses, "devices": self._devices}), flush=True)


class _Clipped(_Optimizer):
    """An optimizer of the program's own."""

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Clips the dense gradients."""
        clipped = [
            (g if isinstance(g, tf.IndexedSlices) else tf.clip_by_norm(g, 1.0), v)
            for g, v in grads_and_vars
        ]
        return super().apply_gradients(clipped, global_step, name)


def _input_fn():
    numbers = tf.data.Dataset.range(64).repeat()
    return numbers.map(lambda n: ({"row": n % ROWS}, tf.cast(n % 2, tf.float32))).batch(8)


def _model_fn(features, labels, mode):
    with _v1.variable_scope("embedding", partitioner=_v1.fixed_size_partitioner(2)):
        normal = _v1.random_normal_initializer(seed=3)
        table = _v1.get_variable("table", [ROWS, 4], initializer=normal)
    rows = _v1.nn.embedding_lookup(table, features["row"])
    weights = _v1.get_variable("weights", [4, 1], initializer=_v1.ones_initializer())
    bias = _v1.get_variable("bias", [1], initializer=_v1.zeros_initializer())
    logits = (tf.matmul(rows, weights) + bias)[:, 0]
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    train_op = _Clipped(0.5).minimize(loss, _v1.train.get_global_step())
    hooks = [_Losses(loss)] if mode == api.ModeKeys.TRAIN else []
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)


def main(folder: str, steps: int) -> None:
    """Runs the process's role."""
    _v1.logging.set_verbosity(_v1.logging.INFO)
    config = api.RunConfig(
        folder,
        tf_random_seed=7,
        save_checkpoints_steps=10,
        save_summary_steps=5,
        log_step_count_steps=5,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=float(os.environ.get("TIMEOUT_SECS", "60")),
    )
    estimator = api.Estimator(_model_fn, config=config)
    train_spec = api.TrainSpec(_input_fn, max_steps=steps)
    eval_spec = api.EvalSpec(_input_fn, steps=2, start_delay_secs=0, throttle_secs=0)
    api.train_and_evaluate(estimator, train_spec, eval_spec)


if __name__ == "__main__":
    if "--v2off" in sys.argv:
        _v1.disable_v2_behavior()
    main(sys.argv[1], int(sys.argv[2]))
