"""Calling a user's function with those of the offered arguments that it takes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping

__all__ = ["accepted_arguments", "call_with_accepted"]


def accepted_arguments(function: Callable) -> tuple[list[str], bool]:
    """The names of a function's arguments, and whether it takes any others (``**kwargs``).

    Partials, bound methods and callable objects are seen through; arguments that a partial has
    already bound do not count.
    """
    while isinstance(function, functools.partial) and not function.keywords and not function.args:
        function = function.func
    named, takes_any = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_any = True
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            named.append(parameter.name)
    bound = function.keywords if isinstance(function, functools.partial) else {}
    return [name for name in named if name not in bound], takes_any


def call_with_accepted(function: Callable, offered: Mapping[str, object]):
    """Calls a function by keyword with what it takes of the offered arguments."""
    named, _ = accepted_arguments(function)
    return function(**{name: value for name, value in offered.items() if name in named})
