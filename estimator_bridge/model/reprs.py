"""Reprs that show what somebody chose, and leave out what is as by default."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import message, text_format  # type: ignore[import-untyped]

__all__ = ["call_repr", "changed_from_defaults"]

_LONGEST = 200  # characters of one value


def call_repr(name: str, values: Mapping[str, Any]) -> str:
    """Shows a call with keywords, on one line.

    Args:
      name: of what is called.
      values: the arguments by name; the text of a long one is cut.
    """
    return f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in values.items())})"


def changed_from_defaults(
    function: Callable[..., Any], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Lists the values that are not the defaults of the function's parameters.

    Args:
      function: of whose signature the defaults are.
      values: by parameter.
    """
    parameters = inspect.signature(function).parameters
    return {
        name: value
        for name, value in values.items()
        if name not in parameters or not _is(value, parameters[name].default)
    }


def _is(value: Any, default: Any) -> bool:
    # Other kinds than numbers and strings may compare element by element.
    plain = (bool, int, float, str, type(None))
    if isinstance(value, plain) and isinstance(default, plain):
        return value == default and isinstance(value, bool) == isinstance(default, bool)
    return value is default


def _shown(value: Any) -> str:
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
