"""Variables in parts: an embedding and dense layers under partitioners, trained with Ftrl."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22
WORDS = 13


def examples(count, seed):
    random = np.random.RandomState(seed)
    ids = random.randint(0, WORDS, size=[count, 4]).astype(np.int32)
    noise = random.normal(size=[count])
    return {"ids": ids}, (ids.sum(axis=1) + noise > 24).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"])


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = examples(3, seed=3)[0]


def serving_input():
    ids = tf.placeholder(tf.int32, [None, 4], name="ids")
    return tf.estimator.export.ServingInputReceiver({"ids": ids}, {"ids": ids})


def model_fn(features, labels, mode, params):
    with tf.variable_scope("words", partitioner=tf.fixed_size_partitioner(3)):
        # 13 rows in three parts: of 5, 4 and 4
        table = tf.get_variable(
            "table", [WORDS, 5], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)
        )
        x = tf.nn.embedding_lookup(table, features["ids"], partition_strategy="div")
    with tf.variable_scope("tower", partitioner=tf.fixed_size_partitioner(2, axis=1)):
        kernel = tf.get_variable(
            "kernel", [20, 6], initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=2)
        )
        x = tf.tanh(tf.matmul(tf.reshape(x, [-1, 20]), tf.convert_to_tensor(kernel)))
    with tf.variable_scope("head", partitioner=tf.fixed_size_partitioner(2)):
        logits = tf.layers.dense(x, 2, kernel_initializer=tf.random_uniform_initializer(seed=3))
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.FtrlOptimizer(0.1, l2_regularization_strength=1e-3)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
