"""Gradient transformations between computing and applying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = [
    "add_gradients_summaries",
    "clip_gradient_norms",
    "clip_gradient_norms_fn",
    "multiply_gradients",
]

_v1 = tf.compat.v1
_Pairs = list[tuple[Any, Any]]


def add_gradients_summaries(grads_and_vars: _Pairs) -> list[tf.Tensor]:
    """Adds a histogram and the norm of each gradient to the summaries.

    Returns:
      The summaries: for each variable ``NAME_gradient`` and ``NAME_gradient_norm``.
    """
    summaries = []
    for gradient, variable in grads_and_vars:
        name = variable.op.name
        if gradient is None:
            logging.info("Var %s has no gradient", name)
            continue
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        summaries.append(_v1.summary.histogram(f"{name}_gradient", values))
        norm = tf.linalg.global_norm([values])
        summaries.append(_v1.summary.scalar(f"{name}_gradient_norm", norm))
    return summaries


def clip_gradient_norms(gradients_to_variables: _Pairs, max_norm: float) -> _Pairs:
    """Scales each gradient whose L2 norm exceeds a limit down to that norm.

    Args:
      gradients_to_variables: pairs of a gradient, or None, and a variable.
      max_norm: the limit, for each gradient separately.

    Returns:
      The pairs with the new gradients.
    """
    return [
        (_map_values(lambda g: tf.clip_by_norm(g, max_norm), gradient), variable)
        for gradient, variable in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: float) -> Callable[[_Pairs], _Pairs]:
    """Returns ``clip_gradient_norms`` as a ``transform_grads_fn`` of ``create_train_op``."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(grads_and_vars: _Pairs, gradient_multipliers: dict[Any, Any]) -> _Pairs:
    """Multiplies some gradients.

    Args:
      grads_and_vars: pairs of a gradient and a variable.
      gradient_multipliers: factors by variable, or by a variable's op name.

    Returns:
      The pairs with the new gradients.

    Raises:
      ValueError: an argument has a wrong type or is empty, or a given variable has no
        gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError(f"`grads_and_vars` must be a list, got {grads_and_vars!r}.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty. Leave multiply_gradients out.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError(f"`gradient_multipliers` must be a dict, got {gradient_multipliers!r}.")
    # Variables compare element by element in TF2, so they cannot be looked up in a dict.
    factors = {
        key if isinstance(key, str) else key.op.name: f for key, f in gradient_multipliers.items()
    }
    multiplied = []
    for gradient, variable in grads_and_vars:
        factor = factors.get(variable.op.name)
        if factor is None:
            multiplied.append((gradient, variable))
            continue
        if gradient is None:
            raise ValueError(
                f"Requested multiple of `None` gradient: the loss does not depend on "
                f"{variable.op.name}. Take it out of gradient_multipliers."
            )
        multiplied.append((_map_values(_times(factor), gradient), variable))
    return multiplied


def _times(factor: Any) -> Callable[[tf.Tensor], tf.Tensor]:
    return lambda g: g * tf.cast(factor, g.dtype)


def _map_values(function: Callable[[tf.Tensor], tf.Tensor], gradient: Any) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, tf.IndexedSlices):
        values = function(gradient.values)
        return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return function(gradient)
