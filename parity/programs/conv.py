"""A convolution with batch normalization, whose moving averages are in UPDATE_OPS."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 3, size=[count]).astype(np.int64)
    x = random.normal(size=[count, 6, 6, 1]).astype(np.float32)
    x[np.arange(count), 2 * labels, :, 0] += 1.0  # a bright line in a row of its own
    return x, labels


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = {"input": examples(3, seed=3)[0]}


def serving_input():
    images = tf.placeholder(tf.float32, [None, 6, 6, 1], name="images")
    return tf.estimator.export.TensorServingInputReceiver(images, images)


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.variable_scope("trunk"):
        x = tf.layers.conv2d(
            features,
            4,
            3,
            padding="same",
            use_bias=False,
            kernel_initializer=tf.glorot_uniform_initializer(seed=3),
        )
        x = tf.layers.batch_normalization(x, momentum=0.9, training=training)
        x = tf.layers.max_pooling2d(tf.nn.relu(x), 2, 2)
    logits = tf.layers.dense(
        tf.layers.flatten(x),
        3,
        kernel_initializer=tf.glorot_uniform_initializer(seed=4),
        name="head",
    )
    classes = tf.argmax(logits, axis=-1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": classes, "probability": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    tf.summary.histogram("logits", logits)
    tf.summary.image("images", features, max_outputs=2)
    optimizer = tf.train.MomentumOptimizer(0.02, 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
