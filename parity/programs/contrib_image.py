"""tf.contrib in a convolutional network: layers in an arg_scope, batch norm, AdamW's slots."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.contrib import framework, layers, metrics, opt

TRAIN_EXAMPLES, TEST_EXAMPLES, SIZE = 60, 22, 6


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, SIZE, SIZE, 2]).astype(np.float32)
    noise = random.normal(size=[count])
    return {"x": x}, (x[:, 1:3, 1:3, 0].sum(axis=(1, 2)) + 0.5 * noise > 0).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = examples(3, seed=3)[0]


def serving_input():
    features = {"x": tf.placeholder(tf.float32, [None, SIZE, SIZE, 2], name="x")}
    return tf.estimator.export.ServingInputReceiver(features, features)


def network(x, training):
    normalized = {"is_training": training, "decay": 0.9, "scale": True}
    shared = framework.arg_scope(
        [layers.conv2d, layers.separable_conv2d, layers.fully_connected],
        weights_regularizer=layers.l2_regularizer(1e-3),
    )
    with shared:
        x = layers.conv2d(
            x,
            5,
            [3, 3],
            normalizer_fn=layers.batch_norm,
            normalizer_params=normalized,
            weights_initializer=layers.xavier_initializer(seed=1),
        )
        x = layers.separable_conv2d(
            x,
            4,
            [3, 3],
            depth_multiplier=2,
            weights_initializer=layers.variance_scaling_initializer(seed=2),
        )
        x = layers.max_pool2d(x, [2, 2])
        x = layers.layer_norm(layers.flatten(x))
        x = layers.fully_connected(
            x, 7, scope="hidden", weights_initializer=layers.xavier_initializer(seed=3)
        )
        return layers.fully_connected(
            x,
            2,
            activation_fn=None,
            scope="logits",
            weights_initializer=layers.xavier_initializer(seed=4),
        )


UNORDERED = {"ordered_updates": False}


def model_fn(features, labels, mode, params):
    logits = network(features["x"], mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": layers.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss += tf.losses.get_regularization_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        counts = {
            "accuracy": metrics.streaming_accuracy(tf.argmax(logits, axis=-1), labels),
            "covariance": metrics.streaming_covariance(logits[:, 1], tf.cast(labels, tf.float32)),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=counts)
    step = framework.get_or_create_global_step()
    optimizer = opt.AdamWOptimizer(weight_decay=1e-3, learning_rate=0.003)
    gradients = optimizer.compute_gradients(loss)
    # AdamW's decay of a weight waits for no gradient: 1.15.5 races without the order given here.
    first = [gradient for gradient, _ in gradients] if params["ordered_updates"] else []
    with tf.control_dependencies(first + tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.apply_gradients(gradients, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, ordered_updates=True, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    params = {"batch_size": 6, "ordered_updates": ordered_updates}
    return tf.estimator.Estimator(model_fn, config=config, params=params)
