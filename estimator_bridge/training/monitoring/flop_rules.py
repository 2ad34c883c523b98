"""Floating-point operations of matrix products and convolutions, by the type of operation.

A product of matrices [m, k] and [k, n] takes 2 m n k: a multiplication and an addition each. Other
operations do not count, as in the usual definition of a model's FLOP/s: they are few beside these,
and do not run on matrix units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["RULES", "UnknownShapeError", "flops_of"]


class UnknownShapeError(ValueError):
    """An operation's shapes are unknown before it runs."""


def flops_of(operation: tf.Operation) -> int:
    """Returns the floating-point operations of one operation; 0 for types without a rule.

    Raises:
      UnknownShapeError: its shapes are not known.
    """
    rule = RULES.get(operation.type)
    return 0 if rule is None else rule(operation)


def _dims(tensor: tf.Tensor) -> list[int]:
    if not tensor.shape.is_fully_defined():
        raise UnknownShapeError(f"{tensor.op.name}: {tensor.shape}")
    return [int(size) for size in tensor.shape.as_list()]


def _product(tensor: tf.Tensor) -> int:
    return math.prod(_dims(tensor))


def _matrix(attribute: str) -> Callable[[tf.Operation], int]:
    def rule(op: tf.Operation) -> int:
        inner = _dims(op.inputs[0])[-2 if op.get_attr(attribute) else -1]
        return 2 * _product(op.outputs[0]) * inner

    return rule


def _forward(op: tf.Operation) -> int:
    """Of a convolution: an output sums over the filter, all of it but its output channels."""
    return 2 * _product(op.outputs[0]) * math.prod(_dims(op.inputs[1])[:-1])


def _depthwise(op: tf.Operation) -> int:
    return 2 * _product(op.outputs[0]) * math.prod(_dims(op.inputs[1])[:-2])


def _gradient(of_input: bool, per_output: Callable[[list[int]], int]) -> Callable[[Any], int]:
    """Of a convolution's gradients: each has as many products as the convolution itself.

    Args:
      of_input: whether the gradient is that of the input; else that of the filter.
      per_output: the products for one element of the convolution's output, by the filter's shape.
    """

    def rule(op: tf.Operation) -> int:
        kernel = _dims(op.inputs[1] if of_input else op.outputs[0])
        return 2 * _product(op.inputs[2]) * per_output(kernel)

    return rule


def _of_filter(kernel: list[int]) -> int:
    return math.prod(kernel[:-1])


def _of_depthwise_filter(kernel: list[int]) -> int:
    return math.prod(kernel[:-2])


def _einsum(op: tf.Operation) -> int:
    """Each combination of the indices is a product; of one operand alone there are none."""
    if len(op.inputs) < 2:
        return 0
    equation = op.get_attr("equation").decode()
    sizes: dict[str, int] = {}
    for term, tensor in zip(equation.split("->")[0].split(","), op.inputs):
        dims, labels = _dims(tensor), term.strip()
        if "..." in labels:
            before, after = labels.split("...")
            batch = dims[len(before) : len(dims) - len(after)]
            for place, size in enumerate(reversed(batch)):
                sizes[f"...{place}"] = max(size, sizes.get(f"...{place}", 1))
            dims = dims[: len(before)] + dims[len(dims) - len(after) :]
            labels = before + after
        sizes.update(zip(labels, dims))
    return 2 * math.prod(sizes.values())


RULES: dict[str, Callable[[tf.Operation], int]] = {
    "MatMul": _matrix("transpose_a"),
    "BatchMatMul": _matrix("adj_x"),
    "BatchMatMulV2": _matrix("adj_x"),
    "BatchMatMulV3": _matrix("adj_x"),
    "Einsum": _einsum,
    "Conv2D": _forward,
    "Conv3D": _forward,
    "DepthwiseConv2dNative": _depthwise,
    "Conv2DBackpropInput": _gradient(True, _of_filter),
    "Conv2DBackpropFilter": _gradient(False, _of_filter),
    "Conv3DBackpropInputV2": _gradient(True, _of_filter),
    "Conv3DBackpropFilterV2": _gradient(False, _of_filter),
    "DepthwiseConv2dNativeBackpropInput": _gradient(True, _of_depthwise_filter),
    "DepthwiseConv2dNativeBackpropFilter": _gradient(False, _of_depthwise_filter),
}
