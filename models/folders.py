"""Checks of output folders before anything is computed."""

from __future__ import annotations

import errno
import os
import tempfile

from models.errors import UserError

__all__ = ["require_writable"]


def require_writable(folder: str, flag: str) -> None:
    """Creates a folder if needed, and checks that files can be written in it.

    Args:
        folder: the folder; one in a remote file system (`gs://...`) is left unchecked.
        flag: the flag that named it, for the message.

    Raises:
        UserError: the folder cannot be created or written.
    """
    if "://" in folder:
        return
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"probe")
    except OSError as error:
        raise UserError(
            f"cannot write in {folder}: {error.strerror}. {_advice(error)} with --{flag}=PATH."
        ) from error


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space, or name a folder on another disk"
    return "Name a folder that you can write"
