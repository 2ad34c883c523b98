"""Writes files as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping

__all__ = ["write_new", "write_whole"]


def write_new(contents: Mapping[str, bytes]) -> None:
    """Writes files that are not there yet: all or none.

    Args:
      contents: by path: what the file is to hold.

    Raises:
      OSError: one is there, or cannot be written. None of them is left then.
    """
    made: list[str] = []
    try:
        for path, content in contents.items():
            with open(path, "xb") as file:
                made.append(path)
                file.write(content)
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                os.unlink(path)
        raise


def write_whole(path: str, content: bytes, before: bytes) -> None:
    """Replaces what a file holds; its mode stays, and a link stays one.

    Args:
      path: the file.
      content: what it is to hold.
      before: what it must hold now.

    Raises:
      OSError: it cannot be written, or holds something else by now. It is as it was then.
    """
    path = os.path.realpath(path)
    # Its folder alone would let it be replaced, and root may write to it.
    if not os.stat(path).st_mode & stat.S_IWUSR:
        raise OSError(f"{path} is read-only: make it writable, and run the command again")
    with open(path, "rb") as file:
        if file.read() != before:
            raise OSError(f"{path} has changed since it was read: run the command again")
    folder, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
