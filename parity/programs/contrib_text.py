"""tf.contrib over sequences: embeddings, RNN cells, attention, optimize_loss with LazyAdam."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.contrib import layers, opt, rnn, seq2seq

TRAIN_EXAMPLES, TEST_EXAMPLES, TIME, WORDS = 60, 22, 5, 11


def examples(count, seed):
    random = np.random.RandomState(seed)
    words = random.randint(0, WORDS, size=[count, TIME]).astype(np.int64)
    lengths = random.randint(2, TIME + 1, size=[count]).astype(np.int32)
    mask = np.arange(TIME)[None, :] < lengths[:, None]
    return {"words": words, "length": lengths}, ((words > 6) * mask).sum(axis=1).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = examples(3, seed=3)[0]


def serving_input():
    features = {
        "words": tf.placeholder(tf.int64, [None, TIME], name="words"),
        "length": tf.placeholder(tf.int32, [None], name="length"),
    }
    return tf.estimator.export.ServingInputReceiver(features, features)


def encoded(features):
    """Three kinds of cells over embedded words, the last with attention to the first's outputs."""
    x = layers.embed_sequence(
        features["words"],
        vocab_size=WORDS,
        embed_dim=4,
        initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1),
        scope="words",
    )
    lengths = features["length"]
    with tf.variable_scope("encoder", initializer=tf.glorot_uniform_initializer(seed=2)):
        memory, _ = tf.nn.dynamic_rnn(
            rnn.MultiRNNCell([rnn.LSTMBlockCell(4), rnn.LayerNormBasicLSTMCell(4)]),
            x,
            sequence_length=lengths,
            dtype=tf.float32,
        )
    with tf.variable_scope("decoder", initializer=tf.glorot_uniform_initializer(seed=3)):
        attention = seq2seq.LuongAttention(4, memory, memory_sequence_length=lengths)
        cell = seq2seq.AttentionWrapper(
            rnn.UGRNNCell(4), attention, attention_layer_size=3, initial_cell_state=None
        )
        helper = seq2seq.TrainingHelper(x, lengths)
        start = cell.zero_state(tf.shape(lengths)[0], tf.float32)
        outputs, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, start))
    return tf.reduce_mean(outputs.rnn_output, axis=1)


def model_fn(features, labels, mode, params):
    logits = layers.linear(
        encoded(features),
        TIME + 1,
        weights_initializer=layers.xavier_initializer(seed=4),
        scope="logits",
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        counted = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=counted)
    train_op = layers.optimize_loss(
        loss,
        tf.train.get_global_step(),
        learning_rate=0.01,
        # With a small epsilon, Adam enlarges the rounding of the smallest gradients.
        optimizer=lambda rate: opt.LazyAdamOptimizer(rate, epsilon=1e-2),
        clip_gradients=1.0,
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 20, 0.9),
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
