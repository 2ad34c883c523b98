"""Reads the rows of CSV files and of files of JSON lines."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from typing import Any

from estimator_bridge.base.any_files import open_bytes
from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.errors import DataError
from estimator_bridge.prediction.rows import BadRow, Found, Row

__all__ = ["csv_rows", "header_of", "json_rows"]

_MARK = "\ufeff"  # that spreadsheets write at a file's start
_SHOWN = 60
_MOST_BYTES = 1 << 28  # of a line


def json_rows(path: str) -> Found:
    """Yields the objects of a file of JSON lines; empty lines are none."""
    for number, line in enumerate(_lines(path), 1):
        place = f"line {number}"
        if isinstance(line, UnicodeDecodeError):
            yield BadRow(path, place, f"not UTF-8: {line}")
            continue
        text = line.strip()
        if not text:
            continue
        try:
            fields = foreign_json(text, is_nan_allowed=True)
        except ValueError as error:
            excerpt = text[:_SHOWN] + ("..." if len(text) > _SHOWN else "")
            yield BadRow(path, place, f"not JSON ({error}): {excerpt}")
            continue
        if isinstance(fields, dict):
            yield Row(path, place, fields)
        else:
            yield BadRow(
                path,
                place,
                f"a JSON {_kind(fields)}, want an object of the model's inputs by name, such as "
                '{"x": 1.5}',
            )


def csv_rows(path: str) -> Found:
    """Yields the rows of a CSV file by the names in its header; empty lines are none."""
    names = header_of(path)
    text = (_decode(path, number, line) for number, line in enumerate(_lines(path), 1))
    reader = csv.reader(text, strict=True)
    try:
        next(reader)
    except csv.Error as error:
        raise DataError(f"{path}, line 1: not CSV: {error}.") from None
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield BadRow(path, f"line {start}", f"not CSV: {error}")
            continue
        if cells is None:
            return
        if not cells:
            continue
        if len(cells) != len(names):
            reason = f"{len(cells)} cells, want {len(names)} as in the header {names}"
            yield BadRow(path, f"line {start}", reason)
            continue
        yield Row(path, f"line {start}", dict(zip(names, cells)))


def header_of(path: str) -> list[str]:
    """Returns the names of a CSV file's columns.

    Raises:
      DataError: the file is empty, its first line is not CSV, or a column has no name of its own.
    """
    lines = _lines(path)
    first = next(lines, None)
    if first is None or not str(first).strip():
        raise DataError(f"{path}: empty. Want a header with the columns' names, then rows.")
    try:
        names = next(csv.reader([_decode(path, 1, first)]))
    except csv.Error as error:
        raise DataError(f"{path}, line 1: not CSV: {error}.") from None
    if len(set(names)) < len(names) or not all(names):
        raise DataError(
            f"{path}, line 1: the header needs a name of its own for each column, got {names}."
        )
    return names


def _lines(path: str) -> Iterator[Any]:
    """Yields lines; for one that is not UTF-8, the error."""
    with open_bytes(path) as file:
        for number in itertools.count():
            line = file.readline(_MOST_BYTES + 1)
            if not line:
                return
            if len(line) > _MOST_BYTES:
                raise DataError(
                    f"{path}, line {number + 1}: more than {_MOST_BYTES:,} bytes. Want a record in "
                    "each line."
                )
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                yield error
                continue
            yield text.removeprefix(_MARK) if number == 0 else text


def _decode(path: str, number: int, line: Any) -> str:
    if isinstance(line, UnicodeDecodeError):  # quotes may span lines: none can be left out
        raise DataError(f"{path}, line {number}: not UTF-8: {line}. Convert the file to UTF-8.")
    return line


def _kind(value: object) -> str:
    return {list: "array", str: "string", type(None): "null"}.get(type(value), "number")
