"""Fake quantization: values are rounded to what a few bits hold, in ranges that are learned.

The ranges are in two variables, ``min`` and ``max``, in the variable scope of the layer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["FixedQuantize", "LastValueQuantize", "MovingAvgQuantize"]

v1 = tf.compat.v1
_MEAN = tf.VariableAggregation.MEAN
# How each end of a range is assigned to its variable.
_Assign = dict[str, Callable[[Any, tf.Tensor], Any]]
# The axes over which each channel's range is taken, by the rank of the inputs.
_AXES: dict[int, list[int]] = {1: [], 2: [0], 4: [0, 1, 2]}


def FixedQuantize(
    inputs: tf.Tensor, init_min: float = -6.0, init_max: float = 6.0, scope: str | None = None
) -> tf.Tensor:
    """Quantizes in a fixed range, to 8 bits.

    Args:
      inputs: the values.
      init_min: the lower end of the range.
      init_max: the upper end of the range.
      scope: the name scope; "FixedQuantize" by default.

    Returns:
      The quantized values, as floats of the inputs' shape.
    """
    with v1.name_scope(scope, "FixedQuantize", values=[inputs]):
        return tf.quantization.fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def LastValueQuantize(
    inputs: tf.Tensor,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    vars_collection: str | None = None,
    name_prefix: str = "LastValueQuant",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> tf.Tensor:
    """Quantizes in the range of the inputs, which training stores in ``min`` and ``max``.

    Args:
      inputs: the values.
      per_channel: whether each element of the last dimension has its own range.
      init_min: the first value of ``min``.
      init_max: the first value of ``max``.
      vars_collection: a collection that gets both variables, besides GLOBAL_VARIABLES.
      name_prefix: the variable scope, which gets a number if it is taken.
      reuse: as in ``tf.variable_scope``.
      is_training: whether the range is taken from the inputs, or from the variables.
      num_bits: the number of bits, 2 to 8.
      narrow_range: whether the lowest of the ``2 ** num_bits`` values is left out.
      symmetric: whether the range is symmetric about zero.

    Returns:
      The quantized values, as floats of the inputs' shape. In training, computing them assigns
      the variables.

    Raises:
      AssertionError: per_channel, and the inputs have not 1, 2 or 4 dimensions.
    """
    assign: _Assign = {
        "min": functools.partial(v1.assign, name="AssignMinLast"),
        "max": functools.partial(v1.assign, name="AssignMaxLast"),
    }
    return _quantize(
        inputs, per_channel, {"min": init_min, "max": init_max}, vars_collection, name_prefix,
        reuse, assign if is_training else None, num_bits, narrow_range, symmetric,
    )  # fmt: skip


def MovingAvgQuantize(
    inputs: tf.Tensor,
    per_channel: bool = False,
    init_min: float = -6.0,
    init_max: float = 6.0,
    ema_decay: float = 0.999,
    vars_collection: str | None = v1.GraphKeys.MOVING_AVERAGE_VARIABLES,
    name_prefix: str = "MovingAvgQuantize",
    reuse: Any = None,
    is_training: bool = True,
    num_bits: int = 8,
    narrow_range: bool = False,
    symmetric: bool = False,
) -> tf.Tensor:
    """Quantizes in a range that is the exponential moving average of the inputs' ranges.

    The average has no bias towards its start (Kingma & Ba 2015, https://arxiv.org/abs/1412.6980,
    section 3): after the first step it is that step's range.

    Args:
      inputs: the values.
      per_channel: whether each element of the last dimension has its own range.
      init_min: the first value of ``min``.
      init_max: the first value of ``max``.
      ema_decay: the decay of the average.
      vars_collection: a collection that gets both variables, besides GLOBAL_VARIABLES.
      name_prefix: the variable scope, which gets a number if it is taken.
      reuse: as in ``tf.variable_scope``.
      is_training: whether the average is updated before it is used.
      num_bits: the number of bits, 2 to 8.
      narrow_range: whether the lowest of the ``2 ** num_bits`` values is left out.
      symmetric: whether the range is symmetric about zero.

    Returns:
      The quantized values, as floats of the inputs' shape. In training, computing them assigns
      the variables.

    Raises:
      AssertionError: per_channel, and the inputs have not 1, 2 or 4 dimensions.
    """
    assign: _Assign = {
        "min": functools.partial(_assign_average, decay=ema_decay, name="AssignMinEma"),
        "max": functools.partial(_assign_average, decay=ema_decay, name="AssignMaxEma"),
    }
    return _quantize(
        inputs, per_channel, {"min": init_min, "max": init_max}, vars_collection, name_prefix,
        reuse, assign if is_training else None, num_bits, narrow_range, symmetric,
    )  # fmt: skip


def _quantize(
    inputs: tf.Tensor,
    per_channel: bool,
    starts: dict[str, float],
    collection: str | None,
    name_prefix: str,
    reuse: Any,
    assign: _Assign | None,
    num_bits: int,
    narrow_range: bool,
    symmetric: bool,
) -> tf.Tensor:
    """Makes the variables, assigns them if ``assign`` tells how, and quantizes in their range."""
    with v1.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        shape, axes = [], None
        if per_channel:
            rank = inputs.shape.rank
            if rank not in _AXES:
                raise AssertionError(
                    f"Expected 1D, 2D or 4D input, was: {inputs.shape} in scope: {name_prefix}"
                )
            shape, axes = [inputs.shape[-1]], _AXES[rank]
        ends = [_range_variable(name, shape, start, collection) for name, start in starts.items()]
        if assign is not None:
            compute_range = _symmetric if symmetric else _with_zero
            values = compute_range(*_extremes(inputs, axes), num_bits, narrow_range)
            ends = [how(end, value) for how, end, value in zip(assign.values(), ends, values)]
        fake = (
            tf.quantization.fake_quant_with_min_max_vars_per_channel
            if per_channel
            else tf.quantization.fake_quant_with_min_max_vars
        )
        return fake(inputs, *ends, num_bits=num_bits, narrow_range=narrow_range)


def _range_variable(name: str, shape: Any, start: float, collection: str | None) -> Any:
    added = [collection] if collection else []
    return v1.get_variable(
        name,
        shape=shape,
        initializer=v1.constant_initializer(start),
        collections=[*added, v1.GraphKeys.GLOBAL_VARIABLES],
        trainable=False,
        aggregation=_MEAN,
    )


def _extremes(inputs: tf.Tensor, axes: list[int] | None) -> tuple[tf.Tensor, tf.Tensor]:
    if axes == []:
        return inputs, inputs
    return (
        tf.reduce_min(inputs, axis=axes, name="BatchMin"),
        tf.reduce_max(inputs, axis=axes, name="BatchMax"),
    )


def _with_zero(
    low: tf.Tensor, high: tf.Tensor, num_bits: int, narrow_range: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Extends a range to zero, because TFLite's quantized numbers include it."""
    del num_bits, narrow_range
    return tf.minimum(low, 0.0), tf.maximum(high, 0.0)


