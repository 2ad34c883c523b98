"""Dropout and noise, each with its own op seed under the graph's seed."""

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


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    x = features["x"]
    if training:
        x += tf.random_normal(tf.shape(x), stddev=0.1, seed=7, name="noise")
        x = tf.nn.dropout(x, rate=0.2, seed=8, name="input_dropout")
    x = tf.layers.dense(
        x,
        16,
        activation=tf.nn.relu,
        kernel_initializer=tf.glorot_uniform_initializer(seed=9),
        name="hidden",
    )
    x = tf.layers.dropout(x, rate=0.5, training=training, seed=10)
    logits = tf.layers.dense(
        x, 2, kernel_initializer=tf.truncated_normal_initializer(stddev=0.2, seed=11), name="logits"
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_global_step()
    train_op = tf.train.RMSPropOptimizer(0.01, momentum=0.5).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
