"""Quantizes sums and products of quantized values."""

from __future__ import annotations

import re

import tensorflow as tf

from estimator_bridge_contrib.quantize.input_to_ops import InputToOps
from estimator_bridge_contrib.quantize.insertion import Quantization

__all__ = ["quantize_arithmetic"]

v1 = tf.compat.v1
_ARITHMETIC = ("Add", "AddV2", "Mul")
_PASSED_THROUGH = ("Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max")
_RELUS = ("Relu", "Relu6")
# The names that a + b has.
_OF_OPERATOR = re.compile(r"(.*/)?add(_\d+)?")


def quantize_arithmetic(
    graph: tf.Graph, quantized_ops: set[tf.Operation], quantization: Quantization
) -> None:
    """Quantizes the sums and products that have a quantized input.

    Args:
      graph: the graph, which is changed.
      quantized_ops: the operations whose outputs are quantized already.
      quantization: the settings.
    """
    consumers = InputToOps(graph)
    for op in graph.get_operations():
        if _has_quantized_input(op, quantized_ops, {}):
            v1.logging.info("%s is quantized.", op.name)
            name = f"{op.name}/activation_{_type_in_tf1(op)}_quant"
            quantization.quantize_outputs(name, op, consumers.ConsumerOperations(op))


def _type_in_tf1(op: tf.Operation) -> str:
    """The type that TensorFlow 1.15 gave to an operation, which its variables' names contain.

    There ``tf.add`` made an Add and ``a + b`` an AddV2.
    """
    if op.type == "AddV2" and not _OF_OPERATOR.fullmatch(op.name):
        return "Add"
    return op.type


def _has_quantized_input(
    op: tf.Operation, quantized_ops: set[tf.Operation], memo: dict[tf.Operation, bool]
) -> bool:
    """Returns whether an operation takes quantized values, and no activation follows it alone."""
    if op not in memo:
        memo[op] = False  # for a loop
        memo[op] = (
            op.type in _ARITHMETIC
            and op not in quantized_ops
            and not _leads_to_activation(op)
            and any(_is_quantized(tensor.op, quantized_ops, memo) for tensor in op.inputs)
        )
    return memo[op]


def _leads_to_activation(op: tf.Operation) -> bool:
    consumers = op.outputs[0].consumers()
    return len(consumers) == 1 and consumers[0].type in _RELUS


def _is_quantized(
    op: tf.Operation, quantized_ops: set[tf.Operation], memo: dict[tf.Operation, bool]
) -> bool:
    while op.type in _PASSED_THROUGH:
        op = op.inputs[0].op
    if op.type == "FakeQuantWithMinMaxVars" or _is_delayed(op):
        return True
    return op.type in _ARITHMETIC and any(
        _has_quantized_input(tensor.op, quantized_ops, memo) for tensor in op.inputs
    )


def _is_delayed(op: tf.Operation) -> bool:
    """Returns whether an operation is the choice between values and their quantized ones."""
    is_v2 = op.type in ("If", "StatelessIf") and op.name.endswith("/delayed_quant")
    return is_v2 or "delayed_quant/Merge" in op.name