def _symmetric(
    low: tf.Tensor, high: tf.Tensor, num_bits: int, narrow_range: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Extends a range to be symmetric, as far as integers in two's complement are."""
    values = 1 << num_bits
    ratio = -1.0 if narrow_range else -(values - 2) / values
    return tf.minimum(low, high / ratio), tf.maximum(high, low * ratio)


def _assign_average(variable: Any, value: tf.Tensor, decay: float, name: str) -> Any:
    """Moves an unbiased average towards a value.

    The state is in two more variables, ``biased`` and ``local_step``, whose names have the
    variable's own name a second time, as in checkpoints of TensorFlow 1.
    """
    with v1.name_scope(name, values=[variable, value]) as scope:
        rate = tf.convert_to_tensor(1.0 - decay, name="decay")
        with v1.variable_scope(variable.op.name, values=[variable, value]):
            biased = _average_state("biased", variable.shape)
            steps = _average_state("local_step", [])
        new_biased = v1.assign_sub(biased, (tf.convert_to_tensor(biased) - value) * rate)
        new_steps = v1.assign_add(steps, 1.0)
        weight_sum = 1.0 - tf.pow(1.0 - rate, tf.convert_to_tensor(new_steps))
        return v1.assign(variable, tf.convert_to_tensor(new_biased) / weight_sum, name=scope)


def _average_state(name: str, shape: Any) -> Any:
    return v1.get_variable(
        name,
        shape=shape,
        initializer=v1.zeros_initializer(),
        trainable=False,
        aggregation=_MEAN,
    )
