"""Records from a CSV file with a header."""

from __future__ import annotations

import contextlib
import csv
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature, encode
from estimator_bridge.records.files import check_regular
from estimator_bridge.records.source import Source, mean_size

__all__ = ["from_csv"]

# From the narrowest type: a column has the first type that all of its cells fit.
_TYPES: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("int64", int),
    ("float32", lambda cell: float(cell) if cell else math.nan),
    ("string", str),
)
_READERS = dict(_TYPES)
_INT64 = 1 << 63


def from_csv(path: str, types: Mapping[str, str] | None = None) -> Source:
    """Returns the rows of a CSV file as records, in their order.

    The file is read once to find the columns' types: int64 if every cell is a whole number,
    float32 if every cell is a number or empty (which becomes NaN), else string.

    Args:
      path: the file, local or on an object store, in UTF-8. Its first row has the columns' names.
      types: types of some columns, by name: "int64", "float32" or "string".

    Raises:
      DataError: the file is missing or empty, a row has another number of cells than the header,
        or a cell does not fit the type given for its column.
    """
    column_types = dict(types or {})
    names = _header(path)
    unknown = [
        name for name in column_types if name not in names or column_types[name] not in _READERS
    ]
    if unknown:
        raise DataError(
            f"{path}: types={column_types!r}: want columns of {names}, each with one of "
            f"{', '.join(_READERS)}. Got "
            f"{', '.join(f'{n!r}: {column_types[n]!r}' for n in unknown)}."
        )
    count, dtypes = _examine(path, names, column_types)
    features = {name: Feature(dtypes[name]) for name in names}

    def read(start: int) -> Iterator[bytes]:
        for _, row in itertools.islice(_rows(path, names), start, None):
            yield encode(features, {n: _READERS[dtypes[n]](cell) for n, cell in zip(names, row)})

    return Source("CSV", count, round(mean_size(read(0)) * count), features, read)


def _examine(
    path: str, names: list[str], column_types: Mapping[str, str]
) -> tuple[int, dict[str, str]]:
    """Returns the number of rows, and each column's type."""
    levels = dict.fromkeys(names, 0)
    for name, dtype in column_types.items():
        levels[name] = [type_name for type_name, _ in _TYPES].index(dtype)
    count = 0
    for line, row in _rows(path, names):
        count += 1
        for name, cell in zip(names, row):
            while not _fits(cell, levels[name]):
                if name in column_types:
                    raise DataError(
                        f"{path}, line {line}: column {name!r} has {cell!r}, want "
                        f"{column_types[name]}, as types= says."
                    )
                levels[name] += 1
    if not count:
        raise DataError(f"{path}: no rows below the header {names}.")
    return count, {name: _TYPES[level][0] for name, level in levels.items()}


def _fits(cell: str, level: int) -> bool:
    dtype, convert = _TYPES[level]
    if dtype != "string" and "_" in cell:  # Python would read 1_000 as a number
        return False
    try:
        value = convert(cell)
    except ValueError:
        return False
    return dtype != "int64" or -_INT64 <= value < _INT64


def _header(path: str) -> list[str]:
    with _open(path) as reader:
        names: list[str] = next(reader, [])
    if not names:
        raise DataError(f"{path}: empty. Want a header with the columns' names, then rows.")
    duplicates = sorted({name for name in names if names.count(name) > 1 or not name})
    if duplicates:
        raise DataError(
            f"{path}, line 1: the header needs a different name for each column, got {names}."
        )
    return names


def _rows(path: str, names: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yields each row with its line number; empty lines are skipped."""
    with _open(path) as reader:
        next(reader)
        for row in filter(None, reader):
            if len(row) != len(names):
                raise DataError(
                    f"{path}, line {reader.line_num}: {len(row)} cells, want {len(names)} as in "
                    f"the header {names}."
                )
            yield reader.line_num, row


@contextlib.contextmanager
def _open(path: str) -> Iterator[Any]:
    if not tf.io.gfile.exists(path) or tf.io.gfile.isdir(path):
        raise DataError(f"{path}: no such file. Name a CSV file.")
    check_regular(path)
    try:
        with tf.io.gfile.GFile(path, "r") as file:
            yield csv.reader(_without_mark(file), strict=True)
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV file in UTF-8: {error}.") from error


def _without_mark(lines: Any) -> Iterator[str]:
    """Yields lines without the byte order mark that spreadsheets write at a file's start."""
    for number, line in enumerate(lines):
        yield line[1:] if number == 0 and line.startswith("\ufeff") else line
