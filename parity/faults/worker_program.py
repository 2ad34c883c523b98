"""One process of a cluster that trains; it runs under TensorFlow 2.15 too.

    python -m parity.faults.worker_program MODEL_DIR

TF_CONFIG gives the process its role.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from parity.environment import IS_ORIGINAL, tf

if IS_ORIGINAL:
    api: Any = tf.estimator
else:
    import estimator_bridge as eb

    api = eb

__all__ = ["LAST"]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
LAST, _EVERY, _STEP_SECS = 24, 4, 0.1
_TIMEOUT_SECS = float(os.environ.get("PARITY_FAULTS_TIMEOUT", "120"))


class _Slowly(_Hook):
    """Slows training down, to leave time for a kill."""

    def after_run(self, run_context, run_values):
        """Waits after each step."""
        time.sleep(_STEP_SECS)


def _model_fn(features, labels, mode):
    del labels
    weights = _v1.get_variable("weights", [8], initializer=_v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weights * features[:, None] - 1.0))
    step = _v1.train.get_or_create_global_step()
    train_op = _v1.train.AdamOptimizer(0.1).minimize(loss, step)
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _input_fn(input_context=None):
    numbers = tf.data.Dataset.range(1, 1000)
    if input_context:
        numbers = numbers.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return numbers.map(lambda n: tf.cast(n, tf.float32) / 100).batch(2).repeat()


def main(model_dir: str) -> None:
    """Trains to LAST."""
    if IS_ORIGINAL:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    else:
        strategy = eb.runtime.multi_worker_strategy(timeout_secs=_TIMEOUT_SECS)
    config = api.RunConfig(
        model_dir,
        train_distribute=strategy,
        tf_random_seed=1,
        save_checkpoints_steps=_EVERY,
        save_summary_steps=None,
        log_step_count_steps=1,
        session_creation_timeout_secs=int(_TIMEOUT_SECS),
    )
    estimator = api.Estimator(_model_fn, config=config)
    hooks: list[Any] = [_Slowly()]
    if not IS_ORIGINAL:
        hooks.append(eb.training.CheckpointInputPipelineHook(estimator))
    estimator.train(_input_fn, hooks=hooks, max_steps=LAST)


if __name__ == "__main__":
    main(sys.argv[1])
