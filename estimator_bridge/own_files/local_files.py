"""Writes files of this machine as a whole: a reader sees the old content or the new one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from estimator_bridge.own_files import move_over, temporary_beside

__all__ = ["whole_file"]


@contextlib.contextmanager
def whole_file(path: str) -> Iterator[str]:
    """Creates a temporary file, which replaces ``path`` at the end if nothing fails.

    Args:
      path: a path on this machine, in a folder that exists.

    Yields:
      The path of an empty file in the same folder, with the same ending, to write to.

    Raises:
      OSError: the file cannot be written. The temporary file is removed, and ``path`` is unchanged.
    """
    with temporary_beside(path) as temporary:
        yield temporary
        try:
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            move_over(temporary, path)
        except OSError as error:
            if error.errno is None:
                raise
            raise type(error)(error.errno, error.strerror, path) from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
