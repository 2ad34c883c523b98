"""Finds the input files of a prediction and their kind, before TensorFlow is loaded."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

from estimator_bridge.base.any_files import (
    check_is_file,
    exists,
    files_below,
    is_folder,
    is_remote,
    matching,
    open_bytes,
)
from estimator_bridge.errors import DataError

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


def find_inputs(arguments: Sequence[str], kind: str | None = None) -> InputFiles:
    """Finds the files of ``--input``.

    Args:
      arguments: files, patterns, or folders, whose files of a known kind are read in the order of
        their names, those of sub-folders included; local, or of an object store.
      kind: the kind of all files; None: by the ends of their names.

    Raises:
      DataError: nothing was found, a file cannot be read, or there are several kinds.
    """
    paths = list(dict.fromkeys(path for word in arguments for path in _files(word, kind)))
    kinds_by_path = {path: kind or _kind(path) for path in paths}
    kinds = sorted(set(kinds_by_path.values()))
    if len(kinds) > 1:
        examples = ", ".join(
            next(p for p in kinds_by_path if kinds_by_path[p] == kind) for kind in kinds
        )
        raise DataError(
            f"--input names files of several kinds ({', '.join(kinds)}), such as {examples}. "
            "Predict each kind by itself, or name the kind of all files with --input-format."
        )
    return InputFiles(kinds[0], tuple(paths))


def _files(word: str, kind: str | None) -> list[str]:
    if is_folder(word):
        endings = KINDS[kind] if kind else tuple(e for some in KINDS.values() for e in some)
        inside = [
            path
            for path in files_below(word)
            if _is_input(os.path.basename(path)) and path.lower().endswith(endings)
        ]
        if not inside:
            raise DataError(f"{word}: no file that ends in {', '.join(endings)}.")
        for path in inside:
            _check_is_file(path)
        return inside
    is_pattern = not exists(word) and any(c in word for c in _PATTERN)
    paths = matching(word) if is_pattern else [word]
    if not paths:
        raise DataError(f"{word}: no file matches this pattern.")
    for path in paths:
        _check_readable(path)
    return paths


def _is_input(name: str) -> bool:
    return not name.startswith((".", "_")) and name != "manifest.json"


def _check_readable(path: str) -> None:
    if is_remote(path) and exists(path):  # opening it would read it
        return
    _check_is_file(path)
    try:
        with open_bytes(path):
            pass
    except FileNotFoundError:
        raise DataError(f"{path}: no such file or folder. Name an input with --input.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error


def _check_is_file(path: str) -> None:
    try:
        check_is_file(path)
    except FileNotFoundError:
        return  # reported when it is opened
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}.") from None


def _kind(path: str) -> str:
    name = path.lower()
    for kind, endings in KINDS.items():
        if name.endswith(endings) or (kind == "tfrecords" and ".tfrecord-" in name):
            return kind
    raise DataError(
        f"{path}: the end of its name tells no kind. Name it with --input-format: one of "
        f"{', '.join(KINDS)}."
    )
