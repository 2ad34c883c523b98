"""Gradients of three batches added up before they are applied: branches with effects, loops."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES, BATCHES = 60, 22, 3


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 6]).astype(np.float32)
    noise = random.normal(size=[count])
    return x, (x[:, 0] - x[:, 1] + 0.5 * noise > 0).astype(np.int64)


def train_input(params):
    x, y = examples(TRAIN_EXAMPLES, seed=1)
    data = tf.data.Dataset.from_generator(lambda: zip(x, y), (tf.float32, tf.int64), ([6], []))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = {"input": examples(3, seed=3)[0]}


def serving_input():
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    return tf.estimator.export.TensorServingInputReceiver(x, x)


def smoothed(x):
    """A loop in the graph: its length is a tensor."""
    kernel = tf.get_variable("smooth", [6, 6], initializer=tf.initializers.orthogonal(seed=1))
    rounds = tf.reduce_sum(tf.ones([3], tf.int32))
    return tf.while_loop(
        lambda i, y: i < rounds, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, kernel))), [0, x]
    )[1]


def accumulated(optimizer, loss, step):
    """Applies the mean gradient of every third batch; counts every batch."""
    pairs = [pair for pair in optimizer.compute_gradients(loss) if pair[0] is not None]
    sums = [
        tf.get_variable(
            f"{variable.op.name}/sum",
            variable.shape,
            initializer=tf.zeros_initializer(),
            trainable=False,
        )
        for _, variable in pairs
    ]
    adding = [tf.assign_add(total, gradient) for total, (gradient, _) in zip(sums, pairs)]

    def apply():
        means = [(total / BATCHES, variable) for total, (_, variable) in zip(sums, pairs)]
        update = optimizer.apply_gradients(means)
        with tf.control_dependencies([update]):
            return tf.group(*[tf.assign(total, tf.zeros_like(total)) for total in sums])

    with tf.control_dependencies(adding):
        full = tf.equal((step + 1) % BATCHES, 0)
        update = tf.cond(full, apply, tf.no_op)
        with tf.control_dependencies([update]):
            return tf.assign_add(step, 1)


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(
        smoothed(features), 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2)
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    train_op = accumulated(optimizer, loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
