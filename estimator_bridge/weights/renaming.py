"""A table of names: a variable's name in the new file, and the order of its dimensions."""

from __future__ import annotations

import dataclasses
import difflib
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from estimator_bridge.base.any_files import open_text
from estimator_bridge.errors import DataError

__all__ = ["Renaming", "read_table", "renamed"]

_LEAVE_OUT = "-"
_COLUMNS = (2, 3)


@dataclasses.dataclass(frozen=True)
class Renaming:
    """A line of a table.

    Attributes:
      old: the variable's name in the checkpoint.
      new: its name in the file; None leaves it out.
      axes: the order of its dimensions, as for ``numpy.transpose``; None keeps it.
      line: the line of the table.
    """

    old: str
    new: str | None
    axes: tuple[int, ...] | None = None
    line: int = 0


def read_table(path: str) -> tuple[Renaming, ...]:
    """Reads a table of names.

    A line has the old name, the new one, and the order of dimensions if it changes, separated by
    spaces or tabs::

        # a dense layer, for PyTorch
        dense/kernel  fc.weight  1,0
        dense/bias    fc.bias
        decoder/step  -

    A "-" instead of the new name leaves the variable out. Variables that no line names keep their
    names.

    Raises:
      DataError: the file cannot be read, or a line is not of that form; the message names it.
    """
    try:
        with open_text(os.fspath(path)) as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{os.fspath(path)}: the table of names cannot be read: {error}") from error
    renamings = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if words:
            renamings.append(_parse(path, number, words))
    for attribute in ("old", "new"):
        _check_single(path, renamings, attribute)
    return tuple(renamings)


def renamed(
    values: Mapping[str, np.ndarray], table: Sequence[Renaming], other_names: Iterable[str] = ()
) -> dict[str, np.ndarray]:
    """Returns arrays under the names of a table.

    Args:
      values: the arrays by their names in the checkpoint.
      table: the changes; other variables keep their names.
      other_names: other names of the checkpoint, such as slots; lines about them have no effect.

    Raises:
      DataError: the table names a variable that the checkpoint lacks, its order of dimensions does
        not fit a variable, or it gives two variables one name.
    """
    missing = [
        line for line in table if line.old not in values and line.old not in set(other_names)
    ]
    if missing:
        near = difflib.get_close_matches(missing[0].old, values, n=3)
        raise DataError(
            f"line {missing[0].line} of the table names {missing[0].old!r}, which the checkpoint "
            f"does not have ({len(missing)} such lines). "
            + (f"Similar names: {', '.join(near)}." if near else f"It has {', '.join(values)}.")
        )
    changes = {line.old: line for line in table}
    result: dict[str, np.ndarray] = {}
    sources: dict[str, str] = {}
    for old, value in values.items():
        change = changes.get(old, Renaming(old, old))
        if change.new is None:
            continue
        if change.new in result:
            raise DataError(
                f"{sources[change.new]!r} and {old!r} would both be named {change.new!r}. Give "
                "each a different name in the table."
            )
        result[change.new], sources[change.new] = _transpose(value, change), old
    return result


def _transpose(value: np.ndarray, change: Renaming) -> np.ndarray:
    if change.axes is None:
        return value
    if sorted(change.axes) != list(range(value.ndim)):
        raise DataError(
            f"line {change.line} of the table orders the dimensions of {change.old!r} by "
            f"{','.join(map(str, change.axes))}, but its shape is {list(value.shape)}: want each "
            f"of {', '.join(map(str, range(value.ndim))) or 'none'} once."
        )
    return np.ascontiguousarray(value.transpose(change.axes))


def _parse(path: str, number: int, words: list[str]) -> Renaming:
    axes = None
    try:
        if len(words) not in _COLUMNS:
            raise ValueError(f"{len(words)} words")
        if len(words) == _COLUMNS[1]:
            axes = tuple(int(axis) for axis in words[2].split(","))
    except ValueError as error:
        raise DataError(
            f"{os.fspath(path)}, line {number}: {error}. Want the old name, the new name (or "
            f"{_LEAVE_OUT}), and if the dimensions change, their order such as 1,0."
        ) from error
    return Renaming(words[0], None if words[1] == _LEAVE_OUT else words[1], axes, number)


def _check_single(path: str, table: Sequence[Renaming], attribute: str) -> None:
    line_by_name: dict[str, int] = {}
    for line in table:
        name = getattr(line, attribute)
        if name in line_by_name:
            raise DataError(
                f"{os.fspath(path)}, line {line.line}: the {attribute} name {name!r} is also in "
                f"line {line_by_name[name]}. Name each variable once."
            )
        if name is not None:
            line_by_name[name] = line.line
