"""Tables as CSV files: scikit-learn's, written at first use, or the user's own."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence

from estimator_bridge.any_files import exists, open_text
from models.errors import UserError

__all__ = ["FILES", "TABLES", "check_tables", "header_of", "write_table"]

TABLES = ("breast_cancer", "diabetes", "wine")
FILES = {"train": "train.csv", "test": "test.csv"}
_TARGET = "target"
_TEST_FRACTION = 0.25
_SPLIT_SEED = 2018  # fixed, so that every machine tests on the same rows


def check_tables(data_dir: str, table: str, target: str) -> None:
    """Checks the headers of a table's files, if there are any yet.

    Raises:
        UserError: there is no such table, one file is missing, their headers differ, or they lack
            the target.
    """
    folder = os.path.join(data_dir, table)
    paths = {split: os.path.join(folder, name) for split, name in FILES.items()}
    missing = [path for path in paths.values() if not exists(path)]
    if len(missing) == len(paths) and table in TABLES:
        return
    if missing:
        raise UserError(
            f"{missing[0]}: no such file. --table={table} wants {' and '.join(FILES.values())} in "
            f"{folder}, or one of {', '.join(TABLES)}."
        )
    headers = {path: header_of(path) for path in paths.values()}
    first, second = headers
    if headers[first] != headers[second]:
        raise UserError(
            f"{second}: its columns {headers[second]} differ from those of {first}, "
            f"{headers[first]}."
        )
    if target not in headers[first]:
        raise UserError(
            f"{first}: no column {target!r}, the --target; it has {', '.join(headers[first])}."
        )


def header_of(path: str) -> list[str]:
    """Returns the columns' names; none of an empty file."""
    try:
        with open_text(path, "utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a CSV file in UTF-8: {error}.") from error


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

    loaded = getattr(datasets, f"load_{table}")(as_frame=False)
    names = [name.replace(" ", "_").replace("/", "_") for name in loaded.feature_names]
    is_class = hasattr(loaded, "target_names")
    parts = train_test_split(
        loaded.data,
        loaded.target.astype(int if is_class else float),
        test_size=_TEST_FRACTION,
        random_state=_SPLIT_SEED,
        stratify=loaded.target if is_class else None,
    )
    os.makedirs(folder, exist_ok=True)
    for split, data, targets in (("train", parts[0], parts[2]), ("test", parts[1], parts[3])):
        rows = [[*map(float, row), target] for row, target in zip(data, targets.tolist())]
        _write(os.path.join(folder, FILES[split]), [*names, _TARGET], rows)


def _write(path: str, header: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
    from models.saved_files import saved_file  # it imports TensorFlow, and this module comes before

    with saved_file(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
