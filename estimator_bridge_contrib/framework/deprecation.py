"""Marks a program's own functions and arguments as deprecated."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["deprecated", "deprecated_arg_values", "deprecated_args"]

_MISSING = object()


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable:
    """Makes a decorator of functions that logs a warning when they are called.

    Args:
      date: the date of the function's removal, as "2018-05-01"; None if it is not set.
      instructions: what to use instead.
      warn_once: whether to warn on the first call only.

    Returns:
      The decorator.

    Raises:
      ValueError: the date is not written as above, or there are no instructions.
    """
    _check(date, instructions)

    def decorate(function: Callable) -> Callable:
        warn = _Warning(date, instructions, warn_once)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            warn(f"{_name(function)} is deprecated")
            return function(*args, **kwargs)

        return wrapped

    return decorate


def deprecated_args(
    date: str | None, instructions: str, *names: str | tuple[str, Any], warn_once: bool = True
) -> Callable:
    """Makes a decorator that logs a warning when some of a function's arguments are given.

    Args:
      date: see ``deprecated``.
      instructions: see ``deprecated``.
      *names: the names of arguments, or pairs of a name and a value that causes no warning.
      warn_once: whether to warn on the first such call only.

    Returns:
      The decorator, which raises a ValueError for a function that has no such argument.

    Raises:
      ValueError: as for ``deprecated``.
    """
    _check(date, instructions)
    silent = dict((name, _MISSING) if isinstance(name, str) else name for name in names)

    def is_told(name: str, value: Any) -> bool:
        return name in silent and not _is(value, silent[name])

    return _of_arguments(date, instructions, silent, is_told, warn_once, "{} is deprecated")


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **values: Any
) -> Callable:
    """Makes a decorator that logs a warning when arguments are given certain values.

    Args:
      date: see ``deprecated``.
      instructions: see ``deprecated``.
      warn_once: whether to warn on the first such call only.
      **values: the values by argument name.

    Returns:
      The decorator, which raises a ValueError for a function that has no such argument.

    Raises:
      ValueError: as for ``deprecated``.
    """
    _check(date, instructions)

    def is_told(name: str, value: Any) -> bool:
        return name in values and _is(value, values[name])

    return _of_arguments(date, instructions, values, is_told, warn_once, "{}={!r} is deprecated")


def _check(date: str | None, instructions: str) -> None:
    if date is not None and not re.fullmatch(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be YYYY-MM-DD, got {date!r}.")
    if not instructions:
        raise ValueError(
            "Don't deprecate things without conversion instructions! Say what to use instead."
        )


def _of_arguments(
    date: str | None,
    instructions: str,
    names: Any,
    should_warn: Callable[[str, Any], bool],
    warn_once: bool,
    template: str,
) -> Callable:
    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)
        kinds = {p.kind for p in signature.parameters.values()}
        unknown = [name for name in names if name not in signature.parameters]
        if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
            raise ValueError(
                f"{_name(function)} has no argument {', '.join(unknown)} to be deprecated; it has "
                f"{', '.join(signature.parameters)}."
            )
        warn = _Warning(date, instructions, warn_once)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            try:
                arguments = signature.bind_partial(*args, **kwargs).arguments
            except TypeError:  # the call itself raises a clearer error
                arguments = {}
            for name, value in {**arguments, **kwargs}.items():
                if should_warn(name, value):
                    warn(f"calling {_name(function)} with {template.format(name, value)}")
            return function(*args, **kwargs)

        return wrapped

    return decorate


class _Warning:
    """The warning of one decorated function, and whether it has been logged."""

    def __init__(self, date: str | None, instructions: str, once: bool):
        if not instructions:
            raise ValueError("Don't deprecate things without conversion instructions!")
        when = f"after {date}" if date else "in a future version"
        self._rest = f"and will be removed {when}. Instructions for updating: {instructions}"
        self._once, self._messages = once, set[str]()

    def __call__(self, what: str) -> None:
        if not (self._once and what in self._messages):
            self._messages.add(what)
            tf.compat.v1.logging.warning("From this program: %s %s", what, self._rest)


def _is(value: Any, other: Any) -> bool:
    """Returns whether two values are the same; tensors and arrays are compared by identity."""
    if value is other:
        return True
    return isinstance(value, (bool, int, float, str)) and value == other


def _name(function: Callable) -> str:
    return f"{function.__module__}.{function.__qualname__}"
