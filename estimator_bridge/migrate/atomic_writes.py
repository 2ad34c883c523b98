"""Writes files atomically."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Mapping

from estimator_bridge.own_files import move_over, remove_file, temporary_beside

__all__ = ["write_new", "write_whole"]


def write_new(contents: Mapping[str, bytes]) -> None:
    """Creates files, all or none.

    Args:
      contents: the contents by path.

    Raises:
      OSError: one exists already, or cannot be written; then none is left.
    """
    new_paths: list[str] = []
    try:
        for path, content in contents.items():
            with open(path, "xb") as file:
                new_paths.append(path)
                file.write(content)
    except BaseException:
        for path in new_paths:
            with contextlib.suppress(OSError):
                remove_file(path)
        raise


def write_whole(path: str, content: bytes, before: bytes) -> None:
    """Replaces a file's content; its mode stays, and a link stays a link.

    Args:
      path: the file.
      content: the new content.
      before: the content it must have now.

    Raises:
      OSError: it cannot be written, or its content has changed; the file then stays unchanged.
    """
    path = os.path.realpath(path)
    # Its folder alone would let it be replaced, and root may write to it.
    if not os.stat(path).st_mode & stat.S_IWUSR:
        raise OSError(f"{path} is read-only: make it writable, and run the command again")
    with open(path, "rb") as file:
        if file.read() != before:
            raise OSError(f"{path} has changed since it was read: run the command again")
    with temporary_beside(path) as temporary:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        move_over(temporary, path)
