"""Inspects the arguments that a user's function takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Callable

__all__ = ["binding_error", "describe_fn", "fn_args"]


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """Returns the names of the arguments that `fn` still takes by name.

    Left out are a bound method's ``self``, arguments that a ``functools.partial`` has set,
    ``*args`` and ``**kwargs``.

    Args:
      fn: a function, method, partial, or object with ``__call__``.

    Returns:
      The names, in the order of the signature.

    Raises:
      TypeError: `fn` is not callable.
    """
    bound_names = set(fn.keywords) if isinstance(fn, functools.partial) else set()
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(fn).parameters.values()
    return tuple(p.name for p in parameters if p.kind not in variadic and p.name not in bound_names)


def binding_error(
    fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> str | None:
    """Returns why `fn` cannot be called with these arguments, without calling it.

    Args:
      fn: any callable.
      args: positional arguments.
      kwargs: keyword arguments.

    Returns:
      Python's reason, such as "missing a required argument: 'labels'"; None if the call would
      bind, or if `fn` (one written in C) has no signature.
    """
    try:
        signature = inspect.signature(fn)
    except ValueError:
        return None
    try:
        signature.bind(*args, **(kwargs or {}))
    except TypeError as error:
        return str(error)
    return None


def describe_fn(fn: Callable[..., Any]) -> str:
    """Formats `fn` with its arguments, such as "metric_fn(labels, logits)", for error messages."""
    inner = fn
    while isinstance(inner, functools.partial):
        inner = inner.func
    name = getattr(inner, "__qualname__", type(inner).__qualname__).split("<locals>.")[-1]
    try:
        return f"{name}{inspect.signature(fn)}"
    except ValueError:
        return f"{name}(...)"
