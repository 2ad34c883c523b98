"""Two layers of LSTM cells with dynamic_rnn, sequences of different lengths, clipped gradients."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES, TIME = 60, 22, 7


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, TIME, 3]).astype(np.float32)
    lengths = random.randint(2, TIME + 1, size=[count]).astype(np.int32)
    noise = random.normal(size=[count])
    mask = np.arange(TIME)[None, :] < lengths[:, None]
    total = (x[:, :, 0] * mask).sum(axis=1)
    return {"x": x, "length": lengths}, (total + 0.5 * noise > 0).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    data = data.repeat().batch(params["batch_size"])
    return tf.data.make_one_shot_iterator(data).get_next()


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = examples(3, seed=3)[0]


def serving_input():
    features = {
        "x": tf.placeholder(tf.float32, [None, TIME, 3], name="x"),
        "length": tf.placeholder(tf.int32, [None], name="length"),
    }
    return tf.estimator.export.ServingInputReceiver(features, features)


def model_fn(features, labels, mode, params):
    cells = [
        tf.nn.rnn_cell.LSTMCell(5, initializer=tf.glorot_uniform_initializer(seed=seed))
        for seed in (1, 2)
    ]
    outputs, states = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.MultiRNNCell(cells),
        features["x"],
        sequence_length=features["length"],
        dtype=tf.float32,
    )
    pooled = tf.concat([states[-1].h, tf.reduce_mean(outputs, axis=1)], axis=-1)
    logits = tf.layers.dense(
        pooled, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=3), name="logits"
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits), "states": states[0].c}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.5)
    tf.summary.scalar("gradient_norm", norm)
    train_op = tf.train.GradientDescentOptimizer(0.5).apply_gradients(
        list(zip(gradients, variables)), global_step=tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
