"""Tables as CSV files: scikit-learn's, written at first use, or the user's own."""

from __future__ import annotations

import csv
import dataclasses
import os
from collections.abc import Sequence

from estimator_bridge.base.any_files import exists
from models.common.errors import UserError
from models.tabular.values import classes_of, header_of, read_values

__all__ = ["FILES", "TABLES", "Problem", "check_tables", "write_table"]

TABLES = ("breast_cancer", "diabetes", "wine")
FILES = {"train": "train.csv", "test": "test.csv"}
_TARGET = "target"
_TEST_FRACTION = 0.25
_SPLIT_SEED = 2018  # fixed, so that every machine tests on the same rows


@dataclasses.dataclass(frozen=True)
class Problem:
    """The target of a prediction.

    Attributes:
        columns: the names of all columns, the target's among them.
        classes: the number of classes; 0: the target is a number.
    """

    columns: Sequence[str]
    classes: int


def check_tables(data_dir: str, table: str, target: str, kind: str) -> Problem | None:
    """Checks the headers and the cells of a table's files, if there are any yet.

    Args:
        data_dir: the folder of the table's folder.
        table: the table's name.
        target: the column to predict.
        kind: the kind of its values; see `models.tabular.values.classes_of`.

    Returns:
        What is predicted; None if the table is one of `TABLES` that is not written yet.

    Raises:
        UserError: there is no such table, one file is missing, their headers differ or have no
            column besides the target, a cell is not a number, or the target's values fit no kind.
    """
    folder = os.path.join(data_dir, table)
    paths = [os.path.join(folder, name) for name in FILES.values()]
    missing = [path for path in paths if not exists(path)]
    if len(missing) == len(paths) and table in TABLES:
        return None
    if missing:
        raise UserError(
            f"{missing[0]}: no such file. --table={table} wants {' and '.join(FILES.values())} in "
            f"{folder}, or one of {', '.join(TABLES)}."
        )
    names, others = map(header_of, paths)
    for path, header in zip(paths, (names, others)):
        if not header:
            raise UserError(f"{path}: empty. Want a header with the columns' names, then rows.")
    if names != others:
        raise UserError(
            f"{paths[1]}: its columns {others} differ from those of {paths[0]}, {names}."
        )
    if target not in names:
        raise UserError(
            f"{paths[0]}: no column {target!r}, the --target; it has {', '.join(names)}."
        )
    if len(names) == 1:
        raise UserError(f"{paths[0]}: no column besides {target!r}. Want some to predict it from.")
    train, test = map(read_values, paths)
    return Problem(names, classes_of(train, test, target, kind, paths))


def write_table(folder: str, table: str) -> None:
    """Writes one of `TABLES` as train.csv and test.csv, unless the folder has them.

    Args:
        folder: the folder of the two files.
        table: the table's name.
    """
    if all(exists(os.path.join(folder, name)) for name in FILES.values()):
        return
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    bunch = getattr(datasets, f"load_{table}")(as_frame=False)
    names = [name.replace(" ", "_").replace("/", "_") for name in bunch.feature_names]
    is_class = hasattr(bunch, "target_names")
    parts = train_test_split(
        bunch.data,
        bunch.target.astype(int if is_class else float),
        test_size=_TEST_FRACTION,
        random_state=_SPLIT_SEED,
        stratify=bunch.target if is_class else None,
    )
    os.makedirs(folder, exist_ok=True)
    for split, data, targets in (("train", parts[0], parts[2]), ("test", parts[1], parts[3])):
        rows = [[*map(float, row), target] for row, target in zip(data, targets.tolist())]
        _write(os.path.join(folder, FILES[split]), [*names, _TARGET], rows)


def _write(path: str, header: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
    # It imports TensorFlow, and this module comes before.
    from models.common.saved_files import saved_file

    with saved_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
