"""A Keras model and a Keras optimizer inside model_fn, as in TF2's guide to Estimators."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 3, size=[count]).astype(np.int64)
    x = random.normal(size=[count, 6, 6, 1]).astype(np.float32)
    x[np.arange(count), 2 * labels, :, 0] += 1.0
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


def make_model():
    layers = tf.keras.layers
    initializer = tf.keras.initializers.glorot_uniform
    return tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, kernel_initializer=initializer(seed=1), input_shape=[6, 6, 1]),
            layers.BatchNormalization(momentum=0.9),
            layers.Activation("relu"),
            layers.Flatten(),
            layers.Dense(
                8,
                activation="tanh",
                kernel_initializer=initializer(seed=2),
                kernel_regularizer=tf.keras.regularizers.l2(1e-3),
            ),
            layers.Dense(3, kernel_initializer=initializer(seed=3)),
        ]
    )


def model_fn(features, labels, mode, params):
    model = make_model()
    training = mode == tf.estimator.ModeKeys.TRAIN
    logits = model(features, training=training)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + tf.add_n(model.losses)
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        accuracy.update_state(labels, logits)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = tf.keras.optimizers.legacy.SGD(0.02, momentum=0.9)
    optimizer.iterations = tf.train.get_or_create_global_step()
    updates = model.get_updates_for(None) + model.get_updates_for(features)
    with tf.control_dependencies(updates):
        train_op = optimizer.get_updates(loss, model.trainable_variables)[0]
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
