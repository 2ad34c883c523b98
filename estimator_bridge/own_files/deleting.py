"""Deletes and replaces files: the only module of the library that does.

A file or folder is deleted only if the library can show that it wrote it: by a record with the
file's size and time of change, or by a folder that holds the token of its own name. Names alone
show nothing. A symbolic link is never followed and never deleted, and whatever else is not the
library's stays. Paths of this machine need no TensorFlow; those of an object store, which has no
links, go through `tf.io.gfile`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import uuid
from collections.abc import Iterator
from typing import Any

from estimator_bridge.base.any_files import is_remote

__all__ = [
    "Identity",
    "identity_of",
    "is_link",
    "is_own_folder",
    "lies_at",
    "make_own_folder",
    "move_new",
    "move_over",
    "new_token",
    "remove_empty_folder",
    "remove_file",
    "remove_open_file",
    "remove_own_folder",
    "set_aside",
    "temporary_beside",
]

# A file's size in bytes and its time of change in nanoseconds, which renaming keeps. Object stores
# copy a file that is renamed, so there the time is 0.
Identity = tuple[int, int]

_MARKER = ".estimator_bridge.owner-"
_MARKER_TEXT = (
    "estimator_bridge completes files in this folder before they get their names. If no process "
    "of it runs, the folder can be deleted.\n"
)


def new_token() -> str:
    """Returns a text that no other name has."""
    return uuid.uuid4().hex


def lies_at(path: str) -> bool:
    """Returns whether anything has this path: a file, a folder, or a link to anywhere."""
    return bool(_gfile().exists(path)) if is_remote(path) else os.path.lexists(path)


def is_link(path: str) -> bool:
    """Returns whether a path is a symbolic link; object stores have none."""
    return not is_remote(path) and os.path.islink(path.rstrip("/"))


def identity_of(path: str) -> Identity | None:
    """Returns a file's identity among files of its name; None if it is not a regular file."""
    if is_remote(path):
        if not _gfile().exists(path) or _gfile().isdir(path):
            return None
        return int(_gfile().stat(path).length), 0
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode):
            return status.st_size, status.st_mtime_ns
    return None


def remove_file(path: str, identity: Identity | None = None) -> bool:
    """Removes a file that the library wrote.

    Args:
      path: a regular file; a folder or a link stays.
      identity: its `identity_of`, as recorded; a file of another identity stays. None if the caller
        can show in another way that it wrote the file.

    Returns:
      Whether it was there and was removed.

    Raises:
      OSError: it cannot be removed. On an object store, a tf.errors.OpError.
    """
    current_identity = identity_of(path)
    if current_identity is None or identity not in (None, current_identity):
        return False
    if is_remote(path):
        _gfile().remove(path)
        return True
    try:
        os.unlink(path)
    except FileNotFoundError:  # another process was faster
        return False
    return True


def remove_open_file(name: str, folder_descriptor: int, descriptor: int) -> bool:
    """Removes a file of this machine that the caller holds open, wherever its folder is now.

    Args:
      name: the file's name in the folder; another file that has the name by now stays.
      folder_descriptor: the open folder.
      descriptor: the open file.

    Returns:
      Whether it was there and was removed.

    Raises:
      OSError: it cannot be removed.
    """
    status = os.stat(name, dir_fd=folder_descriptor, follow_symlinks=False)
    if not os.path.samestat(status, os.fstat(descriptor)):
        return False
    os.unlink(name, dir_fd=folder_descriptor)
    return True


def move_over(source: str, target: str) -> None:
    """Renames a file of the library to its final name, over a file that has the name now.

    A link in its place is replaced; what it points to stays.

    Raises:
      OSError: it cannot be renamed. On an object store, a tf.errors.OpError.
    """
    if is_remote(target):
        _gfile().rename(source, target, overwrite=True)
    else:
        os.replace(source, target)


def move_new(source: str, target: str) -> bool:
    """Renames a file or folder of the library to a name that is free.

    Returns:
      False if the name is taken; then nothing has changed.

    Raises:
      OSError: it cannot be renamed. On an object store, a tf.errors.OpError.
    """
    if lies_at(target):
        return False
    if is_remote(target):
        _gfile().rename(source, target)  # which refuses a name that is taken since
        return True
    try:
        os.rename(source, target)
    except OSError:
        if os.path.lexists(target) and os.path.lexists(source):  # taken since
            return False
        raise
    return True


def set_aside(path: str, why: str) -> str:
    """Renames something that is in the way and not the library's, and says so in one line.

    Args:
      path: a file, a folder, or a link, which is renamed itself.
      why: what is wrong with it, as the end of "it ...".

    Returns:
      Its new path, in the same folder.

    Raises:
      OSError: it cannot be renamed. On an object store, a tf.errors.OpError.
    """
    number = 1
    while not move_new(path, f"{path}.set_aside-{number}"):
        number += 1
    aside = f"{path}.set_aside-{number}"
    _log.warning("%s is set aside as %s: it %s.", path, os.path.basename(aside), why)
    return aside


