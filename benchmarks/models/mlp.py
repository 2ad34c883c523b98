"""A small network, in which the cost of a step besides its arithmetic shows."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.models.model import Model

__all__ = ["MLP"]

_dense = tf.compat.v1.layers.dense


class MLP(Model):
    """64-128-10, batch 32."""

    def features(self, rng, examples):
        """Returns rows of 64 numbers."""
        return rng.rand(examples, 64).astype("float32")

    def v1_logits(self, features):
        """Builds it with tf.layers."""
        return _dense(_dense(features, 128, tf.nn.relu), self.classes)

    def weights(self):
        """Returns the shapes of two layers."""
        return [(64, 128), (128,), (128, self.classes), (self.classes,)]

    def logits(self, features, weights):
        """Builds it by hand."""
        hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(features, weights[0]), weights[1]))
        return tf.nn.bias_add(tf.matmul(hidden, weights[2]), weights[3])

    def keras(self):
        """Builds it with tf_keras."""
        from tf_keras import Sequential, layers

        return Sequential([layers.Dense(128, "relu", input_shape=(64,)), layers.Dense(10)])
