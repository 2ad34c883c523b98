"""Normalization within each example: over layers, groups of channels, and channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.layer_variables import apply_after, layer_scope, weight
from estimator_bridge_contrib.layers.utils import channels_first

__all__ = ["group_norm", "instance_norm", "layer_norm"]

v1 = tf.compat.v1
_STARTS = {"beta": v1.zeros_initializer(), "gamma": v1.ones_initializer()}


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[Any], Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> tf.Tensor:
    """Normalizes each example by its own moments (https://arxiv.org/abs/1607.06450).

    ``gamma * (x - mean) / sqrt(variance + 1e-12) + beta``; for float16 the constant is 1e-3.

    Args:
      inputs: a tensor [batch, ...] of known rank.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      activation_fn: a function of the outputs, or None.
      reuse: whether to reuse the variables of the given scope.
      variables_collections: collections for both variables, or a dict by variable: 'beta' and
        'gamma'.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add the variables to TRAINABLE_VARIABLES.
      begin_norm_axis: the first of the dimensions over which moments are computed; -1 for the last.
      begin_params_axis: the first of the dimensions that define the variables' shape.
      scope: the variable scope; ``LayerNorm`` with a number by default.

    Returns:
      A tensor of the inputs' shape.

    Raises:
      ValueError: an axis that the inputs do not have, an unknown rank, or unknown dimensions
        from begin_params_axis on.
    """
    with layer_scope(scope, "LayerNorm", inputs, reuse) as sc:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        start = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or start >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) "
                f"must be < rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                f"{inputs.shape}"
            )
        own = _variables(center, scale, shape, inputs, _STARTS, trainable, variables_collections)
        mean, variance = tf.nn.moments(inputs, list(range(start, rank)), keepdims=True)
        epsilon = 1e-3 if inputs.dtype.base_dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, *own, epsilon)
        outputs.set_shape(inputs.shape)
        return apply_after(outputs, sc, activation_fn, outputs_collections)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> tf.Tensor:
    """Normalizes each channel of each example (https://arxiv.org/abs/1607.08022).

    Args:
      inputs: a tensor [batch, ..., channels], or [batch, channels, ...].
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      epsilon: added to the variance.
      activation_fn: a function of the outputs, or None.
      param_initializers: initializers of 'beta' and 'gamma'.
      reuse: whether to reuse the variables of the given scope.
      variables_collections: as for ``layer_norm``.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add the variables to TRAINABLE_VARIABLES.
      data_format: 'NHWC' (channels last) or 'NCHW' (channels second).
      scope: the variable scope; ``InstanceNorm`` with a number by default.

    Returns:
      A tensor of the inputs' shape.

    Raises:
      ValueError: an unknown rank or number of channels, or another format.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channel_axis = 1 if channels_first(data_format, ("NCHW", "NHWC")) else rank - 1
    channels = inputs.shape.as_list()[channel_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {inputs.shape}.")
    starts = {**_STARTS, **(param_initializers or {})}
    with layer_scope(scope, "InstanceNorm", inputs, reuse) as sc:
        own = _variables(
            center, scale, [channels], inputs, starts, trainable, variables_collections
        )
        broadcast = [channels if axis == channel_axis else 1 for axis in range(rank)]
        own = [None if each is None else tf.reshape(each, broadcast) for each in own]
        axes = [axis for axis in range(1, rank) if axis != channel_axis]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, *own, epsilon, name="instancenorm"
        )
        return apply_after(outputs, sc, activation_fn, outputs_collections)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> tf.Tensor:
    """Normalizes groups of each example's channels (https://arxiv.org/abs/1803.08494).

    Args:
      inputs: a tensor of known rank.
      groups: the number of groups, which divides the number of channels.
      channels_axis: the dimension of the channels.
      reduction_axes: the dimensions over which moments are computed, besides a group's channels;
        they are known.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``.
      epsilon: added to the variance.
      activation_fn: a function of the outputs, or None.
      param_initializers: initializers of 'beta' and 'gamma'.
      reuse: whether to reuse the variables of the given scope.
      variables_collections: as for ``layer_norm``.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add the variables to TRAINABLE_VARIABLES.
      scope: the variable scope; ``GroupNorm`` with a number by default.
      mean_close_to_zero: whether to compute the variance in one pass, which suits a mean near 0.

    Returns:
      A tensor of the inputs' shape.

    Raises:
      ValueError: axes that the inputs do not have or that coincide, unknown dimensions, or groups
        that do not divide the channels.
    """
    inputs = tf.convert_to_tensor(inputs)
    axis, axes = _check_groups(inputs, groups, channels_axis, reduction_axes)
    channels = inputs.shape.as_list()[axis]
    static, dynamic = inputs.shape.as_list(), tf.shape(inputs)
    shape = [dynamic[i] if size is None else size for i, size in enumerate(static)]
    split = [groups, channels // groups]
    starts = {**_STARTS, **(param_initializers or {})}
    with layer_scope(scope, "GroupNorm", inputs, reuse) as sc:
        grouped = tf.reshape(inputs, [*shape[:axis], *split, *shape[axis + 1 :]])
        beta, gamma = _variables(
            center, scale, [channels], inputs, starts, trainable, variables_collections
        )
        over = [axis + 1, *(each + 1 if each > axis else each for each in axes)]
        if mean_close_to_zero:
            count, total, squares, _ = tf.nn.sufficient_statistics(grouped, over, keepdims=True)
            mean, variance = tf.nn.normalize_moments(count, total, squares, shift=None)
        else:
            mean, variance = tf.nn.moments(grouped, over, keepdims=True)
        ones = [1] * len(static)
        broadcast = [*ones[:axis], *split, *ones[axis + 1 :]]
        gain = tf.math.rsqrt(variance + epsilon)
        if gamma is not None:
            gain *= tf.reshape(gamma, broadcast)
        offset = -mean * gain
        if beta is not None:
            offset += tf.reshape(beta, broadcast)
        outputs = tf.reshape(grouped * gain + offset, shape)
        outputs.set_shape(static)
        return apply_after(outputs, sc, activation_fn, outputs_collections)


def _variables(
    center: bool,
    scale: bool,
    shape: Any,
    inputs: tf.Tensor,
    starts: Mapping[str, Any],
    trainable: bool,
    variables_collections: Any,
) -> list[Any]:
    """Makes beta and gamma, in this order; None for each that is not wanted."""
    variables = []
    for name, is_used in (("beta", center), ("gamma", scale)):
        keys = (variables_collections, name)
        dtype = inputs.dtype.base_dtype
        variables.append(
            weight(name, shape, dtype, starts[name], None, trainable, keys) if is_used else None
        )
    return [None if each is None else tf.convert_to_tensor(each) for each in variables]


def _check_groups(
    inputs: tf.Tensor, groups: int, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, list[int]]:
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    for axis in (channels_axis, *reduction_axes):
        if not -rank <= axis < rank:
            raise ValueError(f"Axis is out of bounds: {axis}, of inputs {inputs.shape}.")
    channels_axis %= rank
    axes = [axis % rank for axis in reduction_axes]
    channels = inputs.shape.as_list()[channels_axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    for axis in axes:
        if inputs.shape.as_list()[axis] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
        if axis == channels_axis:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups != 0:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    return channels_axis, axes
