"""Finds the files that a command processes."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["CandidateFile", "NothingFoundError", "find_files", "is_excluded"]

_FOLDERS_LEFT_OUT = {
    "__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env",
}  # fmt: skip
_ENDINGS = (".py", ".ipynb")


class NothingFoundError(Exception):
    """A named path does not exist, or contains no Python; the message names it."""


@dataclass(frozen=True)
class CandidateFile:
    """A file.

    Attributes:
      path: the path as the user named it, or below a folder that the user named.
      passed_over: the reason why it is not processed, or "".
    """

    path: str
    passed_over: str = ""


def find_files(paths: Iterable[str], exclude: Iterable[str] = ()) -> list[CandidateFile]:
    """Finds the sources below some paths.

    Args:
      paths: files, and folders to search. A link below a folder is passed over, as its file is
        found elsewhere or is not part of the program; a named link is followed.
      exclude: `fnmatch` patterns of paths, or of the ends of paths, to leave out.

    Returns:
      The files, each once, in the order of the paths, and by name within a folder.

    Raises:
      NothingFoundError: a path does not exist, or contains no Python.
    """
    patterns = tuple(exclude)
    files: dict[str, CandidateFile] = {}
    for path in paths:
        if not os.path.exists(path):
            problem = "is a broken link" if os.path.islink(path) else "does not exist"
            raise NothingFoundError(f"{path} {problem}")
        if os.path.isdir(path):
            below = list(_below(path, patterns))
            if all(os.path.isdir(file.path) for file in below):
                raise NothingFoundError(f"{path} contains no Python: no .py and no .ipynb file")
        else:
            below = [CandidateFile(path)]
        for file in below:
            files.setdefault(
                os.path.realpath(file.path) if not file.passed_over else file.path, file
            )
    return list(files.values())


def _below(folder: str, patterns: tuple[str, ...]) -> Iterator[CandidateFile]:
    for root, folders, files in os.walk(folder):
        links = {name for name in folders if os.path.islink(os.path.join(root, name))}
        folders[:] = sorted(
            name
            for name in folders
            if name not in _FOLDERS_LEFT_OUT
            and not name.startswith(".")
            and not is_excluded(os.path.join(root, name), patterns)
        )
        for name in folders:
            if name in links:
                yield CandidateFile(os.path.join(root, name), "a link to a folder")
        for name in sorted(files):
            path = os.path.join(root, name)
            if not name.endswith(_ENDINGS) or is_excluded(path, patterns):
                continue
            yield CandidateFile(path, "a link" if os.path.islink(path) else "")


def is_excluded(path: str, patterns: Iterable[str]) -> bool:
    """Returns whether a path, or the end of it, matches one of some `fnmatch` patterns."""
    normal_path = os.path.normpath(path).replace(os.sep, "/")
    return any(
        fnmatch.fnmatch(normal_path, pattern) or fnmatch.fnmatch(normal_path, f"*/{pattern}")
        for pattern in patterns
    )
