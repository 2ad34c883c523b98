"""Finds the layers of a graph whose weights and outputs are quantized.

A layer is, with optional parts in brackets::

    weights, or folded weights
    Conv2D, DepthwiseConv2dNative or MatMul
    [BatchToSpaceND]
    [the correction of a folded batch norm]
    [a bias, or a folded one]
    [an addition: a bypass]
    Relu, Relu6 or Identity
    [an addition after the activation: another bypass]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.quantize.graph_matcher import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
    Pattern,
)
from estimator_bridge_contrib.quantize.layer_copies import LINEAR_TYPES

__all__ = ["Layer", "find_layers"]

_ADD = "Add|AddV2"
_FUSED_BATCH_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")


@dataclass(frozen=True)
class Layer:
    """A layer to quantize.

    Attributes:
      op: the convolution or product.
      weights: its weights; None if they are not quantized.
      activation: the operation whose outputs are the layer's; None if it has none.
      bypass: the addition before the activation, or None.
      late_bypass: the addition after the activation, or None.
      bias: the addition of the bias, or None.
    """

    op: tf.Operation
    weights: tf.Tensor | None
    activation: tf.Operation | None = None
    bypass: tf.Operation | None = None
    late_bypass: tf.Operation | None = None
    bias: tf.Operation | None = None


class _Patterns:
    """The patterns of the parts, from the weights to the outputs."""

    def __init__(self) -> None:
        self.kept_weights = _identity_of_a_variable()
        self.read_weights = OpTypePattern("ReadVariableOp")
        self.folded_weights = OpTypePattern("Mul")
        weights = OneofPattern([self.kept_weights, self.read_weights, self.folded_weights])
        self.layer = _unordered("|".join(LINEAR_TYPES), OpTypePattern("*"), weights)
        spread = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        linear = OneofPattern([spread, self.layer])
        # A separable convolution has no activation between its two parts.
        self.separable = _unordered("|".join(LINEAR_TYPES), linear, OpTypePattern("*"))
        corrected = _unordered(_ADD, _unordered("Mul", OpTypePattern("*"), linear), _any())
        self.folded_bias = _unordered(_ADD, corrected, _any())
        # A batch norm that updates its moving averages itself ends with an identity.
        same = OpTypePattern("Identity", inputs=[self.folded_bias])
        self.bias = _unordered(f"{_ADD}|BiasAdd", linear, _any())
        self.bypass = _unordered(_ADD, OneofPattern([self.bias, self.folded_bias, same]), _any())
        ends = [self.bias, self.folded_bias, same, self.bypass, self.layer]
        self.activation = OpTypePattern("Relu|Relu6|Identity", inputs=[OneofPattern(ends)])
        self.late_bypass = _unordered(_ADD, _any(), self.activation)
        self.biased = OneofPattern([self.bias, self.folded_bias])


def _any() -> Pattern:
    return OpTypePattern("*")


def _unordered(types: str, *inputs: Pattern) -> OpTypePattern:
    return OpTypePattern(types, inputs=inputs, ordered_inputs=False)


def _identity_of_a_variable() -> Pattern:
    """The read value of a variable, or of one whose parts are joined along an axis."""
    variable = OpTypePattern("Variable|VariableV2")
    part = OpTypePattern("Identity", inputs=[variable])
    whole = OpTypePattern("ConcatV2", inputs=[part, "*", "*"])
    resource = OpTypePattern("ReadVariableOp")
    return OpTypePattern("Identity", inputs=[OneofPattern([part, whole, variable, resource])])


def find_layers(graph: tf.Graph) -> list[Layer]:
    """Finds the layers, each once, the longest form of it first.

    Args:
      graph: the graph.
    """
    patterns = _Patterns()
    layers: dict[tf.Operation, Layer] = {}
    for search in (_with_late_bypass, _with_activation, _without_activation, _separable):
        for layer in search(graph, patterns):
            layers.setdefault(layer.op, layer)
    return list(layers.values())


def _with_late_bypass(graph: tf.Graph, patterns: _Patterns) -> Iterator[Layer]:
    for match in GraphMatcher(patterns.late_bypass).match_graph(graph):
        yield Layer(
            _op(match, patterns.layer),
            _weights(match, patterns),
            match.get_op(patterns.activation),
            match.get_op(patterns.bypass),
            match.get_op(patterns.late_bypass),
            _bias(match, patterns),
        )


def _with_activation(graph: tf.Graph, patterns: _Patterns) -> Iterator[Layer]:
    for match in GraphMatcher(patterns.activation).match_graph(graph):
        activation = _op(match, patterns.activation)
        if not _leads_to_statistics(activation):
            yield Layer(
                _op(match, patterns.layer),
                _weights(match, patterns),
                activation,
                match.get_op(patterns.bypass),
                bias=_bias(match, patterns),
            )


def _without_activation(graph: tf.Graph, patterns: _Patterns) -> Iterator[Layer]:
    """Layers that end with their bias, as a network's last layer does."""
    for match in GraphMatcher(patterns.biased).match_graph(graph):
        yield Layer(_op(match, patterns.layer), _weights(match, patterns), _bias(match, patterns))


def _separable(graph: tf.Graph, patterns: _Patterns) -> Iterator[Layer]:
    """The first parts of separable convolutions, which have neither bias nor activation."""
    for match in GraphMatcher(patterns.separable).match_graph(graph):
        op = _op(match, patterns.layer)
        yield Layer(op, _weights(match, patterns, folded=False), op)


def _op(match: MatchResult, pattern: Pattern) -> Any:
    return match.get_op(pattern)


def _weights(match: MatchResult, patterns: _Patterns, folded: bool = True) -> tf.Tensor | None:
    tensor = match.get_tensor(patterns.kept_weights)
    if tensor is None:
        tensor = match.get_tensor(patterns.read_weights)
    if tensor is None and folded:
        tensor = match.get_tensor(patterns.folded_weights)
    return tensor


def _bias(match: MatchResult, patterns: _Patterns) -> tf.Operation | None:
    return match.get_op(patterns.bias) or match.get_op(patterns.folded_bias)


def _leads_to_statistics(activation: tf.Operation) -> bool:
    """Returns whether an identity feeds only a batch norm; folding makes it no output."""
    if activation.type != "Identity":
        return False
    consumers = activation.outputs[0].consumers()
    return len(consumers) == 1 and consumers[0].type in _FUSED_BATCH_NORMS
