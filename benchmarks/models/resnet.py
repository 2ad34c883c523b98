"""ResNet-50, whose cost is convolutions and batch normalization."""

from __future__ import annotations

import tensorflow as tf

from benchmarks.models.model import Model

__all__ = ["STAGES", "ResNet50"]

_v1 = tf.compat.v1
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))  # blocks, and the width of their middle
_WIDENING = 4


class ResNet50(Model):
    """Photographs in 1,000 classes; only TF1's form of it is here.

    Args:
      batch: number of examples a step.
      pixels: the height and width of a photograph.
    """

    classes = 1000

    def __init__(self, batch: int = 128, pixels: int = 224):
        super().__init__()
        self.batch, self.pixels = batch, pixels

    def features(self, rng, examples):
        """Returns photographs of three channels."""
        return rng.rand(examples, self.pixels, self.pixels, 3).astype("float32")

    def v1_logits(self, features):
        """Builds it with tf.layers; its moving averages are in UPDATE_OPS."""
        x = tf.nn.relu(_layer(features, "first", 64, 7, 2))
        x = _v1.layers.max_pooling2d(x, 3, 2, "same")
        for stage, (blocks, width) in enumerate(STAGES):
            for block in range(blocks):
                with _v1.variable_scope(f"stage_{stage}/block_{block}"):
                    x = _block(x, width, 2 if stage and not block else 1, is_first=not block)
        return _v1.layers.dense(tf.reduce_mean(x, [1, 2]), self.classes, name="dense")


def _block(x: tf.Tensor, width: int, stride: int, is_first: bool) -> tf.Tensor:
    wide = _WIDENING * width
    y = tf.nn.relu(_layer(x, "narrow", width, 1, 1))
    y = tf.nn.relu(_layer(y, "middle", width, 3, stride))
    y = _layer(y, "wide", wide, 1, 1)
    return tf.nn.relu(y + (_layer(x, "shortcut", wide, 1, stride) if is_first else x))


def _layer(x: tf.Tensor, name: str, width: int, size: int, stride: int) -> tf.Tensor:
    """Adds a convolution and its normalization."""
    with _v1.variable_scope(name):
        x = _v1.layers.conv2d(x, width, size, stride, "same", use_bias=False, name="conv")
        return _v1.layers.batch_normalization(
            x, momentum=0.9, epsilon=1e-5, training=True, name="norm"
        )
