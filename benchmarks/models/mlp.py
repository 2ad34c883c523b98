"""A small network, in which the cost of a step besides its arithmetic shows."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.models.model import Model

__all__ = ["MLP"]

_dense = tf.compat.v1.layers.dense


class MLP(Model):
    """64-128-10, batch 32.

    Args:
      batch: number of examples a step.
      hidden: number of layers of 128 units.
    """

    def __init__(self, batch: int = 32, hidden: int = 1):
        super().__init__()
        self.batch, self.hidden = batch, hidden

    def features(self, rng, examples):
        """Returns rows of 64 numbers."""
        return rng.rand(examples, 64).astype("float32")

    def v1_logits(self, features):
        """Builds it with tf.layers."""
        for _ in range(self.hidden):
            features = _dense(features, 128, tf.nn.relu)
        return _dense(features, self.classes)

    def weights(self):
        """Returns the shapes of the layers."""
        sizes = [64, *[128] * self.hidden, self.classes]
        return [shape for pair in zip(sizes, sizes[1:]) for shape in (pair, pair[1:])]

    def logits(self, features, weights):
        """Builds it by hand."""
        *hidden, kernel, bias = weights
        for i in range(0, len(hidden), 2):
            product = tf.matmul(features, hidden[i])
            features = tf.nn.relu(tf.nn.bias_add(product, hidden[i + 1]))
        return tf.nn.bias_add(tf.matmul(features, kernel), bias)

    def keras(self):
        """Builds it with tf_keras."""
        from tf_keras import Input, Sequential, layers

        hidden = [layers.Dense(128, "relu") for _ in range(self.hidden)]
        return Sequential([Input([64]), *hidden, layers.Dense(10)])
