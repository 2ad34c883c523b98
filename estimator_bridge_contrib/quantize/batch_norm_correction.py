"""Corrections that let weights be quantized by the moving statistics of a batch norm.

A folded layer's weights are multiplied by ``gamma / sigma``. The batch's ``sigma`` changes with
each batch, and the range of the weights with it. So the weights are multiplied by the moving
average's, and the outputs are corrected to what the batch's statistics give (Krishnamoorthi 2018,
https://arxiv.org/abs/1806.08342, section 3.2.2). Once the batch norm is frozen, the outputs are
those of the moving averages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.utils import smart_cond
from estimator_bridge_contrib.quantize.common import CreateOrGetQuantizationStep, RerouteTensor

__all__ = ["Average", "Correction", "Statistics", "correct", "find_average"]


@dataclass(frozen=True)
class Average:
    """The update ``average -= (average - value) * rate`` of a moving average.

    Attributes:
      value: the average before the update.
      rate: the rate, which freezing replaces by 0.
    """

    value: tf.Tensor
    rate: tf.Tensor


@dataclass(frozen=True)
class Statistics:
    """The statistics of a batch norm in training, for each channel.

    Attributes:
      gamma: the scale.
      mean: the batch's mean.
      variance: the batch's variance, divided by the number of values and not by one less.
      moving_mean: the moving average of the mean.
      moving_variance: the moving average of the variance.
      epsilon: what is added to variances.
    """

    gamma: tf.Tensor
    mean: tf.Tensor
    variance: tf.Tensor
    moving_mean: Average
    moving_variance: Average
    epsilon: Any


@dataclass(frozen=True)
class Correction:
    """Corrections, each with a value for each channel.

    Attributes:
      scale: a factor of the weights.
      recip: a factor of the outputs.
      offset: what is added to them after that.
    """

    scale: tf.Tensor
    recip: tf.Tensor
    offset: tf.Tensor


def find_average(value: tf.Tensor, name: str) -> Average:
    """Finds the update of a batch norm's moving average.

    Args:
      value: the batch's statistic.
      name: the batch norm, for the error.

    Raises:
      TypeError: there is no such update.
    """
    for difference in reversed(value.consumers()):
        if difference.type == "Sub" and difference.inputs[1] is value:
            for step in reversed(difference.outputs[0].consumers()):
                if step.type == "Mul" and step.inputs[0] is difference.outputs[0]:
                    return Average(difference.inputs[0], step.inputs[1])
    raise TypeError(
        f"The batch norm {name} is in training, but no update of its moving averages was found. "
        "Use a batch norm layer that keeps them, such as tf.layers.batch_normalization, or call "
        "tf.contrib.quantize.create_eval_graph on a graph for evaluation."
    )


def correct(statistics: Statistics, prefix: str, freeze_delay: int | None) -> Correction:
    """Makes the corrections of a batch norm, and lets it freeze.

    Args:
      statistics: those of the batch norm.
      prefix: what the name scope has before "batch_norm_correction".
      freeze_delay: the number of steps after which the moving averages stay as they are and are
        used instead of the batch's statistics; None for never.

    Returns:
      The corrections.
    """
    graph = tf.compat.v1.get_default_graph()
    mean, variance = statistics.moving_mean, statistics.moving_variance
    with graph.name_scope(f"{prefix}batch_norm_correction"):
        moving_factor = tf.math.rsqrt(variance.value + statistics.epsilon)
        factor = tf.math.rsqrt(statistics.variance + statistics.epsilon)
        scale = tf.divide(moving_factor, factor, name="scale_compute")
        scale = tf.identity(scale, name="correction_scale")
        recip = tf.math.reciprocal(scale, name="reciprocal_compute")
        difference = statistics.mean * factor - mean.value * moving_factor
        offset = tf.multiply(statistics.gamma, difference, name="offset_compute")
        is_frozen: Any = False
        if freeze_delay is not None:
            is_frozen = tf.greater_equal(
                CreateOrGetQuantizationStep(), freeze_delay, name="use_moving_average"
            )
        _freeze(mean.rate, is_frozen, "freeze_moving_mean")
        _freeze(variance.rate, is_frozen, "freeze_moving_var")
        return Correction(
            scale,
            smart_cond(
                is_frozen, lambda: tf.ones(scale.shape), lambda: recip, name="correction_recip"
            ),
            smart_cond(
                is_frozen, lambda: offset, lambda: tf.zeros(offset.shape), name="correction_offset"
            ),
        )


def _freeze(rate: tf.Tensor, is_frozen: Any, name: str) -> None:
    if is_frozen is False:
        return
    consumers = list(rate.consumers())
    rate_now = smart_cond(is_frozen, lambda: tf.zeros([], rate.dtype), lambda: rate, name=name)
    RerouteTensor(rate_now, rate, can_modify=consumers)
