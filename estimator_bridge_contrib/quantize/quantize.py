"""Quantizes the weights and the outputs of a graph's layers."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.quantize.arithmetic import quantize_arithmetic
from estimator_bridge_contrib.quantize.common import scope_of
from estimator_bridge_contrib.quantize.input_to_ops import InputToOps
from estimator_bridge_contrib.quantize.insertion import Quantization
from estimator_bridge_contrib.quantize.layer_patterns import Layer, find_layers

__all__ = ["Quantize"]

v1 = tf.compat.v1
_RELUS = ("Relu", "Relu6")


def Quantize(
    graph: tf.Graph,
    is_training: bool,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    ema_decay: float = 0.999,
    quant_delay: int | None = None,
    vars_collection: str = v1.GraphKeys.GLOBAL_VARIABLES,
    scope: str | None = None,
) -> None:
    """Puts fake quantizations after weights, activations, and additions of bypasses.

    Args:
      graph: the graph, which is changed. Its batch norms are folded already.
      is_training: whether the ranges are updated.
      weight_bits: the number of bits of weights.
      activation_bits: the number of bits of activations.
      symmetric: whether the ranges of weights and of layers' outputs are symmetric about zero.
      ema_decay: the decay of the moving averages of activations' ranges.
      quant_delay: the number of steps after which values are quantized; None for at once.
      vars_collection: a collection that gets the ranges' variables.
      scope: the name scope of the operations that are quantized; None for all.

    Raises:
      ValueError: an operation that should get quantized values does not take them.
    """
    if scope and not scope.endswith("/"):
        scope += "/"
    outputs = Quantization(
        is_training, activation_bits, symmetric, ema_decay, quant_delay, vars_collection, scope
    )
    layers = _Layers(graph, outputs.with_bits(weight_bits, symmetric), outputs)
    for layer in find_layers(graph):
        layers.quantize(layer)
    quantize_arithmetic(graph, layers.quantized_ops, outputs.with_bits(activation_bits, False))


class _Layers:
    """Quantizes layers.

    Args:
      graph: the graph.
      weights: the settings for weights.
      outputs: the settings for outputs.

    Attributes:
      quantized_ops: the operations whose outputs are quantized.
    """

    def __init__(self, graph: tf.Graph, weights: Quantization, outputs: Quantization):
        self._weights, self._outputs = weights, outputs
        self._consumers = InputToOps(graph).ConsumerOperations
        self.quantized_ops: set[tf.Operation] = set()

    def quantize(self, layer: Layer) -> None:
        """Quantizes a layer's weights and outputs."""
        context = scope_of(layer.op.name)
        above = scope_of(context) if layer.bypass is not None else context
        if layer.weights is not None:
            op = layer.weights.op
            name = _joined(context, "weights_quant")
            self._weights.quantize_weights(name, op, self._consumers(op))
        if layer.activation is not None:
            self._after(layer.activation, _joined(above, "act_quant"), least=0.0)
        if layer.bypass is not None:
            assert layer.bias is not None  # part of the pattern
            both = {"consumers_in_scope": True}
            self._after(layer.bias, _joined(context, "conv_quant"), **both)
            if not self._leads_to((*_RELUS, "Identity"), layer.bypass):
                self._after(layer.bypass, _joined(above, "add_quant"), **both)
        late = layer.late_bypass
        if late is not None and not self._leads_to(_RELUS, late):
            self._after(late, _joined(scope_of(late.name), "post_activation_bypass_quant"))

    def _after(self, op: tf.Operation, name: str, **options: Any) -> None:
        self._outputs.quantize_outputs(name, op, self._consumers(op), **options)
        self.quantized_ops.add(op)

    def _leads_to(self, types: tuple[str, ...], op: tf.Operation) -> bool:
        """Returns whether an activation follows, with which the addition is one operation later."""
        has_activation = any(each.type in types for each in self._consumers(op))
        if has_activation:
            v1.logging.info("%s is not quantized, because an activation follows.", op.name)
        return has_activation


def _joined(context: str, name: str) -> str:
    return f"{context}/{name}" if context else name
