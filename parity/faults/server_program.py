"""One process of a cluster with parameter servers; it runs under TensorFlow 2.15 too.

    python -m parity.faults.server_program MODEL_DIR

TF_CONFIG gives the process its role. The job trains until it is ended from outside.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from parity.environment import IS_ORIGINAL, tf
from parity.faults.servers import TRAINED

if IS_ORIGINAL:
    api: Any = tf.estimator
else:
    import estimator_bridge as eb

    api = eb

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_EVERY, _STEP_SECS, _TIMEOUT_SECS = 10, 0.02, 120.0


class _Slowly(_Hook):
    """Slows training down, so that a checkpoint is not all that it does."""

    is_first = True

    def after_run(self, run_context, run_values):
        """Waits after each step; after the first one it says so."""
        if self.is_first:
            print(TRAINED, flush=True)
            self.is_first = False
        time.sleep(_STEP_SECS)


def _model_fn(features, labels, mode):
    del labels
    with _v1.variable_scope("model", partitioner=_v1.fixed_size_partitioner(2)):
        weights = _v1.get_variable("weights", [8, 4], initializer=_v1.zeros_initializer())
    rows = _v1.nn.embedding_lookup(weights, features)
    loss = tf.reduce_mean(tf.square(rows - 1.0))
    train_op = _v1.train.AdamOptimizer(0.1).minimize(loss, _v1.train.get_or_create_global_step())
    return api.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _input_fn():
    return tf.data.Dataset.range(8).repeat().batch(4)


def main(model_dir: str) -> None:
    """Runs the process's role."""
    config = api.RunConfig(
        model_dir,
        save_checkpoints_steps=_EVERY,
        experimental_max_worker_delay_secs=0,
        session_creation_timeout_secs=_TIMEOUT_SECS,
    )
    estimator = api.Estimator(_model_fn, config=config)
    train_spec = api.TrainSpec(_input_fn, max_steps=10**9, hooks=[_Slowly()])
    api.train_and_evaluate(estimator, train_spec, api.EvalSpec(_input_fn))


if __name__ == "__main__":
    main(sys.argv[1])
