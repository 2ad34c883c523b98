"""ResNet as TPUs trained it, described once for both estimators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge_contrib.opt.lars import LARSOptimizer
from models.resnet.averages import AveragedModel
from models.resnet.network import Network
from models.resnet.norm import NORM
from models.resnet.schedule import rate_at

__all__ = ["MODEL"]

_MOMENTUM = 0.9

_v1 = tf.compat.v1


def inference(features: tf.Tensor, training: bool, params: dict[str, Any]) -> tf.Tensor:
    """Computes logits [batch, classes] from images, float32 [batch, height, width, channels]."""
    network = Network(
        params["depth"], params["classes"], params["filters"], training, params["cross_replica"]
    )
    if not params["bfloat16"]:
        return network(features)
    with _v1.tpu.bfloat16_scope():  # variables stay in float32
        logits = network(tf.cast(features, tf.bfloat16))
    return tf.cast(logits, tf.float32)


def loss(
    labels: tf.Tensor, outputs: tf.Tensor, training: bool, params: dict[str, Any]
) -> tf.Tensor:
    """Computes the mean cross entropy with smoothed labels, and in training the weight decay."""
    targets = tf.one_hot(labels, params["classes"])
    smoothing = params["label_smoothing"] if training else 0.0
    entropy = _v1.losses.softmax_cross_entropy(targets, outputs, label_smoothing=smoothing)
    if not training or params["optimizer"] == "lars":  # which has its own decay
        return entropy
    weights = [v for v in _v1.trainable_variables() if NORM not in v.name and "bias" not in v.name]
    return entropy + params["weight_decay"] * tf.add_n([tf.nn.l2_loss(v) for v in weights])


def metrics(labels: tf.Tensor, outputs: tf.Tensor) -> dict[str, Any]:
    """Computes the shares of images whose class is the first guess, and among the first five."""
    among = tf.cast(tf.math.in_top_k(labels, outputs, min(5, outputs.shape[-1])), tf.float32)
    return {
        "accuracy": _v1.metrics.accuracy(labels, tf.argmax(outputs, axis=-1)),
        "top_5_accuracy": _v1.metrics.mean(among),
    }


def predictions(outputs: tf.Tensor) -> dict[str, tf.Tensor]:
    """Computes the most likely class [batch] and the probability of each [batch, classes]."""
    return {
        "class": tf.argmax(outputs, axis=-1),
        "probabilities": tf.nn.softmax(outputs, axis=-1),
    }


def optimizer(params: dict[str, Any]) -> tf.compat.v1.train.Optimizer:
    """Makes Nesterov's momentum, or LARS for batches of thousands."""
    rate = rate_at(_v1.train.get_or_create_global_step(), params)
    if params["optimizer"] == "momentum":
        return _v1.train.MomentumOptimizer(rate, _MOMENTUM, use_nesterov=True)
    return LARSOptimizer(rate, _MOMENTUM, params["weight_decay"], skip_list=[NORM, "bias"])


MODEL = AveragedModel(
    eb.Model(
        inference=inference,
        loss=loss,
        metrics=metrics,
        predictions=predictions,
        optimizer=optimizer,
    )
)
