"""Applies a layer several times in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["repeat", "stack"]

v1 = tf.compat.v1


def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """Applies a layer several times with the same arguments: ``repeat(x, 3, conv2d, 64, [3, 3])``.

    Args:
      inputs: a tensor.
      repetitions: the number of applications.
      layer: a function of inputs, with an argument ``scope``.
      *args: its arguments after the inputs.
      **kwargs: more arguments. ``scope`` names the outer scope, and with the suffixes ``_1``,
        ``_2``, ... each layer's; by default the layer's name is used.

    Returns:
      The last layer's outputs.
    """
    return _chain(inputs, layer, [args] * repetitions, "Repeat", kwargs)


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Applies a layer once for each argument: ``stack(x, fully_connected, [32, 16])``.

    Args:
      inputs: a tensor.
      layer: a function of inputs, with an argument ``scope``.
      stack_args: for each layer, the argument after the inputs, or a list of arguments.
      **kwargs: arguments of all layers; ``scope`` as in ``repeat``.

    Returns:
      The last layer's outputs.

    Raises:
      ValueError: stack_args is not a list.
    """
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError(f"stack_args need to be a list or tuple, got {stack_args!r}")
    each = [args if isinstance(args, (list, tuple)) else [args] for args in stack_args]
    return _chain(inputs, layer, each, "Stack", kwargs)


def _chain(
    inputs: Any,
    layer: Callable[..., Any],
    arguments: Sequence[Sequence[Any]],
    default_name: str,
    kwargs: dict[str, Any],
) -> Any:
    scope = kwargs.pop("scope", None)
    with v1.variable_scope(scope, default_name, [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        inner = getattr(layer, "func", layer)  # the function of a partial has the name
        name = scope or getattr(layer, "__name__", None) or getattr(inner, "__name__", None)
        name = name or default_name.lower()
        for number, args in enumerate(arguments, start=1):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{number}"})
        return outputs
