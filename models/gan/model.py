"""A generative adversarial network whose two parts are trained in one step, by an optimizer each.

The step is one program, as a TPU needs it: one loss, one computation of gradients, one sum over the
cores. The loss is that of the discriminator plus that of the generator. The first sees generated
images without their gradient, the second sees the discriminator's weights without theirs. So each
part's gradient is that of its own loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from models.common.optimizers import OptimizerByScope

__all__ = ["MODEL", "NOISE", "serving_input_receiver_fn"]

v1 = tf.compat.v1
NOISE = 32
_GENERATOR, _DISCRIMINATOR = "generator", "discriminator"
_HIDDEN = 128
_LEAK = 0.2
_SMOOTH = 0.9  # the label of real images, for the discriminator
_BETA1 = 0.5

Weights = list[tuple[Any, Any]]


def inference(features: dict[str, tf.Tensor], mode: str, params: dict[str, Any]) -> dict[str, Any]:
    """Generates images, and judges them beside real ones.

    Args:
        features: `noise`, float32 [batch, 32]; but for prediction, also `image`, float32
            [batch, height, width, 1] from 0 to 1.
        mode: one of `ModeKeys`.
        params: the images' `height` and `width`.

    Returns:
        The generated images under `image`; but for prediction, also the logits of real images
        under `real`, and of generated ones under `fake`, for the discriminator's loss, and under
        `fooled`, for the generator's.
    """
    size = params["height"] * params["width"]
    with v1.variable_scope(_GENERATOR):
        weights = _weights([NOISE, _HIDDEN, _HIDDEN, size])
    pixels = tf.sigmoid(_network(features["noise"], weights))
    images = tf.reshape(pixels, [-1, params["height"], params["width"], 1])
    if mode == eb.ModeKeys.PREDICT:
        return {"image": images}
    with v1.variable_scope(_DISCRIMINATOR):
        judge = _weights([size, _HIDDEN, _HIDDEN, 1])
    still = [(tf.stop_gradient(kernel), tf.stop_gradient(bias)) for kernel, bias in judge]
    return {
        "image": images,
        "real": _network(tf.reshape(features["image"], [-1, size]), judge),
        "fake": _network(tf.stop_gradient(pixels), judge),
        "fooled": _network(pixels, still),
    }


def _weights(sizes: list[int]) -> Weights:
    layers = []
    for number, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        with v1.variable_scope(f"dense{number}"):
            kernel = v1.get_variable(
                "kernel", [inputs, outputs], initializer=v1.glorot_uniform_initializer()
            )
            bias = v1.get_variable("bias", [outputs], initializer=v1.zeros_initializer())
        layers.append((kernel, bias))
    return layers


def _network(net: tf.Tensor, weights: Weights) -> tf.Tensor:
    *hidden, (kernel, bias) = weights
    for inner_kernel, inner_bias in hidden:
        net = tf.nn.leaky_relu(tf.matmul(net, inner_kernel) + inner_bias, _LEAK)
    return tf.matmul(net, kernel) + bias


def _cross_entropy(logits: tf.Tensor, label: float) -> tf.Tensor:
    return v1.losses.sigmoid_cross_entropy(tf.fill(tf.shape(logits), label), logits)


def loss(outputs: dict[str, Any]) -> tf.Tensor:
    """Computes the discriminator's loss plus the generator's: see the module."""
    judge_loss = _cross_entropy(outputs["real"], _SMOOTH) + _cross_entropy(outputs["fake"], 0.0)
    return judge_loss + _cross_entropy(outputs["fooled"], 1.0)


def metrics(features: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    """Computes how often the discriminator is right, and how far apart mean and spread are."""
    real, fake = features["image"], outputs["image"]
    return {
        "real_judged_real": v1.metrics.mean(tf.cast(outputs["real"] > 0, tf.float32)),
        "fake_judged_fake": v1.metrics.mean(tf.cast(outputs["fake"] < 0, tf.float32)),
        "ink_difference": v1.metrics.mean(
            tf.abs(tf.reduce_mean(real, 0) - tf.reduce_mean(fake, 0))
        ),
    }


def optimizer(params: dict[str, Any]) -> OptimizerByScope:
    """Makes one Adam for each part."""
    rate = params["learning_rate"]
    return OptimizerByScope(
        {
            _GENERATOR: v1.train.AdamOptimizer(rate, _BETA1),
            _DISCRIMINATOR: v1.train.AdamOptimizer(rate, _BETA1),
        }
    )


MODEL = eb.Model(inference, loss, metrics, optimizer=optimizer)


def serving_input_receiver_fn() -> Callable[[], Any]:
    """Describes the input of an exported model: `noise`, float32 [batch, 32], normal numbers."""

    def receive() -> Any:
        noise = v1.placeholder(tf.float32, [None, NOISE], name="noise")
        return eb.export.ServingInputReceiver({"noise": noise}, {"noise": noise})

    return receive
