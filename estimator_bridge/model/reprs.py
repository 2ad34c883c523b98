"""Reprs that show the values a user chose, and leave out defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import message, text_format  # type: ignore[import-untyped]

__all__ = ["call_repr", "changed_from_defaults"]

_LONGEST = 200  # characters per value


def call_repr(name: str, values: Mapping[str, Any]) -> str:
    """Formats a call with keyword arguments on one line.

    Args:
      name: the name of the function or class.
      values: the arguments by name; long values are cut.
    """
    return f"{name}({', '.join(f'{key}={_text_of(value)}' for key, value in values.items())})"


def changed_from_defaults(
    function: Callable[..., Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the values that differ from the function's parameter defaults.

    Args:
      function: the function with the defaults.
      values: values by parameter name.
    """
    parameters = inspect.signature(function).parameters
    return {
        name: value
        for name, value in values.items()
        if name not in parameters or not _is(value, parameters[name].default)
    }


def _is(value: Any, default: Any) -> bool:
    # Other types, such as arrays, may compare element by element.
    plain = (bool, int, float, str, type(None))
    if isinstance(value, plain) and isinstance(default, plain):
        return value == default and isinstance(value, bool) == isinstance(default, bool)
    return value is default


def _text_of(value: Any) -> str:
    representation: Any = type(value).__repr__  # of any type, and so may be that of object
    if isinstance(value, message.Message):
        text = f"{type(value).__name__}({text_format.MessageToString(value, as_one_line=True)})"
    elif inspect.isroutine(value) or inspect.isclass(value):
        text = value.__qualname__
    elif representation is object.__repr__:
        text = f"<{type(value).__name__}>"
    else:
        text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
