"""The net."""

import tensorflow as tf


def line(x, units):
    shared = tf.make_template("line", tf.layers.dense, units=units, use_bias=False,
                              kernel_initializer=tf.zeros_initializer())  # fmt: skip
    return shared(x)


def metrics(labels, y):
    correlation = tf.contrib.metrics.streaming_pearson_correlation(y, labels)
    return {"mse": tf.metrics.mean_squared_error(labels, y), "pearson": correlation}
