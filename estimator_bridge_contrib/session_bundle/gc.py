"""Filters of the versions of exports: each takes a list of `Path` and returns a sorted one."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

__all__ = [
    "Path",
    "get_paths",
    "largest_export_versions",
    "mod_export_version",
    "negation",
    "one_of_every_n_export_versions",
    "union",
]


class Path(NamedTuple):
    """An export.

    Attributes:
      path: its folder.
      export_version: its version, or None.
    """

    path: str
    export_version: int | None


_Filter = Callable[[list[Path]], list[Path]]


def largest_export_versions(n: int) -> _Filter:
    """Keeps the n largest versions; folders without a version are left out."""

    def keep(paths: list[Path]) -> list[Path]:
        numbered = [
            (path.export_version, index)
            for index, path in enumerate(paths)
            if path.export_version is not None
        ]
        return sorted(paths[index] for _, index in heapq.nlargest(n, numbered))

    return keep


def one_of_every_n_export_versions(n: int) -> _Filter:
    """Keeps the largest version of each interval 1 to n, n + 1 to 2 * n; 0 is in the first."""

    def keep(paths: list[Path]) -> list[Path]:
        largest: dict[int, Path] = {}
        for path in paths:
            version = path.export_version
            if version is None:
                continue
            interval = (version - 1) // n if version else 0
            current = largest.get(interval)
            if current is None or (current.export_version or 0) < version:
                largest[interval] = path
        return sorted(largest.values())

    return keep


def mod_export_version(n: int) -> _Filter:
    """Keeps versions that n divides.

    Raises:
      TypeError: when called, for a path without a version.
    """
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)  # type: ignore[operator]


def union(lf: _Filter, rf: _Filter) -> _Filter:
    """Keeps what either filter keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: _Filter) -> _Filter:
    """Keeps what a filter leaves out."""
    return lambda paths: sorted({*paths} - {*f(paths)})


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Lists a folder.

    Args:
      base_dir: the folder.
      parser: called with the path of each entry, without a version; returns it with its version, or
        None to leave it out.

    Returns:
      What the parser returned, sorted.

    Raises:
      tf.errors.NotFoundError: there is no such folder.
    """
    paths = (
        parser(Path(os.path.join(base_dir, name), None)) for name in tf.io.gfile.listdir(base_dir)
    )
    return sorted(path for path in paths if path)
