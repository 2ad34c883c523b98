"""Hyperparameters written as text: "learning_rate=0.1,layers=[64,32],use_bias=true"."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["cast_hparam", "parse_values"]

_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)"
    r"(?:\[\s*(?P<index>\d+)\s*\])?"
    r"\s*=\s*"
    r"(?:\[(?P<list>[^\]]*)\]|(?P<scalar>[^,\[]*))"
    r"(?:$|,\s*)"
)
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """Parses assignments separated by commas.

    Args:
      values: ``name=value`` pairs; a value is a number, true or false, a text without commas and
        brackets, or a list of those in brackets. ``name[2]=value`` sets one element of a list.
      type_map: by name, the type of the value, or of its elements.
      ignore_unknown: whether to ignore a name without a type instead of raising an error.

    Returns:
      By name, the value, a list of values, or a dict of elements by their index.

    Raises:
      ValueError: the text is malformed, a value does not have its type, a name has no type, or
        something is assigned twice.
    """
    assignments: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(
                f"Malformed hyperparameter value: {values[position:]}. Write name=value or "
                "name=[value,value], with commas between."
            )
        position = match.end()
        name = match["name"]
        if name in type_map:
            _assign(assignments, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(
                f"Unknown hyperparameter type for {name}, in {values!r}. There are "
                f"{sorted(type_map)}."
            )
    return assignments


def _assign(assignments: dict[str, Any], match: re.Match[str], kind: type, values: str) -> None:
    name, index = match["name"], match["index"]
    if match["list"] is not None:
        if index is not None:
            raise ValueError(f"Assignment of a list to a list index: {match[0]!r} in {values!r}.")
        if name in assignments:
            raise _reused(name, values)
        elements = [element for element in re.split("[ ,]", match["list"]) if element]
        assignments[name] = [_parse(name, kind, element, values) for element in elements]
        return
    value = _parse(name, kind, match["scalar"], values)
    if index is None:
        if name in assignments:
            raise _reused(name, values)
        assignments[name] = value
        return
    elements_of = assignments.setdefault(name, {})
    if not isinstance(elements_of, dict):
        raise _reused(name, values)
    if int(index) in elements_of:
        raise _reused(f"{name}[{index}]", values)
    elements_of[int(index)] = value


def _parse(name: str, kind: type, text: str, values: str) -> Any:
    parse: Callable[[str], Any] = _parse_bool if kind is bool else kind
    try:
        return parse(text)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in "
            f"{values}"
        ) from error


def _parse_bool(text: str) -> bool:
    return _BOOLEANS[text] if text in _BOOLEANS else bool(int(text))


def _reused(name: str, values: str) -> ValueError:
    return ValueError(f"Multiple assignments to variable '{name}' in {values}")


def cast_hparam(name: str, kind: type, value: Any) -> Any:
    """Casts a value to its hyperparameter's type, if that loses nothing.

    An int becomes a float, and a text stays a text. A bool is not a number, and a float not an int.

    Returns:
      The value in the type; the value itself if the type is that of None.

    Raises:
      ValueError: the value cannot be cast.
    """
    if type(value) is kind or kind is type(None):
        return value
    text = (str, bytes)
    if (
        (issubclass(kind, text) and not isinstance(value, text))
        or issubclass(kind, bool) != isinstance(value, bool)
        or (issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral))
        or (issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number))
    ):
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)
