"""Finds the sources of code cells in a notebook's JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["JsonValue", "spans_of_code"]

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class JsonValue:
    """A text in a JSON document: one string, or a list of strings.

    Attributes:
      start: the offset of the value.
      end: the offset after it.
      text: the value's JSON.
      source: the text that the JSON encodes.
    """

    start: int
    end: int
    text: str
    source: str

    def with_text(self, source: str) -> str:
        """Returns the JSON of another text in this layout; equal parts keep their JSON."""
        ascii_only = self.text.isascii()
        if not self.text.startswith("["):
            return json.dumps(source, ensure_ascii=ascii_only)
        items = list(_items(self.text, 0))
        layouts = {json.loads(self.text[start:end]): self.text[start:end] for start, end in items}
        before = self.text[: items[0][0]]
        between = self.text[items[0][1] : items[1][0]] if len(items) > 1 else f",{before[1:]}"
        after = self.text[items[-1][1] :]
        parts = source.splitlines(keepends=True) if "\r" not in source else [source]
        texts = [layouts.get(part) or json.dumps(part, ensure_ascii=ascii_only) for part in parts]
        return f"{before}{between.join(texts)}{after}" if texts else "[]"


def spans_of_code(text: str) -> list[JsonValue]:
    """Returns the sources of a notebook's code cells, in order."""
    top = _members(text, _skip(text, 0))
    if "cells" in top:
        return _of_cells(text, top["cells"])
    sheets = [_members(text, start) for start, _ in _items(text, top["worksheets"][0])]
    return [value for s in sheets if "cells" in s for value in _of_cells(text, s["cells"])]


def _of_cells(text: str, place: tuple[int, int]) -> list[JsonValue]:
    values = []
    for start, _ in _items(text, place[0]):
        cell = _members(text, start)
        kind = json.loads(text[slice(*cell["cell_type"])])
        source = cell.get("source", cell.get("input"))
        if kind == "code" and source is not None:
            value = json.loads(text[slice(*source)])
            source_text = "".join(value) if isinstance(value, list) else value
            values.append(JsonValue(*source, text[slice(*source)], source_text))
    return values


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()


def _members(text: str, start: int) -> dict[str, tuple[int, int]]:
    """Returns the spans of an object's values by name."""
    spans = {}
    place = _skip(text, start + 1)
    while text[place] != "}":
        name, place = _DECODER.raw_decode(text, place)
        begin = _skip(text, _skip(text, place) + 1)
        _, end = _DECODER.raw_decode(text, begin)
        spans[name] = (begin, end)
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return spans


def _items(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yields the spans of a list's items."""
    place = _skip(text, start + 1)
    while text[place] != "]":
        _, end = _DECODER.raw_decode(text, place)
        yield place, end
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
