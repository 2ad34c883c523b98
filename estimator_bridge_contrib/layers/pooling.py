"""Pooling: the maximum or mean of neighboring positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.arg_scope import add_arg_scope
from estimator_bridge_contrib.layers.utils import (
    channels_first,
    collect_named_outputs,
    n_positive_integers,
)

__all__ = ["avg_pool2d", "avg_pool3d", "max_pool2d", "max_pool3d", "pool"]

v1 = tf.compat.v1


def _pool(
    kind: str, dims: int, operation: Callable[..., tf.Tensor], formats: tuple[str, str]
) -> Callable[..., tf.Tensor]:
    name = f"{kind}_pool{dims}d"
    scope_name = f"{kind.title()}Pool{dims}D"

    def layer(
        inputs: Any,
        kernel_size: Any,
        stride: Any = 2,
        padding: str = "VALID",
        data_format: str = formats[1],
        outputs_collections: Any = None,
        scope: str | None = None,
    ) -> tf.Tensor:
        first = channels_first(data_format, formats)
        with v1.name_scope(scope, scope_name, [inputs]) as sc:

            def sizes(value: Any) -> list[int]:
                each = n_positive_integers(dims, value)
                return [1, 1, *each] if first and dims == 2 else [1, *each, 1]

            inputs = tf.convert_to_tensor(inputs)
            # CPUs do not pool in three dimensions with channels first.
            is_transposed = first and dims == 3
            outputs = operation(
                tf.transpose(inputs, [0, 2, 3, 4, 1]) if is_transposed else inputs,
                sizes(kernel_size),
                sizes(stride),
                padding.upper(),
                data_format=formats[1] if is_transposed else data_format,
                name=scope_name if dims == 3 else f"{kind.title()}Pool",
            )
            outputs = tf.transpose(outputs, [0, 4, 1, 2, 3]) if is_transposed else outputs
            return collect_named_outputs(outputs_collections, sc, outputs)

    layer.__name__ = layer.__qualname__ = name
    layer.__doc__ = _DOC.format({"max": "maximum", "avg": "mean"}[kind], formats[1], formats[0])
    return add_arg_scope(layer)


_DOC = """Takes the {} of each window of positions.

    Args:
      inputs: a tensor [batch, *positions, channels], or with channels second.
      kernel_size: the window's size; an int, or one per dimension.
      stride: the step between windows; an int, or one per dimension.
      padding: 'VALID' or 'SAME'.
      data_format: '{}' or '{}'.
      outputs_collections: collections to add the outputs to.
      scope: the name scope.

    Returns:
      A tensor in the same format, with fewer positions.
    """

avg_pool2d = _pool("avg", 2, tf.nn.avg_pool2d, ("NCHW", "NHWC"))
avg_pool3d = _pool("avg", 3, tf.nn.avg_pool3d, ("NCDHW", "NDHWC"))
max_pool2d = _pool("max", 2, tf.nn.max_pool2d, ("NCHW", "NHWC"))
max_pool3d = _pool("max", 3, tf.nn.max_pool3d, ("NCDHW", "NDHWC"))


@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> tf.Tensor:
    """Pools in one to three dimensions.

    Args:
      inputs: a tensor [batch, *positions, channels], or with channels second.
      kernel_size: the window's size; an int, or one per dimension.
      pooling_type: 'AVG' or 'MAX'.
      padding: 'VALID' or 'SAME'.
      data_format: such as 'NHWC', the default for images, or 'NCHW'.
      dilation_rate: the step within a window; an int, or one per dimension.
      stride: the step between windows; an int, or one per dimension.
      outputs_collections: collections to add the outputs to.
      scope: the name scope; ``avg_pool`` or ``max_pool`` by default.

    Returns:
      A tensor in the same format.

    Raises:
      ValueError: the inputs' rank is unknown or less than 3.
    """
    with v1.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank is None:
            raise ValueError("Rank of inputs must be known")
        if inputs.shape.rank < 3:
            raise ValueError(f"Rank of inputs must be >= 3, got {inputs.shape}")
        dims = inputs.shape.rank - 2
        outputs = tf.nn.pool(
            inputs,
            window_shape=n_positive_integers(dims, kernel_size),
            pooling_type=pooling_type,
            strides=n_positive_integers(dims, stride),
            padding=padding,
            data_format=data_format,
            dilations=n_positive_integers(dims, dilation_rate),
            name=sc,
        )
        return collect_named_outputs(outputs_collections, sc, outputs)
