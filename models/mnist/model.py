"""A convolutional classifier of digits: one description for both estimators.

Without dropout and batch normalization, the same global batches give the same weights on any
number of cores; the task does not need them.
"""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf
import tf_keras

import estimator_bridge as eb

__all__ = ["MODEL", "NUM_CLASSES", "bytes_per_example", "serving_input_receiver_fn"]

NUM_CLASSES = 10
# Images above this size are halved between the convolutions; 8 by 8 pixels are few enough.
_LARGE = 16
_FILTERS = 16


def inference(features: tf.Tensor) -> tf.Tensor:
    """Computes logits [batch, 10] from images, float32 [batch, height, width, 1]."""
    net = _convolution(_FILTERS, "convolution1")(features)
    if min(features.shape[1:3]) > _LARGE:
        net = tf_keras.layers.MaxPool2D(name="pool1")(net)
    net = _convolution(32, "convolution2")(net)
    net = tf_keras.layers.MaxPool2D(name="pool2")(net)
    net = tf_keras.layers.Flatten(name="flatten")(net)
    net = _dense(128, "dense", activation="relu")(net)
    logits = _dense(NUM_CLASSES, "logits")(net)
    return tf.cast(logits, tf.float32)  # with mixed precision, the loss stays in float32


def bytes_per_example(height: int, width: int, training: bool) -> int:
    """Returns a lower bound of the memory for one image: its pixels and the first convolution.

    Args:
        height: height of the image, in pixels.
        width: width of the image, in pixels.
        training: whether the gradient of the convolution is also in memory.
    """
    return height * width * (1 + _FILTERS * (2 if training else 1)) * tf.float32.size


# Keras's own initializers use Python's random module. TF1's follow the graph's seed, so that the
# same tf_random_seed gives the same initial weights.
def _convolution(filters: int, name: str) -> tf_keras.layers.Layer:
    return tf_keras.layers.Conv2D(
        filters,
        3,
        padding="same",
        activation="relu",
        kernel_initializer=tf.compat.v1.glorot_uniform_initializer(),
        name=name,
    )


def _dense(units: int, name: str, activation: str | None = None) -> tf_keras.layers.Layer:
    return tf_keras.layers.Dense(
        units,
        activation=activation,
        kernel_initializer=tf.compat.v1.glorot_uniform_initializer(),
        name=name,
    )


def loss(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    """Computes the mean cross entropy over the batch."""
    return tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def metrics(labels: tf.Tensor, outputs: tf.Tensor) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
    """Computes the share of digits classified correctly by the first and by the top two guesses."""
    second_guess = tf.math.in_top_k(labels, outputs, 2)
    return {
        "accuracy": tf.compat.v1.metrics.accuracy(labels, tf.argmax(outputs, axis=-1)),
        "top_2_accuracy": tf.compat.v1.metrics.mean(tf.cast(second_guess, tf.float32)),
    }


def predictions(outputs: tf.Tensor) -> dict[str, tf.Tensor]:
    """Computes the most likely class [batch] and the probability of each [batch, 10]."""
    return {
        "class": tf.argmax(outputs, axis=-1),
        "probabilities": tf.nn.softmax(outputs, axis=-1),
    }


def optimizer(params: dict[str, Any]) -> tf.compat.v1.train.Optimizer:
    """Makes Adam with a rate that decays from `learning_rate` to 0 over `train_steps`.

    Over the first `warmup_steps`, if there are any, it rises from 0.
    """
    step = tf.compat.v1.train.get_or_create_global_step()
    rate = tf.compat.v1.train.cosine_decay(params["learning_rate"], step, params["train_steps"])
    warmup_steps = params.get("warmup_steps", 0)
    if warmup_steps:
        rate *= tf.minimum(tf.cast(step + 1, tf.float32) / warmup_steps, 1.0)
    return tf.compat.v1.train.AdamOptimizer(rate)


MODEL = eb.Model(
    inference=inference, loss=loss, metrics=metrics, predictions=predictions, optimizer=optimizer
)


def serving_input_receiver_fn(
    height: int, width: int
) -> Callable[[], eb.export.TensorServingInputReceiver]:
    """Describes the input of an exported model: images of raw bytes.

    Args:
        height: height of an image, in pixels.
        width: width of an image, in pixels.

    Returns:
        A function for `export_saved_model`. The receiver takes `image`, uint8
        [batch, height, width] from 0 (paper) to 255 (ink).
    """

    def receive() -> eb.export.TensorServingInputReceiver:
        image = tf.compat.v1.placeholder(tf.uint8, [None, height, width], name="image")
        features = tf.cast(image[..., tf.newaxis], tf.float32) / 255.0
        return eb.export.TensorServingInputReceiver(features, {"image": image})

    return receive
