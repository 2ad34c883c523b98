"""Reads JSON from files that anybody may have written, with limits on depth and size.

Python's own parser ends deep JSON with a RecursionError, which handlers of ValueError miss, and
passes on what is just shallow enough for it and too deep for the code that uses it.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

__all__ = ["MOST_LEVELS", "foreign_json"]

MOST_LEVELS = 100
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def foreign_json(text: str, *, is_nan_allowed: bool = False, are_names_unique: bool = True) -> Any:
    """Returns the value of a JSON text.

    Args:
      text: the text.
      is_nan_allowed: whether NaN, Infinity and -Infinity, which JSON does not have, are numbers.
      are_names_unique: whether a name that occurs twice in an object is refused. Otherwise the last
        one counts, as for Python.

    Raises:
      ValueError: it is not such JSON, or is nested more than `MOST_LEVELS` deep.
    """
    _check_depth(text)
    try:
        return json.loads(
            text,
            object_pairs_hook=_with_unique_names if are_names_unique else None,
            parse_constant=None if is_nan_allowed else _refuse,
        )
    except RecursionError:  # brackets in an unfinished string are not counted
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep") from None


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MOST_LEVELS:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match[0]
        if token in "[{":
            depth += 1
            if depth > MOST_LEVELS:
                raise ValueError(f"nested more than {MOST_LEVELS} levels deep")
        elif token in "]}":
            depth -= 1


def _with_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise ValueError(f"the name {name!r} occurs twice in an object")
        content[name] = value
    return content


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
