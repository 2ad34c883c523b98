"""Reads files and folders of this machine, or of an object store by `tf.io.gfile`.

TensorFlow is imported for paths such as gs://bucket/file only: checks of local files come before
it is loaded. Errors are those of Python's own functions.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import io
import ntpath
import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, TextIO

__all__ = [
    "check_is_file",
    "check_is_no_pipe",
    "check_no_pipes_below",
    "exists",
    "files_below",
    "is_folder",
    "is_plain_name",
    "is_remote",
    "matching",
    "names_in",
    "open_bytes",
    "open_text",
    "read_at_most",
]

_BUFFER = 1 << 20


def is_remote(path: str | bytes | os.PathLike[str]) -> bool:
    """Returns whether a path is of an object store, such as gs://bucket/file."""
    return "://" in os.fsdecode(path)


def exists(path: str) -> bool:
    """Returns whether there is such a file or folder."""
    if not is_remote(path):
        return os.path.exists(path)
    with _as_os_error(path):
        return bool(_gfile().exists(path))


def is_folder(path: str) -> bool:
    """Returns whether there is such a folder."""
    if not is_remote(path):
        return os.path.isdir(path)
    with _as_os_error(path):
        return bool(_gfile().isdir(path))


def names_in(folder: str) -> list[str]:
    """Returns the names in a folder, in order."""
    if not is_remote(folder):
        return sorted(os.listdir(folder))
    with _as_os_error(folder):
        return sorted(name.rstrip("/") for name in _gfile().listdir(folder))


def files_below(folder: str) -> list[str]:
    """Returns the paths of all files of a folder and of its folders, in order."""
    if not is_remote(folder):
        walk = sorted(os.walk(folder))
    else:
        with _as_os_error(folder):
            walk = sorted(_gfile().walk(folder))
    return [os.path.join(inner, name) for inner, _, names in walk for name in sorted(names)]


def matching(pattern: str) -> list[str]:
    """Returns the paths that match a pattern, in order."""
    if not is_remote(pattern):
        return sorted(glob.glob(pattern))
    with _as_os_error(pattern):
        try:
            return sorted(_gfile().glob(pattern))
        except _not_found():
            return []


def is_plain_name(name: object) -> bool:
    """Returns whether a name from a foreign file is that of a file in the same folder.

    Others, such as ``../secret`` or ``C:secret``, lead out of it on some system.
    """
    if not isinstance(name, str) or name in ("", ".", "..") or "\0" in name:
        return False
    return ntpath.basename(name) == name  # of Windows: it knows drives and both separators


def check_is_file(path: str | bytes) -> None:
    """Checks that a path is not a pipe or a device, before it is opened.

    Opening a pipe waits for its writer, and a device such as /dev/zero never ends.

    Raises:
      OSError: it is one, or there is no such file. Paths of an object store pass.
    """
    if is_remote(path):
        return
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "is a pipe or a device, not a file", path)


def check_is_no_pipe(path: str | bytes) -> None:
    """Does what `check_is_file` does, but leaves a missing file to what opens it.

    Raises:
      OSError: it is a pipe or a device.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        check_is_file(path)


def check_no_pipes_below(folder: str) -> None:
    """Checks that a folder, such as a SavedModel's, has no pipes and devices in any depth.

    Raises:
      OSError: it has one; `filename` has its path.
    """
    if not is_remote(folder) and os.path.isdir(folder):
        for path in files_below(folder):
            check_is_no_pipe(path)


def open_bytes(path: str) -> BinaryIO:
    """Opens a file to read its bytes.

    Raises:
      OSError: it cannot be opened, or is a pipe or a device: see `check_is_file`.
    """
    check_is_file(path)
    if not is_remote(path):
        return open(path, "rb")
    return io.BufferedReader(_RemoteFile(path), _BUFFER)


def open_text(path: str, encoding: str = "utf-8", newline: str | None = None) -> TextIO:
    """Opens a file to read its text; see `open_bytes`, and Python's own ``open``."""
    check_is_file(path)
    if not is_remote(path):
        return open(path, encoding=encoding, newline=newline)
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline=newline)


def read_at_most(file: Any, count: int) -> bytes:
    """Returns the next bytes of a file, at most a number of them, block by block.

    Python's own ``read(count)`` first allocates as many bytes, which may be what a foreign header
    states.
    """
    blocks = []
    while count > 0 and (block := file.read(min(count, _BUFFER))):
        blocks.append(block)
        count -= len(block)
    return b"".join(blocks)


class _RemoteFile(io.RawIOBase):
    """A file of `tf.io.gfile`, as Python's own buffers read it.

    Raises:
      OSError: there is no such file, or it cannot be read.
    """

    def __init__(self, path: str):
        super().__init__()
        self._path = path
        with _as_os_error(path):
            self._file = _gfile().GFile(path, "rb")
            self._file.size()  # opening looks at nothing

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _as_os_error(self._path):
            content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _gfile() -> Any:
    import tensorflow as tf

    return tf.io.gfile


def _not_found() -> type[Exception]:
    import tensorflow as tf

    return tf.errors.NotFoundError


@contextlib.contextmanager
def _as_os_error(path: str) -> Iterator[None]:
    """Turns the errors of `tf.io.gfile` into those of Python's own functions."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.NotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, "No such file or folder", path) from error
    except tf.errors.OpError as error:
        raise OSError(errno.EIO, f"cannot be read: {error.message}", path) from error
