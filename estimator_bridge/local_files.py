"""Writes files of this machine as a whole: a reader sees the old content or the new one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

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
    folder, name = os.path.split(os.path.abspath(path))
    stem, ending = os.path.splitext(name)
    descriptor, temporary = tempfile.mkstemp(ending, f".{stem}.", folder)
    os.close(descriptor)
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp lets no one else read it
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
