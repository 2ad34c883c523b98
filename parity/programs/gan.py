"""A small GAN: noise, two optimizers with separate variables, one train_op."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    noise = random.normal(size=[count, 3]).astype(np.float32)
    angle = random.uniform(0, 2 * np.pi, size=[count])
    real = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    return {"noise": noise, "real": real}


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params)


SERVED = {"noise": examples(3, seed=3)["noise"]}


def serving_input():
    noise = tf.placeholder(tf.float32, [None, 3], name="noise")
    return tf.estimator.export.ServingInputReceiver({"noise": noise}, {"noise": noise})


def dense(x, units, seed, name, activation=None):
    kernel = tf.glorot_uniform_initializer(seed=seed)
    return tf.layers.dense(x, units, activation=activation, kernel_initializer=kernel, name=name)


def generator(noise):
    with tf.variable_scope("generator", reuse=tf.AUTO_REUSE):
        return dense(dense(noise, 6, 1, "hidden", tf.tanh), 2, 2, "points")


def discriminator(points):
    with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
        return dense(dense(points, 6, 3, "hidden", tf.nn.leaky_relu), 1, 4, "logits")


def cross_entropy(logits, label):
    return tf.losses.sigmoid_cross_entropy(label * tf.ones_like(logits), logits)


# With `ordered_updates`, all gradients are computed before an optimizer assigns anything. Without,
# the original computed the generator's from the discriminator before or after its update.
UNORDERED = {"ordered_updates": False}


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    noise = features["noise"]
    if training:
        noise = tf.random.uniform(tf.shape(noise), -1.0, 1.0, seed=5)
    fakes = generator(noise)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"points": fakes})
    on_real, on_fakes = discriminator(features["real"]), discriminator(fakes)
    discriminator_loss = cross_entropy(on_real, 0.9) + cross_entropy(on_fakes, 0.0)
    generator_loss = cross_entropy(on_fakes, 1.0)
    loss = discriminator_loss + generator_loss
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {
            "fooled": tf.metrics.mean(tf.sigmoid(on_fakes)),
            "on_real": tf.metrics.mean_tensor(tf.reduce_mean(features["real"], axis=0)),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    tf.summary.scalar("generator/loss", generator_loss)
    tf.summary.scalar("discriminator/loss", discriminator_loss)
    first = tf.train.AdamOptimizer(0.002, beta1=0.5, name="discriminator_adam")
    second = tf.train.AdamOptimizer(0.002, beta1=0.5, name="generator_adam")
    on_first = first.compute_gradients(discriminator_loss, tf.trainable_variables("discriminator"))
    on_second = second.compute_gradients(generator_loss, tf.trainable_variables("generator"))
    gradients = [gradient for gradient, _ in on_first + on_second]
    with tf.control_dependencies(gradients if params["ordered_updates"] else []):
        train_op = tf.group(
            first.apply_gradients(on_first),
            second.apply_gradients(on_second, global_step=tf.train.get_global_step()),
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, ordered_updates=True, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    params = {"batch_size": 6, "ordered_updates": ordered_updates}
    return tf.estimator.Estimator(model_fn, config=config, params=params)
