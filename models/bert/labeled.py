"""Labeled texts: files of the user, or sentences of Python's language reference by subject."""

from __future__ import annotations

import csv
import dataclasses
import os
from collections.abc import Mapping, Sequence

from estimator_bridge.base.any_files import exists, open_text
from models.common.errors import UserError
from models.common.text import is_test, sentences

__all__ = ["FILES", "Labeled", "by_subject", "check_files", "read_labeled"]

FILES = {"train": "train.tsv", "test": "test.tsv"}
_COLUMNS = (2, 3)
# Topics of Python's language reference, by subject.
_SUBJECTS = {
    "containers": ("typesseq", "typesmapping", "sequence-types", "dict"),
    "data model": ("specialnames", "types", "attribute-access", "customization"),
    "debugger": ("debugger",),
    "statements": ("compound", "assignment", "import", "try", "raise", "function", "with"),
    "text": ("string-methods", "formatstrings", "strings"),
}


@dataclasses.dataclass(frozen=True)
class Labeled:
    """Labeled texts.

    Attributes:
        classes: the names of the labels 0, 1, ...
        splits: the examples of `"train"` and `"test"`: a label, and one or two texts.
    """

    classes: tuple[str, ...]
    splits: Mapping[str, Sequence[tuple[int, Sequence[str]]]]

    @property
    def has_pairs(self) -> bool:
        """True if examples have two texts."""
        return any(len(texts) > 1 for split in self.splits.values() for _, texts in split)


def check_files(data_dir: str) -> bool:
    """Returns whether a folder has labeled texts.

    Raises:
        UserError: it has one of the two files only.
    """
    present = [name for name in FILES.values() if exists(os.path.join(data_dir, name))]
    if len(present) == 1:
        missing = next(name for name in FILES.values() if name not in present)
        raise UserError(
            f"{data_dir}: has {present[0]} and no {missing}. Labeled texts are in "
            f"{' and '.join(FILES.values())}: in each line the label, a tab, the text, and for "
            "pairs another tab and text."
        )
    return bool(present)


def read_labeled(data_dir: str) -> Labeled:
    """Reads train.tsv and test.tsv: in each line the label, the text, and for pairs another text.

    Raises:
        UserError: a file is missing or empty, a line has other columns, the training set has one
            label only, or the test set has a label that the training set lacks.
    """
    rows = {split: _rows(os.path.join(data_dir, name)) for split, name in FILES.items()}
    classes = sorted({label for label, _, _ in rows["train"]})
    if len(classes) == 1:
        raise UserError(
            f"{os.path.join(data_dir, FILES['train'])}: all texts have the label {classes[0]!r}. "
            "Want two or more labels to tell apart."
        )
    for label, _, place in rows["test"]:
        if label not in classes:
            raise UserError(
                f"{place}: the label {label!r} is not in {FILES['train']}, which has "
                f"{', '.join(classes)}."
            )
    numbers = {label: number for number, label in enumerate(classes)}
    splits = {
        split: [(numbers[label], texts) for label, texts, _ in split_rows]
        for split, split_rows in rows.items()
    }
    return Labeled(tuple(classes), splits)


def _rows(path: str) -> list[tuple[str, list[str], str]]:
    try:
        with open_text(path, newline="") as file:
            lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}.") from error
    rows = []
    for number, cells in enumerate(lines, 1):
        if not cells:
            continue
        if len(cells) not in _COLUMNS or not all(cells):
            raise UserError(
                f"{path}, line {number}: {len(cells)} columns, want a label and one or two texts, "
                "separated by tabs, none of them empty."
            )
        rows.append((cells[0], cells[1:], f"{path}, line {number}"))
    if not rows:
        raise UserError(f"{path}: empty. Want a label and a text in each line.")
    return rows


def by_subject(topics: Mapping[str, str]) -> Labeled:
    """Returns the sentences of Python's language reference with their subjects.

    A sentence that stands in topics of two subjects is left out.
    """
    subjects: dict[str, set[str]] = {}
    for subject, names in _SUBJECTS.items():
        for name in names:
            for sentence in sentences(topics.get(name, "")):
                subjects.setdefault(sentence, set()).add(subject)
    classes = tuple(_SUBJECTS)
    splits: dict[str, list[tuple[int, list[str]]]] = {"train": [], "test": []}
    for sentence, labels in subjects.items():
        if len(labels) == 1:
            split = "test" if is_test(sentence) else "train"
            splits[split].append((classes.index(next(iter(labels))), [sentence]))
    return Labeled(classes, splits)
