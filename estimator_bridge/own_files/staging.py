"""Files that are complete when they appear: written in a folder of their own, then renamed.

A process that is killed leaves such a folder behind, and nothing else. The folder's name says which
process made it, and it holds a token (see `own_files`), so it can be removed later. A training
keeps one open, since every checkpoint needs it; other writers make one for each file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import threading
from collections.abc import Iterator
from typing import IO, Union

from estimator_bridge.base.any_files import is_folder, is_remote, names_in
from estimator_bridge.own_files.deleting import (
    make_own_folder,
    move_over,
    new_token,
    remove_own_folder,
)

__all__ = [
    "abandoned_in",
    "has_open_staging",
    "is_running",
    "open_staging",
    "open_to_write",
    "remove_abandoned_staging",
    "replace_file",
    "replace_text",
    "staged",
    "this_machine",
]

_START = ".estimator_bridge.staging"
# Whether it is a training's, the machine, the process, the token.
_NAME = re.compile(rf"{re.escape(_START)}-(training|beside)-([0-9a-f]{{8}})-(\d+)-[0-9a-f]{{32}}")

# What tells a folder of this machine from another that gets its name: the device and the inode. On
# an object store, and of a folder that is not there, the name.
_Place = Union[tuple[int, int], str]

_lock = threading.RLock()
_open: dict[_Place, _Staging] = {}  # by the folder for which it is open
_in_use: set[str] = set()  # the paths of this process's staging folders


class _Staging:
    """A folder for files that are being written, created when the first of them is.

    Args:
      folder: the folder into which the files go when they are complete.
      kind: "training" if the process holds the folder's lock, or "beside".
    """

    def __init__(self, folder: str, kind: str):
        self._token = new_token()
        self.process = os.getpid()
        name = f"{_START}-{kind}-{this_machine()}-{self.process}-{self._token}"
        self._path = os.path.join(folder, name)
        self._is_created = self._is_closed = False
        self._writers = 0

    @contextlib.contextmanager
    def path_of(self, name: str) -> Iterator[str]:
        """Gives the path under which a file is written."""
        with _lock:
            if not self._is_created:
                _in_use.add(self._path)
                make_own_folder(self._path, self._token)
                self._is_created = True
            self._writers += 1
        try:
            yield os.path.join(self._path, f"{self._token}.{name}")
        finally:
            with _lock:
                self._writers -= 1
                is_last = self._is_closed and not self._writers
            if is_last:
                self.remove()

    def close(self) -> None:
        """Removes the folder, at once or when the last file is written."""
        with _lock:
            self._is_closed = True
            if self._writers:  # a thread that Ctrl-C did not end
                return
        self.remove()

    def remove(self) -> list[str]:
        """Removes the folder; a later file makes it again."""
        if self.process != os.getpid():  # a forked copy ends; its parent still writes there
            return []
        with _lock:
            if self._writers:
                return []
            self._is_created = False
            leftovers = remove_own_folder(self._path)
            _in_use.discard(self._path)
            return leftovers


@contextlib.contextmanager
def open_staging(folder: str) -> Iterator[None]:
    """Lets all files that this process writes into a folder share one staging folder.

    Args:
      folder: the model_dir of a training; this process holds its lock.
    """
    key, staging = _place_of(folder), _Staging(folder, "training")
    with _lock:
        before = _open.get(key)
        _open[key] = staging
    try:
        yield
    finally:
        with _lock:
            _open.pop(key, None)
            if before is not None:
                _open[key] = before
        with contextlib.suppress(Exception):  # the next training removes it
            staging.close()


def has_open_staging(folder: str) -> bool:
    """Returns whether a training of this process writes into a folder."""
    return _open_in(folder) is not None


@contextlib.contextmanager
def staged(folder: str, name: str) -> Iterator[str]:
    """Gives a path for a file, or for files with that prefix, which the caller then renames.

    Args:
      folder: the folder into which the files go when they are complete.
      name: their name there.

    Yields:
      The path to write to, on the same file system. What is left there is removed later.

    Raises:
      OSError: nothing can be written there. On an object store, a tf.errors.OpError.
    """
    shared = _open_in(folder)
    if shared is not None:
        with shared.path_of(name) as path:
            yield path
        return
    staging = _Staging(folder, "beside")
    try:
        with staging.path_of(name) as path:
            yield path
    except BaseException:
        with contextlib.suppress(Exception):  # the first error counts
            staging.remove()
        raise
    staging.remove()


def replace_file(path: str, content: bytes) -> None:
    """Writes a file as a whole: a reader sees the old content or the new one.

    Args:
      path: the file, in a folder that exists.
      content: its new content.

    Raises:
      OSError: it cannot be written. On an object store, a tf.errors.OpError.
    """
    folder, name = os.path.split(path)
    try:
        with staged(folder, name) as temporary:
            with open_to_write(temporary) as file:
                file.write(content)
            move_over(temporary, path)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        # A refused write names no file.
        raise type(error)(error.errno, error.strerror, path) from error


def replace_text(path: str, text: str) -> None:
    """Writes a text file as a whole; see `replace_file`."""
    replace_file(path, text.encode("utf-8"))


def abandoned_in(folder: str, is_only_training: bool = False) -> list[str]:
    """Lists the staging folders of processes that are dead.

    Those that another machine made beside other files stay: clocks do not tell whether it is alive.

    Args:
      folder: a folder into which files are written.
      is_only_training: whether this process holds the folder's lock, so that no other training
        writes there.
    """
    paths = []
    for name in names_in(folder) if is_folder(folder) else []:
        match = _NAME.fullmatch(name)
        path = os.path.join(folder, name)
        if not match or path in _in_use:
            continue
        is_here, process = match[2] == this_machine(), int(match[3])
        is_dead = is_here and (process == os.getpid() or not is_running(process))
        if is_dead or (match[1] == "training" and is_only_training):
            paths.append(path)
    return paths


def remove_abandoned_staging(folder: str, is_only_training: bool = False) -> list[str]:
    """Removes the staging folders of dead processes.

    Args:
      folder: see `abandoned_in`.
      is_only_training: see `abandoned_in`.

    Returns:
      The paths of what stays, because the library cannot show that it wrote it.
    """
    with _lock:
        shared = _open.get(_place_of(folder))
    leftovers = shared.remove() if shared is not None else []  # after an error
    for path in abandoned_in(folder, is_only_training):
        leftovers += remove_own_folder(path)
    return leftovers


def open_to_write(path: str) -> IO[bytes]:
    """Opens a file, here or on an object store, to write it from the start."""
    if not is_remote(path):
        return open(path, "wb")
    import tensorflow as tf

    return tf.io.gfile.GFile(path, "wb")


def this_machine() -> str:
    """Returns a short text that stands for this machine's name."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def is_running(process: int) -> bool:
    """Returns whether a process with this ID runs on this machine."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _open_in(folder: str) -> _Staging | None:
    """Returns the staging folder of this process's training; None in a forked copy of it."""
    if not _open:
        return None
    with _lock:
        staging = _open.get(_place_of(folder))
    return staging if staging is not None and staging.process == os.getpid() else None


def _place_of(folder: str) -> _Place:
    if not is_remote(folder):
        with contextlib.suppress(OSError):
            status = os.stat(folder)
            return status.st_dev, status.st_ino
    return folder.rstrip("/")
