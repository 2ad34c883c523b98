"""Removes notebook lines that are not Python: magics, shell commands, help requests."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import NamedTuple

__all__ = ["PlainCell", "plain_python"]

# Cell magics that run their cell as Python in the notebook's namespace; likewise line magics.
_AROUND_A_CELL = {"capture", "prun", "time"}
_AROUND_A_STATEMENT = {"prun", "time"}
_LINE = re.compile(r"[%!?]|[%\w.]+\?{1,2}\s*$")
_ASSIGNED = re.compile(r"(?P<target>[\w.,\s\[\]]+?=\s*)(?P<line>[%!].+)$", re.S)
_OPTIONS = re.compile(r"\s*(-[lsTD]\s*\S+\s+|-\w+\s+)*")  # such as %prun's -l 10
_TENSORFLOW = re.compile(r"%tensorflow_version\s+(\d)")


class PlainCell(NamedTuple):
    """A cell converted to plain Python.

    Attributes:
      source: the Python, with each line at its position in the cell.
      passed_over: the lines that are not run, as written in the cell.
      tensorflow: the version that `%tensorflow_version` asks for: "1", "2", or "" without it.
    """

    source: str
    passed_over: tuple[str, ...] = ()
    tensorflow: str = ""


def plain_python(source: str) -> PlainCell:
    """Removes the lines of a cell that only a notebook can run.

    Args:
      source: the cell.

    Returns:
      The rest. The statement of a `%time` line, and the cell below `%%time`, are kept.
    """
    lines = source.split("\n")
    notes = []
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        magic = lines[first].strip()
        if re.split(r"\W", magic[2:])[0] not in _AROUND_A_CELL:
            return PlainCell("", (f"{magic} (the whole cell)",))
        notes.append(f"{magic} (its cell is run)")
        lines[first] = ""
    if _is_python("\n".join(lines)):
        return PlainCell("\n".join(lines), tuple(notes))
    number, tensorflow = first, ""
    while number < len(lines):
        end = number + 1
        bare = lines[number].lstrip()
        match = _ASSIGNED.match(bare)
        if (match or _LINE.match(bare)) and not _goes_on(lines[:number]):
            while lines[end - 1].endswith("\\") and end < len(lines):
                end += 1
            whole = "\n".join([bare, *lines[number + 1 : end]])
            version = _TENSORFLOW.match(bare)
            tensorflow = version[1] if version else tensorflow
            statement = _statement_of(whole)
            notes.append(bare if statement is None else f"{bare} (its statement is run)")
            indent = lines[number][: len(lines[number]) - len(bare)]
            replaced = f"{indent}{'pass' if statement is None else statement}".split("\n")
            lines[number:end] = replaced + [""] * (end - number - len(replaced))
        number = end
    return PlainCell("\n".join(lines), tuple(notes), tensorflow)


def _statement_of(line: str) -> str | None:
    """Returns the Python statement of a magic that runs one, with its assignment target."""
    match = _ASSIGNED.match(line)
    target, line = (match["target"], match["line"]) if match else ("", line)
    name, _, rest = line[1:].partition(" ")
    if not line.startswith("%") or name not in _AROUND_A_STATEMENT:
        return None
    statement = rest[_OPTIONS.match(rest).end() :]  # type: ignore[union-attr]
    return target + statement if statement.strip() else None


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _goes_on(lines: list[str]) -> bool:
    """Returns whether the last line continues in the next: in a bracket, string or backslash."""
    if not lines:
        return False
    if lines[-1].endswith("\\"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO("\n".join([*lines, ""])).readline):
            pass
    except tokenize.TokenError:
        return True
    except SyntaxError:
        pass
    return False
