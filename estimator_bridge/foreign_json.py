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


def foreign_json(text: str, is_strict: bool = True) -> Any:
    """Returns the value of a JSON text.

    Args:
      text: the text.
      is_strict: whether names that occur twice in an object and NaN or Infinity, which JSON does
        not have, are refused. Otherwise the last of equal names counts, as for Python.

    Raises:
      ValueError: it is not JSON, or is nested more than `MOST_LEVELS` deep.
    """
    _check_depth(text)
    try:
        if not is_strict:
            return json.loads(text)
        return json.loads(text, object_pairs_hook=_with_unique_names, parse_constant=_refuse)
    except RecursionError:  # unbalanced brackets in an unfinished string
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
