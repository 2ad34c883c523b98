"""The same layer several times, one behind the other."""

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
      repetitions: how many times.
      layer: a function of inputs, with an argument ``scope``.
      *args: its arguments behind the inputs.
      **kwargs: more arguments. ``scope`` names the scope around all, and with ``_1``, ``_2``, ...
        at the end each layer's; by default these have the layer's name.

    Returns:
      The last outputs.
    """
    return _chain(inputs, layer, [args] * repetitions, "Repeat", kwargs)


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Applies a layer with one argument after the other: ``stack(x, fully_connected, [32, 16])``.

    Args:
      inputs: a tensor.
      layer: a function of inputs, with an argument ``scope``.
      stack_args: of each layer, the argument behind the inputs, or a list of them.
      **kwargs: arguments of all; ``scope`` as in ``repeat``.

    Returns:
      The last outputs.

    Raises:
      ValueError: stack_args is no list.
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
        inner = getattr(layer, "func", layer)  # a partial has its function's name
        name = scope or getattr(layer, "__name__", None) or getattr(inner, "__name__", None)
        name = name or default_name.lower()
        for number, args in enumerate(arguments, start=1):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{number}"})
        return outputs
