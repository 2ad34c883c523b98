"""The module ``gc``: filters of path lists that choose the exports to keep."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

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
    """A path and the version that it contains, or None."""

    path: str
    export_version: Any


_Filter = Callable[[Sequence[Path]], list[Path]]


def largest_export_versions(n: int) -> _Filter:
    """Returns a filter that keeps the n largest versions."""

    def keep(paths: Sequence[Path]) -> list[Path]:
        exports = [path for path in paths if path.export_version is not None]
        # Of equal versions, the last ones.
        places = range(len(exports))
        best = heapq.nlargest(n, places, key=lambda place: (exports[place].export_version, place))
        return sorted(exports[place] for place in best)

    return keep


def one_of_every_n_export_versions(n: int) -> _Filter:
    """Returns a filter that keeps the largest version of each interval [0, n], (n, 2n], ..."""

    def keep(paths: Sequence[Path]) -> list[Path]:
        largest: dict[int, Path] = {}
        for path in paths:
            if path.export_version is None:
                continue
            interval = (path.export_version - 1) // n if path.export_version else 0
            current = largest.get(interval)
            if current is None or current.export_version < path.export_version:
                largest[interval] = path
        return sorted(largest.values())

    return keep


def mod_export_version(n: int) -> _Filter:
    """Returns a filter that keeps each version that n divides."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def union(lf: _Filter, rf: _Filter) -> _Filter:
    """Returns a filter that keeps what either of two filters keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: _Filter) -> _Filter:
    """Returns a filter that keeps what another one drops."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir: str | bytes, parser: Callable[[Path], Path | None]) -> list[Path]:
    """Lists the contents of a folder.

    Args:
      base_dir: the folder.
      parser: a function that adds a version to a path, or returns None to leave it out.

    Returns:
      The paths, sorted.
    """
    base = tf.compat.as_str_any(base_dir)
    # Some file systems list folders with a trailing slash.
    names: Iterable[str] = (name.rstrip("/") for name in tf.io.gfile.listdir(base))
    parsed = (parser(Path(os.path.join(base, name), None)) for name in names)
    return sorted(path for path in parsed if path)
