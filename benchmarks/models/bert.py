"""A BERT-style encoder: many operations of all kinds in a step."""

from __future__ import annotations

import math

import tensorflow as tf

from benchmarks.models.model import Model
from benchmarks.models.optimizers import Adam

__all__ = ["Bert"]

_v1 = tf.compat.v1
_EPSILON = 1e-6


class Bert(Model):
    """An encoder and a classifier on its first position; by default BERT-tiny, batch 16x64.

    Args:
      batch: number of examples a step.
      length: number of words of an example.
      layers: number of the encoder's layers.
      size: size of a word's vector.
      heads: number of the attention's heads.
      words: size of the vocabulary.
      dtype: the dtype in which TF1's form asks for its variables.
    """

    def __init__(
        self, batch=16, length=64, layers=2, size=128, heads=2, words=1000, dtype=tf.float32
    ):
        super().__init__()
        self.dtype = dtype
        self.batch, self.length, self.layers = batch, length, layers
        self.size, self.heads, self.words = size, heads, words
        self.optimizer = Adam()

    def features(self, rng, examples):
        """Returns word ids."""
        return rng.randint(0, self.words, [examples, self.length])

    def v1_logits(self, features):
        """Builds it with tf.layers, and get_variable for tables and norms."""
        words = self._v1_table("words", [self.words, self.size])
        places = self._v1_table("places", [self.length, self.size])
        x = self._v1_norm(tf.gather(words, features) + places, "embedding")
        for i in range(self.layers):
            with _v1.variable_scope(f"layer_{i}"):
                q, k, v = (
                    self._split_heads(_v1.layers.dense(x, self.size, name=name))
                    for name in ("query", "key", "value")
                )
                mixed = _v1.layers.dense(self._attend(q, k, v), self.size, name="mixed")
                x = self._v1_norm(x + mixed, "attention")
                inner = _v1.layers.dense(x, 4 * self.size, _gelu, name="inner")
                x = self._v1_norm(x + _v1.layers.dense(inner, self.size, name="outer"), "output")
        return _v1.layers.dense(x[:, 0], self.classes)

    def weights(self):
        """Returns the shapes in the order in which ``logits`` uses them."""
        square, norm = [(self.size, self.size), (self.size,)], [(self.size,), (self.size,)]
        layer = square * 4 + norm
        layer += [(self.size, 4 * self.size), (4 * self.size,), (4 * self.size, self.size)]
        layer += [(self.size,), *norm]
        tables = [(self.words, self.size), (self.length, self.size), *norm]
        return [*tables, *layer * self.layers, (self.size, self.classes), (self.classes,)]

    def logits(self, features, weights):
        """Builds it by hand."""
        take = iter(weights)

        def dense(x):
            return tf.nn.bias_add(tf.tensordot(x, next(take), 1), next(take))

        def norm(x):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            offset, scale = next(take), next(take)
            return tf.nn.batch_normalization(x, mean, variance, offset, 1.0 + scale, _EPSILON)

        x = norm(tf.gather(next(take), features) + next(take))
        for _ in range(self.layers):
            q, k, v = (self._split_heads(dense(x)) for _ in range(3))
            x = norm(x + dense(self._attend(q, k, v)))
            x = norm(x + dense(tf.nn.gelu(dense(x))))
        return dense(x[:, 0])

    def keras(self):
        """Builds it with tf_keras, with its own attention."""
        import tf_keras
        from tf_keras import layers

        words = tf_keras.Input([self.length], dtype=tf.int64)
        positions = tf.range(self.length)
        x = layers.Embedding(self.words, self.size)(words)
        x += layers.Embedding(self.length, self.size)(positions)
        x = layers.LayerNormalization(epsilon=_EPSILON)(x)
        for _ in range(self.layers):
            attention = layers.MultiHeadAttention(self.heads, self.size // self.heads)
            x = layers.LayerNormalization(epsilon=_EPSILON)(x + attention(x, x))
            inner = layers.Dense(4 * self.size, tf.nn.gelu)(x)
            x = layers.LayerNormalization(epsilon=_EPSILON)(x + layers.Dense(self.size)(inner))
        return tf_keras.Model(words, layers.Dense(self.classes)(x[:, 0]))

    def _v1_norm(self, x, name):
        with _v1.variable_scope(name):
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            offset = self._v1_table("beta", [self.size], tf.zeros_initializer())
            scale = self._v1_table("gamma", [self.size], tf.ones_initializer())
            return tf.nn.batch_normalization(x, mean, variance, offset, scale, _EPSILON)

    def _v1_table(self, name, shape, initializer=None):
        return _v1.get_variable(name, shape, self.dtype, initializer)

    def _split_heads(self, x):
        shape = [self.batch, self.length, self.heads, self.size // self.heads]
        return tf.transpose(tf.reshape(x, shape), [0, 2, 1, 3])

    def _attend(self, q, k, v):
        scores = tf.matmul(q, k, transpose_b=True) / math.sqrt(self.size // self.heads)
        mixed = tf.matmul(tf.nn.softmax(scores), v)
        return tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [self.batch, self.length, self.size])


def _gelu(x):
    """tf.nn.gelu, which TensorFlow 1.15 lacks."""
    if hasattr(tf.nn, "gelu"):
        return tf.nn.gelu(x)
    return 0.5 * x * (1.0 + tf.math.erf(x / math.sqrt(2.0)))