def make_own_folder(path: str, token: str) -> None:
    """Creates a folder that can later be shown to be the library's.

    Args:
      path: the folder, which must not exist. Its name ends with the token.
      token: see `new_token`.

    Raises:
      OSError: it cannot be created or written to. On an object store, a tf.errors.OpError.
    """
    marker = os.path.join(path, _MARKER + token)
    if is_remote(path):
        _gfile().makedirs(path)
        with _gfile().GFile(marker, "w") as file:
            file.write(_MARKER_TEXT)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.mkdir(path)
    with open(marker, "x", encoding="utf-8") as file:
        file.write(_MARKER_TEXT)


def is_own_folder(path: str) -> bool:
    """Returns whether a folder is one of `make_own_folder`: it holds the token of its name."""
    token = _token_in(path)
    if not token or not _is_folder(path):
        return False
    return identity_of(os.path.join(path, _MARKER + token)) is not None


def remove_own_folder(path: str) -> list[str]:
    """Removes a folder of `make_own_folder` and the entries in it whose names begin with its token.

    Args:
      path: the folder; any other one stays.

    Returns:
      The paths of what stays because it is not the library's; [] if nothing does.

    Raises:
      OSError: a part of it cannot be removed. On an object store, a tf.errors.OpError.
    """
    if not _is_folder(path):
        return [path] if lies_at(path) else []
    token = _token_in(path)
    if not token or not is_own_folder(path):
        return [] if token and remove_empty_folder(path) else [path]
    leftovers = _remove_remote(path, token) if is_remote(path) else _remove_entries(path, token)
    if not leftovers:
        remove_file(os.path.join(path, _MARKER + token))
        remove_empty_folder(path)
    return leftovers


def remove_empty_folder(path: str) -> bool:
    """Removes a folder if nothing is in it, and returns whether it has done so."""
    if is_remote(path):
        if _gfile().listdir(path):
            return False
        _gfile().rmtree(path)
        return True
    with contextlib.suppress(OSError):
        os.rmdir(path)  # which refuses links, and folders that are not empty
        return True
    return False


@contextlib.contextmanager
def temporary_beside(path: str) -> Iterator[str]:
    """Creates a temporary file on this machine, which is removed if it is still there at the end.

    Args:
      path: the path that the file is to replace later; only its folder and name are used.

    Yields:
      The path of an empty file in the same folder, with the same extension, which others cannot
      read yet.

    Raises:
      OSError: it cannot be created.
    """
    folder, name = os.path.split(os.path.abspath(path))
    stem, ending = os.path.splitext(name)
    temporary = os.path.join(folder, f".{stem}.{new_token()[:12]}{ending}")
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            remove_file(temporary)


def _token_in(path: str) -> str:
    token = os.path.basename(path.rstrip("/")).rpartition("-")[2]
    is_token = len(token) == 32 and all(digit in "0123456789abcdef" for digit in token)
    return token if is_token else ""


def _is_folder(path: str) -> bool:
    if is_remote(path):
        return bool(_gfile().isdir(path))
    return os.path.isdir(path) and not is_link(path)


def _remove_entries(path: str, token: str) -> list[str]:
    """Removes what is the library's below a local folder; each step stays in its open folder."""
    leftovers = []
    for inner, folders, files, descriptor in os.fwalk(path, topdown=False):
        place = os.path.relpath(inner, path)
        for name in files:
            is_own = (name if place == "." else place).startswith(token)
            is_marker = place == "." and name == _MARKER + token
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            if is_own and stat.S_ISREG(status.st_mode):
                os.unlink(name, dir_fd=descriptor)
            elif not is_marker:
                leftovers.append(os.path.join(inner, name))
        for name in folders:
            try:
                os.rmdir(name, dir_fd=descriptor)
            except OSError:  # a link, or not empty: its content is in `leftovers` already
                if stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                    leftovers.append(os.path.join(inner, name))
    return leftovers


def _remove_remote(path: str, token: str) -> list[str]:
    leftovers = []
    for name in _gfile().listdir(path):
        entry = os.path.join(path, name.rstrip("/"))
        if name.startswith(token):
            (_gfile().rmtree if _gfile().isdir(entry) else _gfile().remove)(entry)
        elif name != _MARKER + token:
            leftovers.append(entry)
    return leftovers


def _gfile() -> Any:
    import tensorflow as tf

    return tf.io.gfile


_log = logging.getLogger("tensorflow")  # where the library's other lines go
