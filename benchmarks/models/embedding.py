"""A large table of which a step reads and updates few rows."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.models.model import Model
from benchmarks.models.optimizers import Adagrad

__all__ = ["Embedding"]

_v1 = tf.compat.v1
_ROWS, _SIZE, _WORDS = 100_000, 16, 20


class Embedding(Model):
    """Bags of 20 words out of 100,000, batch 128, Adagrad."""

    batch = 128

    def __init__(self):
        super().__init__()
        self.optimizer = Adagrad()

    def features(self, rng, examples):
        """Returns word ids."""
        return rng.randint(0, _ROWS, [examples, _WORDS])

    def v1_logits(self, features):
        """Builds it with get_variable and embedding_lookup."""
        table = _v1.get_variable("table", [_ROWS, _SIZE])
        bag = tf.reduce_mean(tf.nn.embedding_lookup(table, features), 1)
        return _v1.layers.dense(bag, self.classes)

    def weights(self):
        """Returns the shapes of the table and one layer."""
        return [(_ROWS, _SIZE), (_SIZE, 10), (10,)]

    def logits(self, features, weights):
        """Builds it by hand."""
        bag = tf.reduce_mean(tf.gather(weights[0], features), 1)
        return tf.nn.bias_add(tf.matmul(bag, weights[1]), weights[2])

    def keras(self):
        """Builds it with tf_keras."""
        from tf_keras import Sequential, layers

        return Sequential(
            [
                layers.Embedding(_ROWS, _SIZE, input_length=_WORDS),
                layers.GlobalAveragePooling1D(),
                layers.Dense(10),
            ]
        )
