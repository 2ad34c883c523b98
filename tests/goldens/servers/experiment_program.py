"""A tf.contrib.learn Experiment in a cluster; TF_CONFIG gives the role of the process.

    python experiment_program.py core|learn FOLDER STEPS [OPTION=VALUE...]

It runs under TensorFlow 1.15.5 and here, with an estimator of tf.estimator or of tf.contrib.learn.
A process whose schedule returns prints one line of JSON: how many steps it ran, the step at which
it ended, the devices of its variables, and what the schedule returned. Options are arguments of the
Experiment; each is a JSON value.
"""

import json
import os
import sys
import time

import tensorflow as tf

if hasattr(tf, "contrib"):
    from tensorflow.contrib import layers, learn
    from tensorflow.estimator import Estimator, EstimatorSpec
else:
    from estimator_bridge.v1 import Estimator, EstimatorSpec
    from estimator_bridge_contrib import layers, learn

__all__ = ["main"]

_v1 = tf.compat.v1


class _Sight(_v1.train.SessionRunHook):
    """Notes what its process saw; after 9 steps, the master waits for the worker to join.

    Args:
      folder: the folder of checkpoints.
      role: the process's; None outside a cluster.
    """

    def __init__(self, folder, role):
        self.seen = {"steps": 0}
        self._joined = folder + ".joined"
        self._role = role

    def begin(self):
        """Notes where variables are."""
        self.seen["devices"] = {each.name: each.device for each in _v1.global_variables()}

    def before_run(self, run_context):
        """Requests the step."""
        return _v1.train.SessionRunArgs(_v1.train.get_global_step())

    def after_run(self, run_context, run_values):
        """Counts."""
        self.seen["steps"] += 1
        self.seen["last"] = int(run_values.results)
        if self._role == "worker":
            open(self._joined, "a").close()
        while self._role == "master" and self.seen["steps"] == 9:
            if os.path.exists(self._joined):
                break
            time.sleep(0.05)


def _input_fn():
    dataset = tf.data.Dataset.range(64).repeat().batch(8)
    number = tf.cast(_v1.data.make_one_shot_iterator(dataset).get_next(), tf.float32) / 64
    return {"x": tf.stack([number, 1 - number], 1)}, tf.reshape(2 * number - 1, [-1, 1])


def _network(features, labels):
    hidden = _v1.layers.dense(features["x"], 4, activation=tf.nn.relu, name="hidden")
    value = _v1.layers.dense(hidden, 1, name="value")
    loss = None if labels is None else _v1.losses.mean_squared_error(labels, value)
    return value, loss


def _core_model_fn(features, labels, mode):
    value, loss = _network(features, labels)
    step = _v1.train.get_global_step()
    train_op = _v1.train.AdagradOptimizer(0.1).minimize(loss, step) if mode == "train" else None
    return EstimatorSpec(mode, {"value": value}, loss, train_op)


def _learn_model_fn(features, labels, mode):
    value, loss = _network(features, labels)
    train_op = None
    if mode == "train":
        step = _v1.train.get_global_step()
        train_op = layers.optimize_loss(loss, step, 0.1, "Adagrad", name="train")
    return learn.ModelFnOps(mode, {"value": value}, loss, train_op)


def main(kind, folder, steps, **options):
    """Runs the schedule that the task has by default."""
    _v1.logging.set_verbosity(_v1.logging.INFO)
    config = learn.RunConfig(model_dir=folder, tf_random_seed=1)
    sight = _Sight(folder, config.task_type)

    def experiment_fn(run_config, hparams):
        if kind == "core":
            estimator = Estimator(_core_model_fn, config=run_config)
        else:
            estimator = learn.Estimator(_learn_model_fn, config=run_config)
        arguments = {"eval_steps": 2, "train_monitors": [sight], "eval_delay_secs": 0, **options}
        return learn.Experiment(estimator, _input_fn, _input_fn, train_steps=steps, **arguments)

    returned = learn.learn_runner.run(experiment_fn, run_config=config)
    if isinstance(returned, tuple):
        metrics, exports = returned
        sight.seen["returned"] = [sorted(metrics), exports]
    print(json.dumps(sight.seen))


if __name__ == "__main__":
    _pairs = (word.split("=", 1) for word in sys.argv[4:])
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), **{n: json.loads(v) for n, v in _pairs})
