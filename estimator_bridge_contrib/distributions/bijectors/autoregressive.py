"""Bijectors in which each element is moved and scaled by numbers that the earlier ones give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import Bijector

__all__ = ["MaskedAutoregressiveFlow", "masked_autoregressive_default_template", "masked_dense"]

_v1 = tf.compat.v1
_NO_SIZE = "Rightmost dimension must be known prior to graph execution."


class MaskedAutoregressiveFlow(Bijector):
    """``y = x * exp(log_scale) + shift``, where both are functions of the earlier elements of y.

    Args:
      shift_and_log_scale_fn: gives the shift and the logarithm of the scale for a y; each may be
        None. An element of them depends on earlier elements of y only, which is not checked.
      is_constant_jacobian: whether the scale does not depend on y.
      validate_args: accepted, and without effect.
      unroll_loop: whether ``forward`` repeats its operations in the graph, where it has a loop by
        default.
      name: the operations' name.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[..., Any],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        """Returns a y that is right in one element more than the given one."""
        shift, log_scale = self._shift_and_log_scale_fn(y)
        if log_scale is not None:
            x = x * tf.exp(log_scale)
        return x if shift is None else x + shift

    def _forward(self, x: tf.Tensor) -> tf.Tensor:
        size = tf.compat.dimension_value(x.shape.with_rank_at_least(1)[-1])
        y = tf.zeros_like(x, name="y0")
        if self._unroll_loop:
            if size is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if "
                    f"`unroll_loop=True`. `x.shape: {x.shape!r}`"
                )
            for _ in range(size):
                y = self._step(x, y)
            return y
        self._shift_and_log_scale_fn(y)  # its variables are made outside of the loop

        def body(index: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            with _v1.variable_scope(_v1.get_variable_scope()) as scope:
                if scope.caching_device is None and not tf.executing_eagerly():
                    scope.set_caching_device(lambda operation: operation.device)
                return index + 1, self._step(x, y)

        count = tf.shape(x)[-1]
        return _v1.while_loop(
            lambda index, _: index < count, body, (0, y), maximum_iterations=size
        )[1]

    def _inverse(self, y: tf.Tensor) -> tf.Tensor:
        shift, log_scale = self._shift_and_log_scale_fn(y)
        x = y if shift is None else y - shift
        return x if log_scale is None else x * tf.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y: tf.Tensor) -> tf.Tensor:
        log_scale = self._shift_and_log_scale_fn(y)[1]
        if log_scale is None:
            return tf.constant(0.0, dtype=y.dtype, name="ildj")
        return -tf.reduce_sum(log_scale, axis=-1)


def masked_dense(
    inputs: tf.Tensor,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: bool | None = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> tf.Tensor:
    """Applies a dense layer in which a block of outputs depends on the earlier blocks of inputs.

    Args:
      inputs: a tensor of shape [..., size], whose size is known.
      units: the number of outputs.
      num_blocks: the number of blocks that the inputs, and the outputs, are parted into.
      exclusive: whether an output does not depend on the inputs of its own block.
      kernel_initializer: the kernel's initializer, before the mask; Glorot's normal by default.
      reuse: whether the variables are there already.
      name: the layer's name.
      *args: further arguments of the layer, from its activation on.
      **kwargs: the same, by name.

    Returns:
      A tensor of shape [..., units].

    Raises:
      NotImplementedError: the inputs' size is not known.
    """
    size = tf.compat.dimension_value(inputs.shape.with_rank_at_least(1)[-1])
    if size is None:
        raise NotImplementedError(_NO_SIZE)
    mask = _mask(num_blocks, size, units, exclusive)
    initializer = kernel_initializer or _v1.glorot_normal_initializer()

    def masked(shape: Any, dtype: Any = None, partition_info: Any = None) -> tf.Tensor:
        return mask * initializer(shape, dtype, partition_info)

    with _v1.name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = _v1.layers.Dense(
            units,
            *args,
            kernel_initializer=masked,
            kernel_constraint=lambda kernel: mask * kernel,
            name=name,
            dtype=inputs.dtype,
            _scope=name,
            _reuse=reuse,
            **kwargs,
        )
        return layer.apply(inputs)


def _mask(blocks: Any, inputs: int, units: int, exclusive: bool) -> np.ndarray:
    """Returns a matrix of shape [inputs, units], with 1 where an output depends on an input."""
    mask = np.zeros([inputs, units], np.float32)
    width, height = inputs // blocks, units // blocks
    for block in range(blocks):
        first = (block + 1 if exclusive else block) * height
        mask[block * width : (block + 1) * width, first:] = 1
    return mask


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int],
    shift_only: bool = False,
    activation: Callable[..., Any] | None = tf.nn.relu,
    log_scale_min_clip: Any = -5.0,
    log_scale_max_clip: Any = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Callable[..., Any]:
    """Makes a network for ``MaskedAutoregressiveFlow``, of masked dense layers.

    Args:
      hidden_layers: the number of units of each hidden layer.
      shift_only: whether the logarithm of the scale is None.
      activation: the hidden layers' activation.
      log_scale_min_clip: the least logarithm of the scale.
      log_scale_max_clip: the greatest.
      log_scale_clip_gradient: whether a logarithm outside of these has no gradient.
      name: the name of the template, and of the variables' scope.
      *args: further arguments of ``masked_dense``.
      **kwargs: the same, by name.

    Returns:
      A function of a tensor of shape [..., size] that gives the shift and the logarithm of the
      scale, both of that shape. It makes its variables at the first call. It raises a
      NotImplementedError if the size is not known.
    """
    name = name or "masked_autoregressive_default_template"
    layer: Callable[..., tf.Tensor] = masked_dense

    def network(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
        size = tf.compat.dimension_value(x.shape.with_rank_at_least(1)[-1])
        if size is None:
            raise NotImplementedError(_NO_SIZE)
        shape = np.int32(x.shape.as_list()) if x.shape.is_fully_defined() else tf.shape(x)
        for i, units in enumerate(hidden_layers):
            x = layer(
                *args,
                inputs=x,
                units=units,
                num_blocks=size,
                exclusive=i == 0,
                activation=activation,
                **kwargs,
            )
        outputs = size if shift_only else 2 * size
        x = layer(*args, inputs=x, units=outputs, num_blocks=size, activation=None, **kwargs)
        if shift_only:
            return tf.reshape(x, shape), None
        shift, log_scale = tf.unstack(tf.reshape(x, tf.concat([shape, [2]], 0)), num=2, axis=-1)
        clip = tf.clip_by_value if log_scale_clip_gradient else _clip_with_gradient
        return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

    with _v1.name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):
        return _v1.make_template(name, network)


def _clip_with_gradient(x: tf.Tensor, low: Any, high: Any) -> tf.Tensor:
    """Clips x, and passes its gradient on unchanged."""
    with _v1.name_scope("clip_by_value_preserve_grad", values=[x, low, high]):
        return x + tf.stop_gradient(tf.clip_by_value(x, low, high) - x)
