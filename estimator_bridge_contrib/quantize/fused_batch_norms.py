"""Folds the batch norms that TensorFlow's fused operation computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.graphs import set_gradient
from estimator_bridge_contrib.quantize.batch_norm_correction import (
    Statistics,
    correct,
    find_average,
)
from estimator_bridge_contrib.quantize.common import RerouteTensor, scope_of
from estimator_bridge_contrib.quantize.graph_matcher import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
)
from estimator_bridge_contrib.quantize.layer_copies import LINEAR_TYPES, LinearLayer, copy_layer

__all__ = ["fold_fused"]

_GRADIENT = "FoldFusedBatchNormGrad"


@dataclass(frozen=True)
class _Normalized:
    """A linear layer and its batch norm.

    Attributes:
      layer: the layer.
      norm: the fused operation.
      outputs: the normalized values, in the layer's shape.
      statistics: those of the batch, or None if the moving averages normalize.
      mean: the mean that normalizes.
      variance: the variance that normalizes.
    """

    layer: LinearLayer
    norm: tf.Operation
    outputs: tf.Tensor
    statistics: Statistics | None
    mean: tf.Tensor
    variance: tf.Tensor


def fold_fused(graph: tf.Graph, freeze_delay: int | None) -> None:
    """Folds the fused batch norms of a graph; see ``FoldBatchNorms``."""
    with graph.as_default():
        for normalized in list(_find(graph)):
            _fold(graph, normalized, freeze_delay)


def _fold(graph: tf.Graph, normalized: _Normalized, freeze_delay: int | None) -> None:
    layer, norm = normalized.layer, normalized.norm
    scope = scope_of(layer.op.name)
    inside = f"{scope}/" if scope else ""  # the slash enters the scope that is there
    with graph.name_scope(inside):
        with graph.name_scope(f"{inside}BatchNorm_Fold{'/' if scope else ''}"):
            _, gamma, beta, *_ = norm.inputs
            factor = gamma * tf.math.rsqrt(normalized.variance + norm.get_attr("epsilon"))
            bias = tf.subtract(beta, normalized.mean * factor, name="bias")
            correction = None
            if normalized.statistics is not None:
                correction = correct(normalized.statistics, "", freeze_delay)
            factor = layer.of_channels(factor, "scale_reshape")
            weights = layer.weights
            if correction is not None:
                scale = layer.of_channels(correction.scale, "correction_reshape")
        if correction is not None:
            weights = tf.multiply(scale, weights, name="correction_mult")
        weights = tf.multiply(weights, factor, name="mul_fold")
        outputs = copy_layer(layer, weights, lambda op: op.name.rpartition("/")[2])
        if correction is not None:
            outputs = tf.multiply(correction.recip, outputs, name="post_conv_mul")
            outputs = tf.raw_ops.Add(x=outputs, y=correction.offset, name="correction_add")
        outputs = tf.raw_ops.Add(x=outputs, y=bias, name="add_fold")
    if not RerouteTensor(outputs, normalized.outputs):
        raise ValueError(f"Folding batch norms failed, {normalized.outputs.name} had no outputs.")


class _Patterns:
    """Patterns of a layer, its batch norm, and the reshapes around the batch norm of a product."""

    def __init__(self) -> None:
        self.layer = OpTypePattern("|".join(LINEAR_TYPES), inputs=["*", "*"])
        self.spread = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        same = OpTypePattern("Identity", inputs=[OneofPattern([self.spread, self.layer])])
        linear = OneofPattern([same, self.layer, self.spread])
        reshaped = OpTypePattern("Reshape", inputs=[linear, "*"])
        self.norm = OpTypePattern(
            "FusedBatchNorm|FusedBatchNormV2|FusedBatchNormV3",
            inputs=[OneofPattern([reshaped, linear]), "*", "*", "*", "*"],
        )
        self.reshaped_back = OpTypePattern("Reshape", inputs=[self.norm, "*"])
        self.whole = OneofPattern([self.reshaped_back, self.norm])


def _find(graph: tf.Graph) -> Iterator[_Normalized]:
    patterns = _Patterns()
    seen = set()
    for match in list(GraphMatcher(patterns.whole).match_graph(graph)):
        normalized = _read(graph, match, patterns)
        if normalized is not None and normalized.layer.op not in seen:
            seen.add(normalized.layer.op)
            yield normalized


def _read(graph: tf.Graph, match: MatchResult, patterns: _Patterns) -> _Normalized | None:
    op: Any = match.get_op(patterns.layer)
    norm: Any = match.get_op(patterns.norm)
    outputs = norm.outputs[0]
    if op.type == "MatMul":
        back = match.get_op(patterns.reshaped_back)
        if back is None:
            return None  # the same layer matches again with the reshape
        outputs = back.outputs[0]
    if not outputs.consumers():
        return None
    layer = LinearLayer(op, match.get_op(patterns.spread))
    _, gamma, _, mean, variance = norm.inputs
    statistics = None
    if norm.get_attr("is_training"):
        if norm.get_attr("data_format") != b"NHWC" and op.type != "MatMul":
            raise ValueError(
                f"Cannot fold the batch norm {norm.name}: folding needs the data format NHWC."
            )
        # The outputs of the old layer are not used any more, but their mean and variance are.
        set_gradient(norm, _GRADIENT)
        mean, variance = norm.outputs[1], _batch_variance(graph, op, norm)
        statistics = Statistics(
            gamma=gamma,
            mean=mean,
            variance=variance,
            moving_mean=find_average(norm.outputs[1], norm.name),
            moving_variance=find_average(norm.outputs[2], norm.name),
            epsilon=norm.get_attr("epsilon"),
        )
    return _Normalized(layer, norm, outputs, statistics, mean, variance)


def _batch_variance(graph: tf.Graph, layer: tf.Operation, norm: tf.Operation) -> tf.Tensor:
    """Returns the variance of n values a channel; the operation gives n / (n - 1) times it.

    A dilated layer has more values than the operation normalizes, by its padding. TensorFlow 1.15
    counts the layer's, and what it trained stays equal; its dilated `conv2d` it could not fold.
    """
    values = layer.outputs[0] if layer.type == "DepthwiseConv2dNative" else norm.inputs[0]
    scope = scope_of(norm.name)
    _, mean, variance, *_ = norm.outputs
    with graph.name_scope(f"{scope}/" if scope else ""):
        n = tf.cast(tf.size(values) / tf.size(mean), tf.float32)
        return tf.multiply(variance, (n - 1.0) / n, name="Undo_Bessel_Correction")


@tf.RegisterGradient(_GRADIENT)
def _gradient(op: tf.Operation, *gradients: Any) -> list[Any]:
    """The gradient through the batch's mean and variance, which TensorFlow's own leaves out."""
    _, of_mean, of_variance, *_ = gradients
    x, mean = op.inputs[0], op.outputs[1]
    n = tf.cast(tf.size(x) / tf.size(of_mean), tf.float32)
    through_variance = 2.0 * of_variance * (x - mean) / (n - 1.0)
    return [of_mean / n + through_variance, None, None, None, None]
