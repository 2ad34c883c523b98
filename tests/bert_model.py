"""A tiny encoder like those of BERT's programs: two layers of attention over tokens."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from parity.programs.encoder import AdamWeightDecayOptimizer

__all__ = ["LENGTH", "bert_input_fn", "bert_model_fn"]

v1 = tf.compat.v1
WORDS, LENGTH, WIDTH, HEADS, LAYERS, CLASSES = 20, 6, 8, 2, 2, 3


def bert_input_fn(params, mode):
    """Features input_ids, input_mask, segment_ids: [batch, LENGTH]; labels: [batch]; all int32."""
    draw = np.random.RandomState(0)
    length = draw.randint(2, LENGTH + 1, 64)[:, np.newaxis]
    features = {
        "input_ids": draw.randint(0, WORDS, [64, LENGTH]).astype(np.int32),
        "input_mask": (np.arange(LENGTH) < length).astype(np.int32),
        "segment_ids": (np.arange(LENGTH) > 2).astype(np.int32) * np.ones([64, 1], np.int32),
    }
    labels = draw.randint(0, CLASSES, 64).astype(np.int32)
    data = tf.data.Dataset.from_tensor_slices((features, labels))
    is_training = mode == eb.ModeKeys.TRAIN
    data = data.shuffle(64).repeat() if is_training else data
    return data.batch(params["batch_size"], drop_remainder=is_training)


def dense(x, units, name, activation=None):
    return v1.layers.dense(
        x, units, activation, kernel_initializer=v1.truncated_normal_initializer(0.02), name=name
    )


def layer_norm(x, name):
    with v1.variable_scope(name):
        gamma = v1.get_variable("gamma", [WIDTH], initializer=v1.ones_initializer())
        beta = v1.get_variable("beta", [WIDTH], initializer=v1.zeros_initializer())
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def attention(x, mask, dropout):
    """Of each token to those that the mask shows, in several heads."""

    def heads(name):
        split = tf.reshape(dense(x, WIDTH, name), [-1, LENGTH, HEADS, WIDTH // HEADS])
        return tf.transpose(split, [0, 2, 1, 3])

    scores = tf.matmul(heads("query"), heads("key"), transpose_b=True) / np.sqrt(WIDTH / HEADS)
    scores += (1.0 - tf.cast(mask[:, tf.newaxis, tf.newaxis, :], tf.float32)) * -10000.0
    seen = tf.matmul(dropout(tf.nn.softmax(scores)), heads("value"))
    return tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [-1, LENGTH, WIDTH])


def encode(features, dropout):
    """Pools the tokens that the mask shows: float32 [batch, WIDTH]."""
    ids, mask, segments = (features[k] for k in ("input_ids", "input_mask", "segment_ids"))
    normal = v1.truncated_normal_initializer(0.02)
    words = v1.get_variable("word_embeddings", [WORDS, WIDTH], initializer=normal)
    kinds = v1.get_variable("token_type_embeddings", [2, WIDTH], initializer=normal)
    positions = v1.get_variable("position_embeddings", [2 * LENGTH, WIDTH], initializer=normal)
    flat_kinds = tf.one_hot(tf.reshape(segments, [-1]), 2)
    x = tf.gather(words, ids)
    x += tf.reshape(tf.matmul(flat_kinds, kinds), [-1, LENGTH, WIDTH])
    x += tf.slice(positions, [0, 0], [LENGTH, -1])
    x = dropout(layer_norm(x, "embeddings_norm"))
    for i in range(LAYERS):
        with v1.variable_scope(f"layer_{i}"):
            attended = dropout(dense(attention(x, mask, dropout), WIDTH, "attended"))
            x = layer_norm(x + attended, "attention_norm")
            wide = dense(x, 2 * WIDTH, "wide", tf.nn.gelu)
            x = layer_norm(x + dropout(dense(wide, WIDTH, "narrow")), "output_norm")
    shown = tf.cast(mask[..., tf.newaxis], tf.float32)
    pooled = tf.reduce_sum(x * shown, 1) / (tf.reduce_sum(shown, 1) + 1e-6)
    return dense(pooled, WIDTH, "pooler", tf.tanh)


def bert_model_fn(features, labels, mode, params):
    """A TPUEstimatorSpec; training clips the gradients, and decays weights by an own optimizer."""
    rate = 0.1 if mode == eb.ModeKeys.TRAIN else 0.0

    def dropout(x):
        return tf.nn.dropout(x, rate=rate) if rate else x

    logits = dense(encode(features, dropout), CLASSES, "logits")
    if mode == eb.ModeKeys.PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"class": tf.argmax(logits, -1)})
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(each)
    if mode == eb.ModeKeys.EVAL:

        def metrics(each, labels, logits):
            return {
                "accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, -1)),
                "mean_loss": v1.metrics.mean(each),
            }

        return eb.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metrics, [each, labels, logits])
        )
    step = v1.train.get_or_create_global_step()
    rate_now = v1.train.polynomial_decay(1e-3, step, 100, end_learning_rate=0.0)
    optimizer = eb.tpu.CrossShardOptimizer(
        AdamWeightDecayOptimizer(rate_now, exclude=("norm", "bias"))
    )
    variables = v1.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=step)
    train_op = tf.group(train_op, step.assign(step + 1))

    def host_call(loss):
        return v1.py_func(lambda values: None, [loss], [])

    return eb.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, host_call=(host_call, [tf.reshape(loss, [1])])
    )
