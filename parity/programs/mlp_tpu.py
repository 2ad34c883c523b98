"""A perceptron that a TPUEstimator trains without a TPU: metric_fn, as in TPU programs."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 8]).astype(np.float32)
    noise = random.normal(size=[count])
    return {"x": x}, (x[:, 0] - x[:, 1] + 0.5 * noise > 0).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = {"x": examples(3, seed=3)[0]["x"]}


def serving_input():
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def metric_fn(labels, logits):
    return {
        "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1)),
        "auc": tf.metrics.auc(labels, tf.nn.softmax(logits)[:, 1]),
    }


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(
        features["x"],
        12,
        activation=tf.nn.relu,
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
    )
    logits = tf.layers.dense(hidden, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {
            "class": tf.argmax(logits, axis=-1),
            "probability": tf.nn.softmax(logits),
        }
        return tf.estimator.tpu.TPUEstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, logits])
        )
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.05, step, decay_steps=5, decay_rate=0.9)
    optimizer = tf.train.AdamOptimizer(rate)
    if params["use_tpu"]:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=step)
    return tf.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.tpu.RunConfig(
        tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=2),
        model_dir=model_dir,
        tf_random_seed=2024,
        **settings,
    )
    return tf.estimator.tpu.TPUEstimator(
        model_fn,
        config=config,
        use_tpu=False,
        train_batch_size=6,
        eval_batch_size=8,
        predict_batch_size=8,
        export_to_tpu=False,
    )
