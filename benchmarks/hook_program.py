"""What benchmarks.hook_price times: runs under TF 2.15's Estimator and under this library."""

from __future__ import annotations

import json
import logging
import sys
import time

import numpy as np

try:
    import estimator_bridge as estimators  # isort: skip  # first: it selects Keras 2

    import tensorflow as tf
except ImportError:  # TensorFlow 2.15, which has the original
    import tensorflow as tf

    estimators = tf.estimator

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    """A small network, so that what a step costs besides its arithmetic shows."""
    hidden = v1.layers.dense(features, 128, tf.nn.relu)
    logits = v1.layers.dense(hidden, 10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    optimizer = v1.train.MomentumOptimizer(0.01, 0.9)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return estimators.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    """Batches of 32 without an end."""
    rng = np.random.RandomState(0)
    examples = rng.rand(1024, 64).astype(np.float32), rng.randint(0, 10, 1024)
    dataset = tf.data.Dataset.from_tensor_slices(examples).repeat()
    return dataset.batch(32, drop_remainder=True).prefetch(4)


class EveryStep(v1.train.SessionRunHook):
    """Fetches the loss of each step, and takes the time."""

    def begin(self):
        """Finds the loss, and starts anew."""
        self.loss, self.times = v1.get_collection(v1.GraphKeys.LOSSES)[0], []

    def before_run(self, run_context):
        """Asks for the loss."""
        return v1.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        """Takes the time."""
        self.times.append(time.perf_counter())


class Ends(v1.train.SessionRunHook):
    """Takes the times of the start and the end alone."""

    def after_create_session(self, session, coord):
        """Takes the time."""
        self.start = time.perf_counter()

    def end(self, session):
        """Takes the time."""
        self.stop = time.perf_counter()


def main() -> None:
    """Prints steps a second of both kinds, as JSON."""
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    steps = int(sys.argv[1])
    config = estimators.RunConfig(save_checkpoints_steps=10**9, tf_random_seed=1)
    rates = {}
    hook = EveryStep()
    estimators.Estimator(model_fn, config=config).train(input_fn, hooks=[hook], steps=steps)
    warm = steps // 4
    rates["every_step"] = (steps - 1 - warm) / (hook.times[-1] - hook.times[warm])
    # Two runs whose difference is of steps alone: compiling and saving cancel.
    taken = []
    for count in (steps, 4 * steps):
        ends = Ends()
        estimators.Estimator(model_fn, config=config).train(input_fn, hooks=[ends], steps=count)
        taken.append(ends.stop - ends.start)
    rates["default"] = 3 * steps / (taken[1] - taken[0])
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
