"""Writes predictions as JSON lines or CSV: a whole file, or lines to standard output."""

from __future__ import annotations

import base64
import contextlib
import csv
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from estimator_bridge.base.any_files import is_remote
from estimator_bridge.errors import DataError
from estimator_bridge.own_files.local_files import whole_file

__all__ = ["ENDINGS", "check_output", "opened"]

ENDINGS = (".jsonl", ".csv")
# JSON may have these unescaped, but a terminal obeys them, or shows text in another order.
_CONTROLS = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

Write = Callable[[Sequence[Mapping[str, Any]]], None]


def check_output(path: str | None) -> None:
    """Checks the path of ``--output``, before anything is computed.

    Raises:
      DataError: its ending is unknown, it exists, or its folder cannot be written.
    """
    if path is None:
        return
    if not path.endswith(ENDINGS):
        raise DataError(f"--output {path}: want a file that ends in {' or '.join(ENDINGS)}.")
    if is_remote(path):
        raise DataError(f"--output {path}: write a file of this machine, and copy it there.")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise DataError(f"--output {path}: there is no folder {folder}. Create it first.")
    if os.path.exists(path):
        raise DataError(f"--output {path}: exists already. Remove it, or name another file.")
    if not os.access(folder, os.W_OK):
        raise DataError(f"--output {path}: the folder {folder} cannot be written.")


@contextlib.contextmanager
def opened(path: str | None) -> Iterator[Write]:
    """Gives a function that writes rows of predictions.

    Args:
      path: the file, by whose ending the rows are JSON lines or CSV. It appears when all rows are
        written, and not at all if something fails. None: JSON lines to standard output.
    """
    if path is None:
        yield _json_writer(sys.stdout)
        sys.stdout.flush()
        return
    with whole_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        yield _csv_writer(file) if path.endswith(".csv") else _json_writer(file)


def _json_writer(file: TextIO) -> Write:
    def write(rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            text = json.dumps({n: _plain(v) for n, v in row.items()}, ensure_ascii=False)
            file.write(_CONTROLS.sub(_escape, text) + "\n")

    return write


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _csv_writer(file: TextIO) -> Write:
    writer = csv.writer(file, lineterminator="\n")
    names: list[str] = []

    def write(rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            if not names:
                names.extend(row)
                writer.writerow(names)
            cells = (_plain(row[name]) for name in names)
            writer.writerow(
                json.dumps(cell, ensure_ascii=False) if isinstance(cell, (list, dict)) else cell
                for cell in cells
            )

    return write


def _plain(value: Any) -> Any:
    """Returns a value as JSON has it; bytes that are not text become {"b64": ...}."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(value).decode()}
    return value
