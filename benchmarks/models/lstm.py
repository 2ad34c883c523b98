"""A recurrent network: a loop inside the step."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.models.model import Model

__all__ = ["LSTM", "LSTMLayer"]

_v1 = tf.compat.v1
_STEPS, _SIZE, _UNITS = 20, 32, 64


class LSTM(Model):
    """20 steps of 32 numbers, 64 units, batch 32."""

    def features(self, rng, examples):
        """Returns sequences."""
        return rng.rand(examples, _STEPS, _SIZE).astype("float32")

    def v1_logits(self, features):
        """Builds it with rnn_cell and dynamic_rnn."""
        cell = _v1.nn.rnn_cell.LSTMCell(_UNITS)
        _, state = _v1.nn.dynamic_rnn(cell, features, dtype=tf.float32)
        return _v1.layers.dense(state.h, self.classes)

    def weights(self):
        """Returns the shapes of the cell and the last layer."""
        return [(_SIZE + _UNITS, 4 * _UNITS), (4 * _UNITS,), (_UNITS, 10), (10,)]

    def logits(self, features, weights):
        """Builds it by hand, with a loop over time."""
        kernel, bias = weights[0].read_value(), weights[1].read_value()
        by_time = tf.transpose(features, [1, 0, 2])
        rows = tf.TensorArray(tf.float32, _STEPS).unstack(by_time)
        start = tf.zeros([self.batch, _UNITS])

        def body(t, c, h):
            gates = tf.nn.bias_add(tf.matmul(tf.concat([rows.read(t), h], 1), kernel), bias)
            i, j, f, o = tf.split(gates, 4, 1)
            c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
            return t + 1, c, tf.sigmoid(o) * tf.tanh(c)

        variables = (tf.constant(0), start, start)
        _, _, h = tf.while_loop(  # bounded, as dynamic_rnn does, and as XLA requires
            lambda t, c, h: t < _STEPS, body, variables, maximum_iterations=_STEPS
        )
        return tf.nn.bias_add(tf.matmul(h, weights[2]), weights[3])

    def keras(self):
        """Builds it with tf_keras."""
        from tf_keras import Sequential, layers

        return Sequential([layers.LSTM(_UNITS, input_shape=(_STEPS, _SIZE)), layers.Dense(10)])


class LSTMLayer(LSTM):
    """The same sizes, by the layer of Keras 2 in the model_fn as in ``keras``."""

    def v1_logits(self, features):
        """Builds it with the layer."""
        return tf.keras.layers.Dense(self.classes)(tf.keras.layers.LSTM(_UNITS)(features))
