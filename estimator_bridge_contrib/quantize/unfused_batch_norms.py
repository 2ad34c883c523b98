"""Folds the batch norms that tf.contrib.layers computes with separate operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.quantize.batch_norm_correction import (
    Statistics,
    correct,
    find_average,
)
from estimator_bridge_contrib.quantize.common import (
    BatchNormGroups,
    GetEndpointActivationOp,
    RerouteTensor,
    scope_of,
)
from estimator_bridge_contrib.quantize.input_to_ops import InputToOps
from estimator_bridge_contrib.quantize.layer_copies import LINEAR_TYPES, LinearLayer, copy_layer

__all__ = ["fold_unfused"]


@dataclass(frozen=True)
class _BatchNorm:
    """The operations of ``x * factor + (beta - mean * factor)``, ``factor = rsqrt * gamma``.

    Attributes:
      rsqrt: one over the root of the variance and epsilon.
      gamma: the scale; None if there is none.
      scaled: the product of x and the factor.
      shift: the product of the mean and the factor.
      sum: the outputs.
    """

    rsqrt: tf.Operation
    gamma: tf.Tensor | None
    scaled: tf.Operation
    shift: tf.Operation
    sum: tf.Operation

    @property
    def mean(self) -> tf.Tensor:
        """The mean that normalizes."""
        return _behind_identity(self.shift.inputs[0])

    @property
    def variance(self) -> tf.Tensor:
        """The variance that normalizes."""
        return _behind_identity(self.rsqrt.inputs[0].op.inputs[0])

    @property
    def epsilon(self) -> tf.Tensor:
        """The number that is added to the variance."""
        return self.rsqrt.inputs[0].op.inputs[1]


def fold_unfused(graph: tf.Graph, is_training: bool, freeze_delay: int | None) -> None:
    """Folds the unfused batch norms of a graph; see ``FoldBatchNorms``."""
    consumers = InputToOps(graph)
    with graph.as_default():
        for prefix in BatchNormGroups(graph):
            norm = _read(graph, consumers, prefix)
            if norm.sum.outputs[0].consumers():
                folded = _fold(graph, norm, prefix, is_training, freeze_delay)
                _use(graph, prefix, folded, norm.sum.outputs[0])


def _read(graph: tf.Graph, consumers: InputToOps, prefix: str) -> _BatchNorm:
    def op(name: str) -> tf.Operation:
        return graph.get_operation_by_name(f"{prefix}BatchNorm/batchnorm_1/{name}")

    rsqrt = op("Rsqrt")
    products = [each for each in consumers.ConsumerOperations(rsqrt) if each.type == "Mul"]
    if len(products) == 1:  # with gamma
        return _BatchNorm(rsqrt, op("mul").inputs[1], op("mul_1"), op("mul_2"), op("add_1"))
    return _BatchNorm(rsqrt, None, op("mul"), op("mul_1"), op("add_1"))


def _fold(
    graph: tf.Graph,
    norm: _BatchNorm,
    prefix: str,
    is_training: bool,
    freeze_delay: int | None,
) -> tf.Tensor:
    layer = _layer_before(norm)
    correction = None
    if is_training and _is_averaged(norm.mean):
        correction = correct(_statistics(norm, prefix), prefix, freeze_delay)
    factor, weights = norm.scaled.inputs[1], layer.weights
    if layer.is_depthwise:
        factor = layer.of_channels(factor, f"{prefix}scale_reshape")
    with graph.device(norm.scaled.device):
        if correction is not None:
            scale = layer.of_channels(correction.scale, f"{prefix}correction_reshape")
            weights = tf.multiply(scale, weights, name=f"{prefix}correction_mult")
        weights = tf.multiply(weights, factor, name=f"{prefix}mul_fold")
    with graph.device(layer.op.device):
        outputs = copy_layer(layer, weights, lambda op: op.name)
        if correction is not None:
            outputs = tf.multiply(correction.recip, outputs, name=f"{prefix}post_conv_mul")
            outputs = tf.raw_ops.Add(x=outputs, y=correction.offset, name=f"{prefix}correction_add")
    return tf.raw_ops.Add(x=outputs, y=norm.sum.inputs[1], name=f"{prefix}add_fold")


def _layer_before(norm: _BatchNorm) -> LinearLayer:
    op, spread = norm.scaled.inputs[0].op, None
    if op.type == "BatchToSpaceND":
        op, spread = op.inputs[0].op, op
    if op.type not in LINEAR_TYPES:
        raise ValueError(
            f"Cannot handle operation of type: {op.type}, of {op.name}. A batch norm can be folded "
            f"into {', '.join(LINEAR_TYPES)}."
        )
    return LinearLayer(op, spread)


def _statistics(norm: _BatchNorm, prefix: str) -> Statistics:
    name = f"{prefix}BatchNorm"
    mean = find_average(norm.mean, name)
    return Statistics(
        gamma=tf.ones(mean.value.shape) if norm.gamma is None else norm.gamma,
        mean=norm.mean,
        variance=norm.variance,
        moving_mean=mean,
        moving_variance=find_average(norm.variance, name),
        epsilon=norm.epsilon,
    )


def _is_averaged(mean: tf.Tensor) -> bool:
    """Returns whether a mean is the batch's: it is computed, not read from a variable."""
    return mean.op.type not in ("ReadVariableOp", "Identity", "VariableV2", "Variable")


def _behind_identity(tensor: tf.Tensor) -> tf.Tensor:
    """Returns the input of an identity that waits for the updates of the moving averages."""
    while tensor.op.type == "Identity" and tensor.op.control_inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def _use(graph: tf.Graph, prefix: str, folded: tf.Tensor, old: tf.Tensor) -> None:
    """Gives the folded outputs to the activation, or to the addition of a bypass."""
    user: Any = GetEndpointActivationOp(graph, prefix)
    if user is None:
        above = scope_of(prefix.rstrip("/")) if prefix else ""
        user = graph.get_operation_by_name(f"{above}/AddV2" if above else "AddV2")
    if RerouteTensor(folded, old, can_modify=[user]) != 1:
        raise ValueError(
            f"Unexpected inputs to op: {user.name}. It takes "
            f"{', '.join(each.name for each in user.inputs)} and not {old.name}, the outputs of "
            "the batch norm."
        )
