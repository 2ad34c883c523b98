"""Small models and inputs for the tests of distribution/."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1
FEATURES = 4


def mirrored(cores: int):
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(cores)])


def strategy_of(replicas: int):
    """Returns a strategy, or None, the original's single replica, for 1."""
    return None if replicas == 1 else mirrored(replicas)


def uniform(seed: int):
    return v1.random_uniform_initializer(-0.5, 0.5, seed=seed)


def batches(size: int, examples: int = 48, repeat: int | None = None):
    """An input_fn of (features, labels), `size` examples an element."""
    random = np.random.RandomState(0)
    x = random.normal(size=[examples, FEATURES]).astype(np.float32)
    y = (x[:, :1] > 0.2).astype(np.float32)

    def input_fn():
        return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat or 1).batch(size)

    return input_fn


def output(features):
    hidden = v1.layers.dense(features, 5, tf.nn.tanh, kernel_initializer=uniform(1), name="hidden")
    return v1.layers.dense(hidden, 1, kernel_initializer=uniform(2), name="out")


def model(make_optimizer=lambda: v1.train.AdamOptimizer(0.05), hooks=(), chief_hooks=()):
    """A model_fn for all modes."""

    def model_fn(features, labels, mode):
        logits = output(features)
        if mode == "infer":
            return eb.EstimatorSpec(mode, predictions={"chance": tf.sigmoid(logits)})
        loss = v1.losses.sigmoid_cross_entropy(labels, logits)
        metrics = {
            "accuracy": v1.metrics.accuracy(labels, tf.round(tf.sigmoid(logits))),
            "auc": v1.metrics.auc(labels, tf.sigmoid(logits)),
            "count": v1.metrics.true_positives(tf.ones_like(labels), tf.ones_like(labels)),
        }
        train_op = None
        if mode == "train":
            train_op = make_optimizer().minimize(loss, v1.train.get_global_step())
        return eb.EstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            training_hooks=hooks,
            training_chief_hooks=chief_hooks,
        )

    return model_fn


def estimator(model_fn, model_dir, train=None, evaluate=None, **settings):
    config = eb.RunConfig(
        train_distribute=train, eval_distribute=evaluate, tf_random_seed=1, **settings
    )
    return eb.Estimator(model_fn, str(model_dir), config)


def weights(trained) -> dict[str, np.ndarray]:
    return {name: trained.get_variable_value(name) for name in trained.get_variable_names()}


class Fetched(v1.train.SessionRunHook):
    """Fetches tensors with every step."""

    def __init__(self, names):
        self.names, self.values = names, []

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self.names)

    def after_run(self, run_context, run_values):
        self.values.append(run_values.results)
