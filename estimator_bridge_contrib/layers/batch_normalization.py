"""Batch normalization (Ioffe & Szegedy 2015, https://arxiv.org/abs/1502.03167)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.layer_variables import apply_after, layer_scope, weight
from estimator_bridge_contrib.layers.moving_average import (
    assign_moving_average,
    moving_variables,
)
from estimator_bridge_contrib.layers.renorm import batch_renorm
from estimator_bridge_contrib.layers.utils import (
    channels_first,
    constant_value,
    smart_cond,
)

__all__ = ["batch_norm"]

v1 = tf.compat.v1
# Moves the averages to (mean, variance), and returns some values of which the update is a part.
_Updated = Callable[[tuple[Any, Any], tuple[Any, ...]], tuple[Any, ...]]
_UPDATE_OPS = v1.GraphKeys.UPDATE_OPS
_STARTS = {
    "beta": v1.zeros_initializer(),
    "gamma": v1.ones_initializer(),
    "moving_mean": v1.zeros_initializer(),
    "moving_variance": v1.ones_initializer(),
}


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Any = _UPDATE_OPS,
    is_training: Any = True,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_decay: float = 0.99,
    adjustment: Callable[..., Any] | None = None,
) -> tf.Tensor:
    """Normalizes each channel: ``gamma * (x - mean) / sqrt(variance + epsilon) + beta``.

    In training, mean and variance are those of this replica's batch, and their moving averages are
    kept in ``moving_mean`` and ``moving_variance``, which are used otherwise. The program must run
    the averages' updates: by default they are added to the collection UPDATE_OPS, and ::

        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, global_step)

    runs them. The fused kernel, used for inputs of 2 or 4 dimensions, averages the sample variance
    (``n / (n - 1)`` times the batch's); the others average the batch's.

    Args:
      inputs: a tensor [batch, ..., channels], or [batch, channels, ...], with a known number of
        channels.
      decay: the decay of the moving averages.
      center: whether to add ``beta``.
      scale: whether to multiply by ``gamma``. Not needed if a linear layer follows.
      epsilon: added to the variance.
      activation_fn: a function of the outputs, or None.
      param_initializers: initializers of 'beta', 'gamma', 'moving_mean', 'moving_variance'.
      param_regularizers: regularizers of 'beta' and 'gamma'.
      updates_collections: collections for the updates of the moving averages; None to run them
        whenever the outputs are computed.
      is_training: whether to use the batch's own moments; a bool or a tensor.
      reuse: whether to reuse the variables of the given scope.
      variables_collections: collections for all variables, or a dict by variable.
      outputs_collections: collections to add the outputs to.
      trainable: whether to add ``beta`` and ``gamma`` to TRAINABLE_VARIABLES.
      batch_weights: [batch], the weights of the examples in the batch's moments.
      fused: whether to use the fused kernel if possible; True by default.
      data_format: 'NHWC' (channels last) or 'NCHW' (channels second).
      zero_debias_moving_mean: whether to correct the moving mean's bias towards its start at zero.
      scope: the variable scope; ``BatchNorm`` with a number by default.
      renorm: whether to use batch renormalization (https://arxiv.org/abs/1702.03275).
      renorm_clipping: 'rmax', 'rmin' and 'dmax' of batch renormalization.
      renorm_decay: the decay of batch renormalization's moving averages.
      adjustment: a function of the inputs' dynamic shape, which returns a scale and a bias for
        the normalized values in training.

    Returns:
      A tensor of the inputs' shape.

    Raises:
      ValueError: an unknown rank or number of channels, an unknown format, or renorm together with
        batch_weights, updates_collections or zero_debias_moving_mean.
    """
    first = channels_first(data_format, ("NCHW", "NHWC"))
    in_update_ops = updates_collections == _UPDATE_OPS
    plain = batch_weights is None and in_update_ops and not zero_debias_moving_mean
    if renorm and not plain:
        raise ValueError(
            "renorm is not supported with batch_weights, updates_collections or "
            f"zero_debias_moving_mean; got updates_collections={updates_collections!r}, "
            f"zero_debias_moving_mean={zero_debias_moving_mean}."
        )
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channels = inputs.shape.as_list()[1 if first else -1]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {inputs.shape}.")
    starts = {**_STARTS, **(param_initializers or {})}
    penalties = param_regularizers or {}
    with layer_scope(scope, "BatchNorm", inputs, reuse) as sc:
        if plain and (renorm or adjustment is not None):
            outputs = batch_renorm(
                inputs,
                sc,
                training=is_training,
                variables_collections=variables_collections,
                axis=1 if first else -1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                **{f"{name}_initializer": start for name, start in starts.items()},
                beta_regularizer=penalties.get("beta"),
                gamma_regularizer=penalties.get("gamma"),
                trainable=trainable,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                _reuse=reuse,
            )
            return apply_after(outputs, sc, activation_fn, outputs_collections)
        can_fuse = batch_weights is None and adjustment is None and inputs.shape.rank in (2, 4)
        kernel = _fused if fused is not False and can_fuse else _unfused
        half = inputs.dtype.base_dtype in (tf.float16, tf.bfloat16)
        dtype = tf.float32 if half and (kernel is _fused or plain) else inputs.dtype.base_dtype

        def get(name: str, trainable: bool = trainable, **more: Any) -> Any:
            return weight(
                name,
                [channels],
                dtype,
                starts[name],
                penalties.get(name) if name in switches else None,
                trainable,
                (variables_collections, name),
                **more,
            )

        # Without these options the original used tf.layers, which makes gamma first.
        through_layer = plain and (kernel is _unfused or inputs.shape.rank == 4)
        in_order = ("gamma", "beta") if through_layer else ("beta", "gamma")
        switches = {"beta": center, "gamma": scale}
        own = {name: get(name) if switches[name] else None for name in in_order}
        moving = moving_variables(("moving_mean", "moving_variance"), get)

        def updated(moments: tuple[Any, Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
            """Moves the averages; returns values that wait for it if no collection keeps it."""
            if constant_value(is_training) not in (None, True, 1):
                return values
            debias = (zero_debias_moving_mean, False)
            updates = [
                assign_moving_average(average, moment, decay, is_training, forget)
                for average, moment, forget in zip(moving, moments, debias)
            ]
            if updates_collections is None:
                with tf.control_dependencies(updates):
                    return tuple(tf.identity(each) for each in values)
            for update in updates:
                v1.add_to_collections(updates_collections, update)
            return values

        outputs = kernel(
            inputs, own["beta"], own["gamma"], moving, epsilon, is_training, first, batch_weights,
            updated,
        )  # fmt: skip
        outputs.set_shape(inputs.shape)
        return apply_after(outputs, sc, activation_fn, outputs_collections)


def _fused(
    inputs: Any,
    beta: Any,
    gamma: Any,
    moving: tuple[Any, Any],
    epsilon: float,
    is_training: Any,
    first: bool,
    batch_weights: Any,
    updated: _Updated,
) -> Any:
    del batch_weights  # not supported by the kernel
    size = moving[0].shape
    images = inputs
    if inputs.shape.rank == 2:
        images = tf.reshape(inputs, [-1, size[0], 1, 1] if first else [-1, 1, 1, size[0]])
    arguments = {
        "scale": tf.ones(size) if gamma is None else tf.convert_to_tensor(gamma),
        "offset": tf.zeros(size) if beta is None else tf.convert_to_tensor(beta),
        "epsilon": epsilon,
        "data_format": "NCHW" if first else "NHWC",
    }

    def training() -> Any:
        return v1.nn.fused_batch_norm(images, **arguments)

    def inference() -> Any:
        mean, variance = (tf.convert_to_tensor(each) for each in moving)
        return v1.nn.fused_batch_norm(
            images, mean=mean, variance=variance, is_training=False, **arguments
        )

    outputs, mean, variance = smart_cond(is_training, training, inference)
    if inputs.shape.rank == 2:
        outputs = tf.reshape(outputs, tf.shape(inputs))
    (outputs,) = updated((mean, variance), (outputs,))
    return outputs


def _unfused(
    inputs: Any,
    beta: Any,
    gamma: Any,
    moving: tuple[Any, Any],
    epsilon: float,
    is_training: Any,
    first: bool,
    batch_weights: Any,
    updated: _Updated,
) -> Any:
    rank = inputs.shape.rank
    axes = [0, *range(2, rank)] if first else list(range(rank - 1))
    values = tf.cast(inputs, moving[0].dtype.base_dtype)

    def training() -> Any:
        if batch_weights is None:
            return tuple(tf.nn.moments(values, axes))
        weights = tf.convert_to_tensor(batch_weights)
        inputs.shape[:1].assert_is_compatible_with(weights.shape)
        weights = tf.reshape(weights, [-1] + [1] * (rank - 1))
        return tuple(tf.nn.weighted_moments(values, axes, weights))

    def inference() -> Any:
        return tuple(tf.convert_to_tensor(each) for each in moving)

    moments = smart_cond(is_training, training, inference)
    parts = [*updated(moments, moments), beta, gamma]
    if first and rank > 2:
        broadcast = [1, -1] + [1] * (rank - 2)
        parts = [None if each is None else tf.reshape(each, broadcast) for each in parts]
    outputs = tf.nn.batch_normalization(values, *parts, epsilon)
    return tf.cast(outputs, inputs.dtype)
