"""Copies of linear layers with other weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

__all__ = ["LINEAR_TYPES", "LinearLayer", "copy_layer"]

_ATTRIBUTES = {
    "Conv2D": (
        "strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format", "dilations",
    ),
    "DepthwiseConv2dNative": (
        "strides", "padding", "explicit_paddings", "data_format", "dilations",
    ),
    "MatMul": ("transpose_a", "transpose_b"),
}  # fmt: skip
LINEAR_TYPES = tuple(_ATTRIBUTES)


@dataclass(frozen=True)
class LinearLayer:
    """A linear layer of a graph.

    Attributes:
      op: the convolution or product.
      spread: the BatchToSpaceND that follows it, if it is dilated and computed on parts; or None.
    """

    op: tf.Operation
    spread: tf.Operation | None

    @property
    def inputs(self) -> tf.Tensor:
        """The tensor that the weights are applied to."""
        return self.op.inputs[0]

    @property
    def weights(self) -> tf.Tensor:
        """The weights, whose last dimensions are channels."""
        return self.op.inputs[1]

    @property
    def is_depthwise(self) -> bool:
        """True if the weights have the output channels in two dimensions."""
        return self.op.type == "DepthwiseConv2dNative"

    def of_channels(self, values: tf.Tensor, name: str) -> tf.Tensor:
        """Shapes a vector with a value for each output channel, to be multiplied by the weights."""
        if not self.is_depthwise:
            return values
        return tf.reshape(values, self.weights.shape.as_list()[2:], name=name)


def copy_layer(
    layer: LinearLayer, weights: tf.Tensor, name_of: Callable[[tf.Operation], str]
) -> tf.Tensor:
    """Makes a copy of a layer with other weights.

    Args:
      layer: the layer.
      weights: the copy's weights.
      name_of: gives the start of a copy's name, which has "_Fold" after it, by its original.

    Returns:
      The copy's outputs.

    Raises:
      ValueError: the layer's last dimension is not that of its output channels, such as in NCHW.
    """
    op = layer.op
    _check(op, layer.inputs, weights)
    make = {
        "Conv2D": _convolution,
        "DepthwiseConv2dNative": _depthwise_convolution,
        "MatMul": _product,
    }[op.type]
    outputs = make(op, layer.inputs, weights, f"{name_of(op)}_Fold")
    if layer.spread is not None:
        _, sizes, crops = layer.spread.inputs
        name = f"{name_of(layer.spread)}_Fold"
        outputs = tf.batch_to_space(outputs, sizes, crops, name=name)
    return outputs


def _convolution(op: tf.Operation, inputs: tf.Tensor, weights: tf.Tensor, name: str) -> tf.Tensor:
    return tf.raw_ops.Conv2D(input=inputs, filter=weights, name=name, **_attributes(op))


def _depthwise_convolution(
    op: tf.Operation, inputs: tf.Tensor, weights: tf.Tensor, name: str
) -> tf.Tensor:
    return tf.raw_ops.DepthwiseConv2dNative(
        input=inputs, filter=weights, name=name, **_attributes(op)
    )


def _product(op: tf.Operation, inputs: tf.Tensor, weights: tf.Tensor, name: str) -> tf.Tensor:
    return tf.raw_ops.MatMul(a=inputs, b=weights, name=name, **_attributes(op))


def _attributes(op: tf.Operation) -> dict[str, object]:
    return {name: op.get_attr(name) for name in _ATTRIBUTES[op.type]}


def _check(op: tf.Operation, inputs: tf.Tensor, weights: tf.Tensor) -> None:
    if op.type == "MatMul":
        fits = not (op.get_attr("transpose_a") or op.get_attr("transpose_b"))
        requirement = "a product without transposed factors"
    else:
        fits = op.get_attr("data_format") == b"NHWC"
        requirement = "the data format NHWC"
    if not fits:
        raise ValueError(
            f"Cannot fold the batch norm into {op.name}: incompatible shapes for op {op.name} "
            f"inputs: {inputs.shape} and {weights.shape}. Folding needs {requirement}."
        )
