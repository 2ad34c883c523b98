"""Finds the input files of a prediction and their kind, before TensorFlow is loaded."""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Sequence

from estimator_bridge.errors import DataError
from estimator_bridge.prediction.rows import is_remote

__all__ = ["KINDS", "InputFiles", "find_inputs"]

KINDS = {
    "csv": (".csv",),
    "images": (".bmp", ".gif", ".jpeg", ".jpg", ".png"),
    "jsonl": (".json", ".jsonl", ".ndjson"),
    "tfrecords": (".tfrecord", ".tfrecords"),
}
_PATTERN = "*?["
_FEW = 3


@dataclasses.dataclass(frozen=True)
class InputFiles:
    """The files that are read, all of one kind.

    Attributes:
      kind: a key of `KINDS`.
      paths: the files, in order.
    """

    kind: str
    paths: tuple[str, ...]


def find_inputs(given: Sequence[str], kind: str | None = None) -> InputFiles:
    """Finds the files of ``--input``.

    Args:
      given: files, patterns, or folders, whose files of a known kind are read in the order of
        their names, those of sub-folders included. Paths of an object store (gs://...) are taken
        as files without a look.
      kind: the kind of all files; None: by the ends of their names.

    Raises:
      DataError: nothing was found, a file cannot be read, or there are several kinds.
    """
    paths = list(dict.fromkeys(path for word in given for path in _files(word, kind)))
    found = {path: kind or _kind(path) for path in paths}
    kinds = sorted(set(found.values()))
    if len(kinds) > 1:
        examples = ", ".join(next(p for p in found if found[p] == kind) for kind in kinds)
        raise DataError(
            f"--input names files of several kinds ({', '.join(kinds)}), such as {examples}. "
            "Predict each kind by itself, or name the kind of all files with --input-format."
        )
    return InputFiles(kinds[0], tuple(paths))


def _files(word: str, kind: str | None) -> list[str]:
    if is_remote(word):
        return [word]
    if os.path.isdir(word):
        endings = KINDS[kind] if kind else tuple(e for some in KINDS.values() for e in some)
        inside = [
            os.path.join(folder, name)
            for folder, _, names in sorted(os.walk(word))
            for name in sorted(names)
            if not name.startswith((".", "_")) and name.lower().endswith(endings)
            and name != "manifest.json"
        ]  # fmt: skip
        if not inside:
            raise DataError(f"{word}: no file that ends in {', '.join(endings)}.")
        return inside
    is_pattern = not os.path.exists(word) and any(c in word for c in _PATTERN)
    paths = sorted(glob.glob(word)) if is_pattern else [word]
    if not paths:
        raise DataError(f"{word}: no file matches this pattern.")
    for path in paths:
        _check_readable(path)
    return paths


def _check_readable(path: str) -> None:
    try:
        with open(path, "rb"):
            pass
    except FileNotFoundError:
        raise DataError(f"{path}: no such file or folder. Name an input with --input.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error


def _kind(path: str) -> str:
    name = path.lower()
    for kind, endings in KINDS.items():
        if name.endswith(endings) or (kind == "tfrecords" and ".tfrecord-" in name):
            return kind
    raise DataError(
        f"{path}: the end of its name tells no kind. Name it with --input-format: one of "
        f"{', '.join(KINDS)}."
    )
