"""A small training whose model_dir the tests damage, kill or fill."""

import numpy as np
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1


def model_fn(features, labels, mode):
    weights = v1.get_variable("weights", [50])
    loss = tf.reduce_mean(tf.square(features["x"] * weights - 1.0))
    train_op = v1.train.AdamOptimizer(0.1).minimize(loss, v1.train.get_global_step())
    return eb.EstimatorSpec(mode, {"y": features["x"] * tf.reduce_sum(weights)}, loss, train_op)


def examples():
    """One example, repeated indefinitely."""
    return tf.data.Dataset.from_tensors({"x": np.ones([1], np.float32)}).repeat()


def few_examples():
    return examples().take(2)


def receiver():
    x = v1.placeholder(tf.float32, [1])
    return eb.export.ServingInputReceiver({"x": x}, {"x": x})


def make(folder, **changes):
    """An estimator that saves a checkpoint every two steps and summaries at each step."""
    settings = {"tf_random_seed": 1, "save_checkpoints_steps": 2, "save_summary_steps": 1}
    return eb.Estimator(model_fn, str(folder), eb.RunConfig(**{**settings, **changes}))
