"""BERT for pretraining and for classification, each for both estimators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from models.bert.config import BertConfig
from models.bert.encoder import activation, dense, encode, layer_norm
from models.bert.optimizer import bert_optimizer

__all__ = ["CLASSIFIER", "PRETRAINING"]

v1 = tf.compat.v1
_DROPPED = 0.1


def _pretraining(features: dict[str, Any], params: dict[str, Any], training: bool) -> Any:
    """Computes logits of the masked pieces and of whether the second part follows the first."""
    config = params["config"]
    encoded, pooled, table = encode(features, config, training)
    masked = tf.gather(encoded, features["masked_lm_positions"], batch_dims=1)
    with v1.variable_scope("cls/predictions"):
        with v1.variable_scope("transform"):
            masked = layer_norm(activation(dense(masked, config.hidden_size, config)))
        bias = v1.get_variable(
            "output_bias", [config.vocab_size], initializer=v1.zeros_initializer()
        )
    pieces = tf.matmul(masked, table, transpose_b=True) + bias
    follows = _linear("cls/seq_relationship", pooled, 2, config)
    return {"pieces": pieces, "follows": follows}


def _linear(scope: str, net: tf.Tensor, units: int, config: BertConfig) -> tf.Tensor:
    """Computes a linear layer whose weights are [units, width], as BERT's outputs have them."""
    with v1.variable_scope(scope or v1.get_variable_scope()):
        weights = v1.get_variable(
            "output_weights",
            [units, config.hidden_size],
            initializer=v1.truncated_normal_initializer(stddev=config.initializer_range),
        )
        bias = v1.get_variable("output_bias", [units], initializer=v1.zeros_initializer())
    return tf.matmul(net, weights, transpose_b=True) + bias


def _pretraining_loss(labels: dict[str, Any], outputs: dict[str, Any]) -> tf.Tensor:
    """Mean loss of the masked pieces, plus that of the order of the parts."""
    pieces = v1.losses.sparse_softmax_cross_entropy(
        labels["masked_lm_ids"],
        outputs["pieces"],
        labels["masked_lm_weights"],
        reduction=v1.losses.Reduction.SUM,
    )
    count = tf.reduce_sum(labels["masked_lm_weights"]) + 1e-5
    follows = v1.losses.sparse_softmax_cross_entropy(
        labels["next_sentence_labels"], outputs["follows"]
    )
    return pieces / count + follows


def _pretraining_metrics(labels: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    weights = labels["masked_lm_weights"]

    def losses(answers: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(answers, logits)

    pieces, follows = labels["masked_lm_ids"], labels["next_sentence_labels"]
    return {
        "masked_lm_accuracy": v1.metrics.accuracy(
            pieces, tf.argmax(outputs["pieces"], -1, tf.int32), weights
        ),
        "masked_lm_loss": v1.metrics.mean(losses(pieces, outputs["pieces"]), weights),
        "next_sentence_accuracy": v1.metrics.accuracy(
            follows, tf.argmax(outputs["follows"], -1, tf.int32)
        ),
        "next_sentence_loss": v1.metrics.mean(losses(follows, outputs["follows"])),
    }


def _pretraining_predictions(features: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        "input_ids": features["input_ids"],
        "positions": features["masked_lm_positions"],
        "pieces": tf.argmax(outputs["pieces"], -1, tf.int32),
    }


def _classifier(features: dict[str, Any], params: dict[str, Any], training: bool) -> tf.Tensor:
    """Computes logits [batch, classes]."""
    _, pooled, _ = encode(features, params["config"], training)
    if training:
        pooled = tf.nn.dropout(pooled, _DROPPED)
    return _linear("", pooled, params["classes"], params["config"])


def _classifier_loss(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    return v1.losses.sparse_softmax_cross_entropy(labels, logits)


def _classifier_predictions(logits: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"class": tf.argmax(logits, -1, tf.int32), "probabilities": tf.nn.softmax(logits)}


PRETRAINING = eb.Model(
    inference=_pretraining,
    loss=_pretraining_loss,
    metrics=_pretraining_metrics,
    predictions=_pretraining_predictions,
    optimizer=bert_optimizer,
)
CLASSIFIER = eb.Model(
    inference=_classifier,
    loss=_classifier_loss,
    metrics=lambda labels, logits: {
        "accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, -1, tf.int32))
    },
    predictions=_classifier_predictions,
    optimizer=bert_optimizer,
)
