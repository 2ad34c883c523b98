"""A classifier on a backbone of tf_keras.applications, described once for both estimators."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
import tf_keras

import estimator_bridge as eb

__all__ = ["CLASSIFIER", "MODEL", "backbone"]

CLASSIFIER = "classifier"
# Of batch norm's moving averages; those of the applications are for trainings of many epochs.
_NORM_MOMENTUM = 0.9
_DROPOUT = 0.2

_v1 = tf.compat.v1


def backbone(params: dict[str, Any]) -> tf_keras.Model:
    """Makes the backbone, with random weights.

    Args:
        params: `backbone`, `width`, `image_size` and `freeze_backbone`.

    Returns:
        A model from images, float32 [batch, image_size, image_size, 3] from -1 to 1, to features
        [batch, channels].
    """
    arguments = {
        "include_top": False,
        "weights": None,
        "input_shape": (params["image_size"], params["image_size"], 3),
        "pooling": "avg",
    }
    if params["backbone"] == "xception":
        model = tf_keras.applications.Xception(**arguments)
    else:
        model = tf_keras.applications.MobileNetV2(alpha=params["width"], **arguments)
    for layer in model.layers:
        if isinstance(layer, tf_keras.layers.BatchNormalization):
            layer.momentum = _NORM_MOMENTUM
    model.trainable = not params["freeze_backbone"]
    return model


def inference(features: tf.Tensor, training: bool, params: dict[str, Any]) -> tf.Tensor:
    """Computes logits [batch, classes] from images, as `backbone` takes them."""
    is_trained = training and not params["freeze_backbone"]
    net = backbone(params)(features, training=is_trained)
    net = tf_keras.layers.Dropout(_DROPOUT, name="dropout")(net, training=training)
    logits = tf_keras.layers.Dense(params["classes"], name=CLASSIFIER)(net)
    return tf.cast(logits, tf.float32)  # with mixed precision, the loss stays in float32


def loss(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    """Computes the mean cross entropy over the batch."""
    return _v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def metrics(labels: tf.Tensor, outputs: tf.Tensor) -> dict[str, Any]:
    """Computes the share of images classified correctly."""
    return {"accuracy": _v1.metrics.accuracy(labels, tf.argmax(outputs, axis=-1))}


def predictions(outputs: tf.Tensor) -> dict[str, tf.Tensor]:
    """Computes the most likely class [batch] and the probability of each [batch, classes]."""
    return {
        "class": tf.argmax(outputs, axis=-1),
        "probabilities": tf.nn.softmax(outputs, axis=-1),
    }


def optimizer(params: dict[str, Any]) -> tf.compat.v1.train.Optimizer:
    """Makes Adam with a rate that rises over the warm-up, if any, and falls by a cosine."""
    step = _v1.train.get_or_create_global_step()
    rate = _v1.train.cosine_decay(params["learning_rate"], step, params["train_steps"])
    if params["warmup_steps"]:
        rate *= tf.minimum(tf.cast(step + 1, tf.float32) / params["warmup_steps"], 1.0)
    return _v1.train.AdamOptimizer(rate)


MODEL = eb.Model(
    inference=inference, loss=loss, metrics=metrics, predictions=predictions, optimizer=optimizer
)
