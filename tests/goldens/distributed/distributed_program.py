"""One TF1 program under a strategy of two replicas, for the real tf.estimator and for the bridge.

It has what behaves differently on several replicas: batch norm's moving averages, metrics, sparse
gradients, moving averages of weights. All initial values have op seeds, as other seeds depend on
what else is in a graph.
"""

from __future__ import annotations

import glob
import os
from typing import Any, Callable

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["OPTIMIZERS", "STEPS", "build", "observe", "test_input", "train_input"]

STEPS = 6
REPLICA_BATCH = 3
EXAMPLES = 2 * REPLICA_BATCH * STEPS
TEST_EXAMPLES = 6 * REPLICA_BATCH - 1  # six elements for two replicas, the last one short

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adam": lambda: tf.train.AdamOptimizer(0.01),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "rmsprop": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001),
    "adadelta": lambda: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-3),
}


def _data(count: int, seed: int):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 4]).astype(np.float32)
    ids = random.randint(0, 9, size=[count, 2]).astype(np.int32)
    return {"x": x, "ids": ids}, (x[:, 0] + 0.2 * ids[:, 0] > 0.8).astype(np.float32)


def train_input() -> tf.data.Dataset:
    """Elements of a replica's batch, whose size the graph does not tell."""
    return tf.data.Dataset.from_tensor_slices(_data(EXAMPLES, 1)).batch(REPLICA_BATCH)


def fixed_train_input() -> tf.data.Dataset:
    """The same elements, of a size that the graph tells."""
    data = tf.data.Dataset.from_tensor_slices(_data(EXAMPLES, 1))
    return data.batch(REPLICA_BATCH, drop_remainder=True)


def test_input() -> tf.data.Dataset:
    """Six elements, the last one short."""
    return tf.data.Dataset.from_tensor_slices(_data(TEST_EXAMPLES, 2)).batch(REPLICA_BATCH)


def _uniform(seed: int):
    return tf.random_uniform_initializer(-0.5, 0.5, seed=seed)


def _model_fn(est, make_optimizer):
    def model_fn(features, labels, mode):
        table = tf.get_variable("table", [9, 4], initializer=_uniform(1))
        # One row is used by none: optimizers with a state for each row leave its state alone.
        rows = tf.nn.embedding_lookup(table, tf.minimum(features["ids"], 7))
        x = tf.concat([features["x"], tf.reduce_sum(rows, axis=1)], axis=1)
        # No bias before batch norm: its gradient is noise about 0, which Adam makes whole steps of.
        x = tf.layers.dense(x, 5, use_bias=False, kernel_initializer=_uniform(2), name="hidden")
        x = tf.layers.batch_normalization(x, training=mode == "train", momentum=0.5, name="norm")
        x = tf.layers.dense(tf.nn.tanh(x), 1, kernel_initializer=_uniform(3), name="out")[:, 0]
        loss = tf.losses.sigmoid_cross_entropy(labels, x)
        chance = tf.sigmoid(x)
        if mode == "eval":
            metrics = {
                "auc": tf.metrics.auc(labels, chance, num_thresholds=20),
                "accuracy": tf.metrics.accuracy(labels, tf.round(chance)),
                "recall": tf.metrics.recall(labels, tf.round(chance)),
                "rmse": tf.metrics.root_mean_squared_error(labels, chance),
                "mean_iou": tf.metrics.mean_iou(labels, tf.round(chance), 2),
                "per_class": tf.metrics.mean_per_class_accuracy(labels, tf.round(chance), 2),
            }
            return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        average = tf.train.ExponentialMovingAverage(0.5)
        step = tf.train.get_global_step()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = make_optimizer().minimize(loss, step)
        with tf.control_dependencies([train_op]):
            train_op = average.apply([v for v in tf.trainable_variables() if "bias" in v.name])
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def build(est: Any, optimizer: str, strategy: Any, model_dir: str):
    """The estimator of a module (tf.compat.v1.estimator, or estimator_bridge)."""
    config = est.RunConfig(
        train_distribute=strategy,
        eval_distribute=strategy,
        tf_random_seed=7,
        save_summary_steps=1,
        model_dir=model_dir,
    )
    return est.Estimator(_model_fn(est, OPTIMIZERS[optimizer]), config=config)


def observe(estimator: Any, evaluation: dict[str, Any]) -> dict[str, np.ndarray]:
    """Returns a run's last checkpoint values, evaluation and reported losses."""
    names = estimator.get_variable_names()
    observed = {f"weights/{name}": estimator.get_variable_value(name) for name in names}
    observed.update({f"evaluation/{key}": np.asarray(value) for key, value in evaluation.items()})
    (path,) = glob.glob(os.path.join(estimator.model_dir, "events.out.tfevents.*"))
    values = [v for event in tf.train.summary_iterator(path) for v in event.summary.value]
    losses = [value.simple_value for value in values if value.tag == "loss"]
    return {**observed, "losses": np.array(losses, np.float32)}
