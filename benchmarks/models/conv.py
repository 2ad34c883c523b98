"""A small convolutional network."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.models.model import Model

__all__ = ["Conv"]

_layers = tf.compat.v1.layers


class Conv(Model):
    """16x16 pictures, two convolutions with pooling."""

    def __init__(self, batch: int = 32):
        super().__init__()
        self.batch = batch

    def features(self, rng, examples):
        """Returns pictures of one channel."""
        return rng.rand(examples, 16, 16, 1).astype("float32")

    def v1_logits(self, features):
        """Builds it with tf.layers."""
        x = _layers.conv2d(features, 16, 3, padding="same", activation=tf.nn.relu)
        x = _layers.max_pooling2d(x, 2, 2)
        x = _layers.conv2d(x, 32, 3, padding="same", activation=tf.nn.relu)
        x = _layers.flatten(_layers.max_pooling2d(x, 2, 2))
        return _layers.dense(x, self.classes)

    def weights(self):
        """Returns the shapes of two convolutions and one layer."""
        return [(3, 3, 1, 16), (16,), (3, 3, 16, 32), (32,), (512, 10), (10,)]

    def logits(self, features, weights):
        """Builds it by hand."""
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(features, weights[0], 1, "SAME"), weights[1]))
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weights[2], 1, "SAME"), weights[3]))
        x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), [-1, 512])
        return tf.nn.bias_add(tf.matmul(x, weights[4]), weights[5])

    def keras(self):
        """Builds it with tf_keras."""
        from tf_keras import Sequential, layers

        return Sequential(
            [
                layers.Conv2D(16, 3, padding="same", activation="relu", input_shape=(16, 16, 1)),
                layers.MaxPooling2D(),
                layers.Conv2D(32, 3, padding="same", activation="relu"),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(10),
            ]
        )
