"""BERT's encoder, with the variable names of the checkpoints that Google released."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from models.bert.config import BertConfig

__all__ = ["Encoded", "activation", "dense", "encode", "layer_norm"]

v1 = tf.compat.v1
# Added to the scores of positions that hold no piece: their share becomes 0.
_HIDDEN = -10000.0
_EPSILON = 1e-12  # of layer_norm, as in the released checkpoints

Encoded = tuple[tf.Tensor, tf.Tensor, tf.Tensor]


def encode(features: dict[str, tf.Tensor], config: BertConfig, training: bool) -> Encoded:
    """Encodes sequences of pieces.

    Args:
        features: `input_ids`, `input_mask` (1 where there is a piece, 0 after the end) and
            `segment_ids` (0 or 1), each int32 [batch, length].
        config: the model's sizes.
        training: whether parts are dropped at random.

    Returns:
        The last layer [batch, length, hidden], the first position of it after the pooler
        [batch, hidden], and the embeddings of the pieces [vocabulary, hidden].
    """
    mask = tf.cast(features["input_mask"], tf.float32)
    bias = (1.0 - mask[:, tf.newaxis, tf.newaxis, :]) * _HIDDEN
    with v1.variable_scope("bert"):
        net, table = _embedded(features, config, training)
        with v1.variable_scope("encoder"):
            for number in range(config.num_hidden_layers):
                with v1.variable_scope(f"layer_{number}"):
                    net = _layer(net, bias, config, training)
        with v1.variable_scope("pooler"):
            pooled = tf.tanh(dense(net[:, 0], config.hidden_size, config))
    return net, pooled, table


def _embedded(
    features: dict[str, tf.Tensor], config: BertConfig, training: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    ids, segments = features["input_ids"], features["segment_ids"]
    width, length = config.hidden_size, ids.shape[1]

    def table(name: str, size: int) -> Any:
        return v1.get_variable(name, [size, width], initializer=_initializer(config))

    with v1.variable_scope("embeddings"):
        pieces = table("word_embeddings", config.vocab_size)
        kinds = table("token_type_embeddings", config.type_vocab_size)
        positions = table("position_embeddings", config.max_position_embeddings)
        net = tf.gather(pieces, ids) + positions[:length]
        # A product is faster on a TPU than reading two rows.
        net += tf.one_hot(segments, config.type_vocab_size) @ kinds
        return _dropped(layer_norm(net), config.hidden_dropout_prob, training), pieces


def _layer(net: tf.Tensor, bias: tf.Tensor, config: BertConfig, training: bool) -> tf.Tensor:
    """Attention and two dense parts, each added to its input and normalized."""

    def add_and_normalize(part: tf.Tensor, to: tf.Tensor) -> tf.Tensor:
        part = dense(part, config.hidden_size, config)
        return layer_norm(_dropped(part, config.hidden_dropout_prob, training) + to)

    with v1.variable_scope("attention"):
        with v1.variable_scope("self"):
            attention = _attention(net, bias, config, training)
        with v1.variable_scope("output"):
            net = add_and_normalize(attention, net)
    with v1.variable_scope("intermediate"):
        inner = activation(dense(net, config.intermediate_size, config))
    with v1.variable_scope("output"):
        return add_and_normalize(inner, net)


def _attention(net: tf.Tensor, bias: tf.Tensor, config: BertConfig, training: bool) -> tf.Tensor:
    heads = config.num_attention_heads
    width = config.hidden_size // heads
    length = net.shape[1]

    def projected(name: str) -> tf.Tensor:
        part = dense(net, config.hidden_size, config, name)
        return tf.transpose(tf.reshape(part, [-1, length, heads, width]), [0, 2, 1, 3])

    query, key, value = (projected(name) for name in ("query", "key", "value"))
    scores = tf.matmul(query, key, transpose_b=True) / math.sqrt(width) + bias
    shares = _dropped(tf.nn.softmax(scores), config.attention_probs_dropout_prob, training)
    context = tf.transpose(shares @ value, [0, 2, 1, 3])
    return tf.reshape(context, [-1, length, config.hidden_size])


def activation(net: tf.Tensor) -> tf.Tensor:
    """GELU by its approximation with tanh, as in the released checkpoints."""
    return tf.nn.gelu(net, approximate=True)


def dense(net: tf.Tensor, units: int, config: BertConfig, name: str = "dense") -> tf.Tensor:
    """Computes a dense layer over the last dimension."""
    with v1.variable_scope(name):
        kernel = v1.get_variable("kernel", [net.shape[-1], units], initializer=_initializer(config))
        bias = v1.get_variable("bias", [units], initializer=v1.zeros_initializer())
    return tf.tensordot(net, kernel, 1) + bias


def layer_norm(net: tf.Tensor, name: str = "LayerNorm") -> tf.Tensor:
    """Normalizes the last dimension."""
    with v1.variable_scope(name):
        beta = v1.get_variable("beta", net.shape[-1:], initializer=v1.zeros_initializer())
        gamma = v1.get_variable("gamma", net.shape[-1:], initializer=v1.ones_initializer())
    mean, variance = tf.nn.moments(net, -1, keepdims=True)
    return tf.nn.batch_normalization(net, mean, variance, beta, gamma, _EPSILON)


def _initializer(config: BertConfig) -> Any:
    return v1.truncated_normal_initializer(stddev=config.initializer_range)


def _dropped(net: tf.Tensor, rate: float, training: bool) -> tf.Tensor:
    return tf.nn.dropout(net, rate) if training and rate else net
