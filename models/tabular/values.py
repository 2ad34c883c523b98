"""Reads and checks the cells of a table, before anything is written or computed."""

from __future__ import annotations

import array
import csv
import math
from collections.abc import Mapping, Sequence

from estimator_bridge.base.any_files import open_text
from models.common.errors import UserError, few

__all__ = ["KINDS", "classes_of", "header_of", "read_values"]

AUTO, CLASSES, NUMBER = KINDS = ("auto", "classes", "number")
_MOST_CLASSES = 1000
# Whole numbers with a gap among them: so few different ones are more likely classes than counts.
_FEW_VALUES = 20
_LARGEST = 3.4028234e38  # float32

Values = Mapping[str, Sequence[float]]


def header_of(path: str) -> list[str]:
    """Returns the columns' names; none of an empty file.

    Raises:
        UserError: it is no CSV file in UTF-8, or two columns have one name.
    """
    try:
        with open_text(path, "utf-8-sig", newline="") as file:
            names = next(csv.reader(file), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a CSV file in UTF-8: {error}.") from error
    double = [name for name in names if names.count(name) > 1]
    if double:
        raise UserError(f"{path}, line 1: two columns are named {double[0]!r}. Rename one.")
    return names


def read_values(path: str) -> dict[str, array.array[float]]:
    """Returns the columns of a file by name, as float32.

    Raises:
        UserError: it has no rows, a row has another number of cells than the header, or a cell is
            empty or no finite number.
    """
    names = header_of(path)
    columns = [array.array("f") for _ in names]
    try:
        with open_text(path, "utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            next(reader, None)
            for cells in reader:
                if not cells:
                    continue
                place = f"{path}, line {reader.line_num}"
                if len(cells) != len(names):
                    raise UserError(
                        f"{place}: {len(cells)} cells, want {len(names)} as in the header. The "
                        "file may be cut short."
                    )
                for name, column, cell in zip(names, columns, cells):
                    column.append(_number(cell, f"{place}: column {name!r}"))
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a CSV file in UTF-8: {error}.") from error
    if not columns or not columns[0]:
        raise UserError(f"{path}: no rows below the header. Want a row for each example.")
    return dict(zip(names, columns))


def _number(cell: str, place: str) -> float:
    if not cell.strip():
        raise UserError(f"{place} has an empty cell. Fill it, or leave the row out.")
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not abs(value) <= _LARGEST:
        raise UserError(f"{place} has {cell!r}, want a number.")
    return value


def classes_of(train: Values, test: Values, target: str, kind: str, paths: Sequence[str]) -> int:
    """Returns the number of the target's classes; 0 if it is a number.

    Args:
        train: the columns of the training set.
        test: those of the test set.
        target: the column to predict.
        kind: one of `KINDS`. "auto": classes if the training set has each whole number from 0 to
            its largest one; a number if it has others, unless these may be classes too.
        paths: the two files, for errors.

    Raises:
        UserError: the values do not fit the kind; the test set has other classes; or it is not
            clear which kind they are: few whole numbers that do not begin with 0, or leave one out.
    """
    distinct = sorted(set(train[target]))
    wrong = [value for value in distinct if value % 1 or not 0 <= value < _MOST_CLASSES]
    if kind == CLASSES and wrong:
        raise UserError(
            f"{paths[0]}: --target_kind={CLASSES} wants whole numbers from 0 to "
            f"{_MOST_CLASSES - 1} in column {target!r}, which has {_listing(wrong)}."
        )
    if kind == NUMBER or wrong:
        return 0
    count = int(distinct[-1]) + 1
    missing = sorted(set(range(count)) - set(distinct))
    if kind == AUTO and missing:
        if len(distinct) > _FEW_VALUES:
            return 0
        raise UserError(
            f"{paths[0]}: column {target!r} has {_listing(distinct)}, but not {_listing(missing)}. "
            f"Are they classes or numbers? Pass --target_kind={NUMBER} to predict a number, "
            f"--target_kind={CLASSES} for {count} classes, or number the classes from 0 on."
        )
    if count == 1:
        raise UserError(
            f"{paths[0]}: all rows have the class 0 in column {target!r}. Want two or more classes."
        )
    for row, value in enumerate(test[target]):
        if value % 1 or not 0 <= value < count:
            raise UserError(
                f"{paths[1]}: row {row + 1} has the class {_listing([value])} in column "
                f"{target!r}, want 0 to {count - 1} as in {paths[0]}."
            )
    return count


def _listing(values: Sequence[float]) -> str:
    return few([f"{value:g}" for value in values])
