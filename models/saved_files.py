"""Files that a run writes: each whole or not at all, with an error that names it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from estimator_bridge.checkpoint import explained_full_disk_of
from estimator_bridge.local_files import whole_file

__all__ = ["saved_file"]


@contextlib.contextmanager
def saved_file(path: str) -> Iterator[str]:
    """Creates a temporary file, which replaces ``path`` at the end if nothing fails.

    Args:
        path: a path on this machine, in a folder that exists.

    Yields:
        The path of an empty file in the same folder, with the same ending, to write to.

    Raises:
        DiskFullError: the disk is full; nothing is left of the file.
        OSError: the file cannot be written for another reason.
    """
    with explained_full_disk_of(f"The file {path}"), whole_file(path) as temporary:
        yield temporary
