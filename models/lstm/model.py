"""A language model of bytes: an LSTM that predicts each next byte of a text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Callable

import tensorflow as tf
import tf_keras

import estimator_bridge as eb

__all__ = ["MODEL", "VALUES", "Layers", "make_layers", "serving_input_receiver_fn"]

v1 = tf.compat.v1
VALUES = 256
_EMBEDDED = 32
# The gradient of a long sequence can be large.
_LARGEST_NORM = 1.0


@dataclasses.dataclass(frozen=True)
class Layers:
    """The layers, without weights until they are called.

    Attributes:
        embedding: from bytes to vectors.
        recurrent: the LSTM layers, from the first to the last.
        logits: from the last layer's outputs to logits of each of the 256 next bytes.
    """

    embedding: Any
    recurrent: tuple[Any, ...]
    logits: Any

    def __call__(self, values: tf.Tensor) -> tf.Tensor:
        """Computes logits [batch, length, 256] of each next byte; each starts from a zero state."""
        net = self.embedding(values)
        for layer in self.recurrent:
            net = layer(net)
        return self.logits(net)

    def step(self, values: tf.Tensor, states: Sequence[Any]) -> tuple[tf.Tensor, list[Any]]:
        """Computes one byte's logits from what the layers remember of the bytes before it.

        Args:
            values: bytes, int32 [batch].
            states: of each LSTM layer its output and its cell, both [batch, units].

        Returns:
            Logits [batch, 256] of the next byte, and the new states.
        """
        net, after = self.embedding(values), []
        for layer, state in zip(self.recurrent, states):
            net, new = layer.cell(net, state)
            after.append(new)
        return self.logits(net), after


def make_layers(params: Mapping[str, Any]) -> Layers:
    """Makes the layers.

    Args:
        params: `units`, the width of a layer, and `layers`, the number of LSTM layers. With
            `log_frequencies`, of each of the 256 bytes, the logits begin as these: a training need
            not first learn which bytes are frequent.
    """
    uniform = v1.glorot_uniform_initializer()
    first_logits = params.get("log_frequencies", 0.0)
    recurrent = tuple(
        tf_keras.layers.LSTM(
            params["units"],
            return_sequences=True,
            kernel_initializer=uniform,
            recurrent_initializer=v1.orthogonal_initializer(),
            name=f"lstm{number}",
        )
        for number in range(params["layers"])
    )
    return Layers(
        tf_keras.layers.Embedding(
            VALUES, _EMBEDDED, embeddings_initializer=uniform, name="embedding"
        ),
        recurrent,
        tf_keras.layers.Dense(
            VALUES,
            kernel_initializer=uniform,
            bias_initializer=v1.constant_initializer(first_logits),
            name="logits",
        ),
    )


def inference(features: tf.Tensor, params: dict[str, Any]) -> tf.Tensor:
    """Computes logits [batch, length, 256] of each next byte from bytes, int32 [batch, length]."""
    return make_layers(params)(features)


def loss(labels: tf.Tensor, outputs: tf.Tensor) -> tf.Tensor:
    """Computes the mean cross entropy of a byte, in nats."""
    return v1.losses.sparse_softmax_cross_entropy(labels, outputs)


def metrics(labels: tf.Tensor, outputs: tf.Tensor) -> dict[str, Any]:
    """Computes the bits for a byte, and the share of bytes that were predicted."""
    nats = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, outputs)
    return {
        "bits_per_byte": v1.metrics.mean(nats / math.log(2.0)),
        "accuracy": v1.metrics.accuracy(labels, tf.argmax(outputs, -1, tf.int32)),
    }


def predictions(features: tf.Tensor, outputs: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns the text [batch, length], and after each byte the most likely next one."""
    return {"text": features, "next": tf.argmax(outputs, -1, tf.int32)}


def optimizer(params: dict[str, Any]) -> Any:
    """Makes Adam with clipped gradients and a rate that falls to a tenth."""
    step = v1.train.get_or_create_global_step()
    rate = v1.train.cosine_decay(params["learning_rate"], step, params["train_steps"], alpha=0.1)
    return tf_keras.optimizers.legacy.Adam(rate, global_clipnorm=_LARGEST_NORM)


MODEL = eb.Model(inference, loss, metrics, predictions, optimizer)


def serving_input_receiver_fn(length: int) -> Callable[[], Any]:
    """Describes the input of an exported model: the last bytes of a text.

    Args:
        length: the length of a sequence in training.

    Returns:
        A function for `export_saved_model`. The receiver takes `text`, string [batch]; of each text
        the last `length` bytes are read, with zeros before a shorter one.
    """

    def receive() -> Any:
        text = v1.placeholder(tf.string, [None], name="text")
        sizes = tf.minimum(tf.strings.length(text), length)
        tails = tf.strings.substr(text, tf.strings.length(text) - sizes, sizes)
        padding = tf.strings.substr(
            tf.fill(tf.shape(text), "\0" * length), 0 * sizes, length - sizes
        )
        values = tf.io.decode_raw(tf.strings.join([padding, tails]), tf.uint8)
        features = tf.cast(tf.reshape(values, [-1, length]), tf.int32)
        return eb.export.TensorServingInputReceiver(features, {"text": text})

    return receive
