"""Residual networks: of bottleneck blocks for photographs, of basic blocks for small images."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Callable

import tensorflow as tf

from models.resnet.norm import batch_norm

__all__ = ["BASIC_DEPTHS", "BOTTLENECK_DEPTHS", "Network"]

# Blocks of each of the four stages.
BOTTLENECK_DEPTHS: dict[int, tuple[int, ...]] = {
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
# Three stages of equally many blocks. A block has two convolutions; the first convolution and the
# dense layer make two layers more.
BASIC_DEPTHS = {6 * blocks + 2: (blocks,) * 3 for blocks in (1, 2, 3, 5, 7, 9, 18)}

_v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Network:
    """A residual network, as He et al. describe it (2015), with the stride on the 3 by 3 layer.

    Attributes:
        depth: a key of `BOTTLENECK_DEPTHS` or of `BASIC_DEPTHS`.
        classes: the number of logits.
        filters: channels of the first stage, 64 and 16 in the paper.
        training: whether batch norm uses the batch's statistics.
        across: whether these are the global batch's, over all replicas.
    """

    depth: int
    classes: int
    filters: int
    training: bool
    across: bool

    def __call__(self, images: tf.Tensor) -> tf.Tensor:
        """Computes logits [batch, classes] from images [batch, height, width, channels]."""
        if self.depth in BOTTLENECK_DEPTHS:
            net = self._convolution(images, self.filters, 7, 2, "first")
            net = tf.nn.relu(self._norm(net, "first"))
            net = tf.nn.max_pool2d(net, 3, 2, "SAME")
            block, stages = self._bottleneck, BOTTLENECK_DEPTHS[self.depth]
        else:
            net = self._convolution(images, self.filters, 3, 1, "first")
            net = tf.nn.relu(self._norm(net, "first"))
            block, stages = self._basic, BASIC_DEPTHS[self.depth]
        for stage, blocks in enumerate(stages):
            for index in range(blocks):
                stride = 2 if stage and not index else 1
                with _v1.variable_scope(f"stage{stage + 1}/block{index + 1}"):
                    net = block(net, self.filters << stage, stride)
        net = tf.reduce_mean(net, axis=[1, 2])
        with _v1.variable_scope("logits"):
            shape = [net.shape[-1], self.classes]
            kernel = _variable("kernel", shape, net.dtype, _v1.random_normal_initializer(0, 0.01))
            bias = _variable("bias", shape[1:], net.dtype, _v1.zeros_initializer())
        return tf.linalg.matmul(net, kernel) + bias

    def _basic(self, x: tf.Tensor, filters: int, stride: int) -> tf.Tensor:
        net = self._convolution(x, filters, 3, stride, "convolution1")
        net = tf.nn.relu(self._norm(net, "convolution1"))
        net = self._convolution(net, filters, 3, 1, "convolution2")
        return self._sum(x, self._norm(net, "convolution2", first_gamma=0.0), stride)

    def _bottleneck(self, x: tf.Tensor, filters: int, stride: int) -> tf.Tensor:
        net = self._convolution(x, filters, 1, 1, "convolution1")
        net = tf.nn.relu(self._norm(net, "convolution1"))
        net = self._convolution(net, filters, 3, stride, "convolution2")
        net = tf.nn.relu(self._norm(net, "convolution2"))
        net = self._convolution(net, 4 * filters, 1, 1, "convolution3")
        return self._sum(x, self._norm(net, "convolution3", first_gamma=0.0), stride)

    def _sum(self, x: tf.Tensor, residual: tf.Tensor, stride: int) -> tf.Tensor:
        """Adds a block's input, projected if the block changes its shape."""
        if stride != 1 or x.shape[-1] != residual.shape[-1]:
            x = self._convolution(x, residual.shape[-1], 1, stride, "projection")
            x = self._norm(x, "projection")
        return tf.nn.relu(x + residual)

    @property
    def _norm(self) -> Callable[..., tf.Tensor]:
        return functools.partial(_named_norm, training=self.training, across=self.across)

    @staticmethod
    def _convolution(x: tf.Tensor, filters: int, size: int, stride: int, name: str) -> tf.Tensor:
        if stride > 1:  # padding that does not depend on the image's size, so that pixels align
            before = (size - 1) // 2
            after = size - 1 - before
            x = tf.pad(x, [[0, 0], [before, after], [before, after], [0, 0]])
        shape = [size, size, x.shape[-1], filters]
        with _v1.variable_scope(name):
            first = _v1.variance_scaling_initializer(2.0, mode="fan_out")
            kernel = _variable("kernel", shape, x.dtype, first)
        return tf.nn.conv2d(x, kernel, stride, "SAME" if stride == 1 else "VALID")


def _variable(name: str, shape: list[int], dtype: tf.DType, initializer: Any) -> tf.Tensor:
    """Makes a variable; in bfloat16_scope, its value in bfloat16 of a float32 one."""
    return _v1.get_variable(name, shape, dtype, initializer, use_resource=True)


def _named_norm(
    x: tf.Tensor, name: str, training: bool, across: bool, first_gamma: float = 1.0
) -> tf.Tensor:
    return batch_norm(x, training, across, name, first_gamma)
