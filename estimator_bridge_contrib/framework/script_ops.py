"""py_func whose arguments and results are nested structures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

__all__ = ["py_func"]


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function with NumPy arrays, when the graph runs.

    Args:
      func: the function.
      args: a list or tuple of structures of tensors.
      kwargs: a dict of structures of tensors.
      output_types: the types of the result, in its structure; or a function of the arguments that
        returns them.
      output_shapes: the shapes of the result, in the structure of output_types; or a function of
        the arguments that returns them; None if they are unknown.
      stateful: whether two calls may have different results.
      name: the operation's name.

    Returns:
      Tensors in the structure of output_types.

    Raises:
      TypeError: args is neither a list nor a tuple, or kwargs is no dict.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    arguments = (args, kwargs)

    def call(*arrays: Any) -> list[Any]:
        own_args, own_kwargs = tf.nest.pack_sequence_as(arguments, arrays)
        result = func(*own_args, **own_kwargs)
        return [part for _, part in _paired(types, result)]

    flat = tf.compat.v1.py_func(
        call, tf.nest.flatten(arguments), tf.nest.flatten(types), stateful=stateful, name=name
    )
    if shapes is not None:
        for tensor, (_, shape) in zip(flat, _paired(types, shapes)):
            tensor.set_shape(shape)
    return tf.nest.pack_sequence_as(types, flat)


def _paired(types: Any, values: Any) -> list[tuple[Any, Any]]:
    """Pairs the types with what stands in their places, which may be lists themselves."""
    if isinstance(types, dict):
        if not isinstance(values, dict) or types.keys() != values.keys():
            raise ValueError(
                f"The keys {sorted(types)} were promised by output_types; got {values}."
            )
        return [pair for key in sorted(types) for pair in _paired(types[key], values[key])]
    if isinstance(types, (list, tuple)):
        if not isinstance(values, (list, tuple)) or len(types) != len(values):
            raise ValueError(
                f"{len(types)} values were promised by output_types; got {values}. Return them in "
                "its structure."
            )
        return [pair for one, value in zip(types, values) for pair in _paired(one, value)]
    return [(types, values)]
