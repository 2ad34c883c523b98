"""The file that locks a model_dir, on disks with locks and without them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator

import tensorflow as tf

from estimator_bridge.checkpoint.folder_place import FolderPlace, is_shared_disk
from estimator_bridge.checkpoint.lock_holder import (
    Holder,
    in_use,
    is_of_holder,
    parsed_holder,
    text_of,
)
from estimator_bridge.errors import ModelDirInUseError
from estimator_bridge.own_files import remove_file, remove_open_file, set_aside

__all__ = ["LOCK_FILE", "LockFile", "StoredLockFile", "opened_lock"]

LOCK_FILE = ".estimator_bridge.lock"

_MOST_BYTES = 4096
_NO_LOCKS_HERE = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class LockFile:
    """A lock file.

    Attributes:
      needs_signs_of_life: whether the lock of a dead process may look like that of a living one.
      check_secs: the seconds between two checks of its place.
    """

    needs_signs_of_life = True
    check_secs = 2.0

    def content(self) -> bytes | None:
        """Returns the content; b"" if there is no file, None if it cannot be read now."""
        raise NotImplementedError

    def write(self, holder: Holder) -> None:
        """Writes the holder."""
        raise NotImplementedError

    def loss(self, holder: Holder) -> str | None:
        """Returns what became of the folder or the lock; None while both are in place.

        Args:
          holder: the training that has written the file.
        """
        raise NotImplementedError

    def remove(self, holder: Holder) -> None:
        """Removes the file, unless it is another training's."""
        raise NotImplementedError

    def read(self) -> Holder | None:
        """Returns the last holder written; None if there is none or the write was cut short."""
        return parsed_holder(self.content() or b"")


class LocalLockFile(LockFile):
    """A file locked by the operating system for this process.

    All reads and writes use one descriptor: closing any other descriptor of the file would release
    the lock.

    Args:
      place: its folder.
      descriptor: the file's.
    """

    def __init__(self, place: FolderPlace, descriptor: int):
        self._place, self._descriptor = place, descriptor
        self._path = os.path.join(place.path, LOCK_FILE)
        self._is_shared = self.needs_signs_of_life = is_shared_disk(place.path)

    def content(self) -> bytes:
        """Returns the content."""
        return os.pread(self._descriptor, _MOST_BYTES, 0)

    def write(self, holder: Holder) -> None:
        """Writes the holder."""
        text = text_of(holder)
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))

    def loss(self, holder: Holder) -> str | None:
        """See ``LockFile``."""
        loss = self._place.loss() or self._loss_of_file()
        if loss and self._is_shared and self._is_named(holder):
            loss = None  # only the inodes have changed
        if loss or self._locks_again():
            return loss
        return f"is still there, but another training holds its lock, {LOCK_FILE}"

    def remove(self, holder: Holder) -> None:
        """Removes the file, wherever its folder is now."""
        if holder.process != os.getpid():
            return  # a forked copy of the training
        with contextlib.suppress(OSError):
            remove_open_file(LOCK_FILE, self._place.descriptor, self._descriptor)

    def _loss_of_file(self) -> str | None:
        try:
            if os.path.samestat(os.lstat(self._path), os.fstat(self._descriptor)):
                return None
        except FileNotFoundError:
            return f"is still there, but its lock, {LOCK_FILE}, was removed"
        except OSError:  # see `FolderPlace.loss`
            return None
        return f"is still there, but its lock, {LOCK_FILE}, was replaced"

    def _is_named(self, holder: Holder) -> bool:
        """Returns whether the file by its name is the holder's."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            stored_holder = parsed_holder(os.read(descriptor, _MOST_BYTES))
        except OSError:
            return False
        finally:
            os.close(descriptor)  # this may release the lock, which is then taken again
        return stored_holder is not None and stored_holder.id == holder.id

    def _locks_again(self) -> bool:
        """Takes the lock again, in case the program itself has copied the folder: see the class."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True


class StoredLockFile(LockFile):
    """A lock file on a file system without locks, such as an object store.

    Args:
      model_dir: the folder.
    """

    check_secs = 10.0  # each is a request

    def __init__(self, model_dir: str):
        self._path = os.path.join(model_dir, LOCK_FILE)

    def content(self) -> bytes | None:
        """See ``LockFile``."""
        try:
            return self._read()
        except tf.errors.NotFoundError:
            return b""
        except tf.errors.OpError:
            return None

    def write(self, holder: Holder) -> None:
        """Writes the holder."""
        with tf.io.gfile.GFile(self._path, "w") as file:
            file.write(text_of(holder).decode())

    def loss(self, holder: Holder) -> str | None:
        """See ``LockFile``."""
        try:
            stored_holder = parsed_holder(self._read())
        except tf.errors.NotFoundError:
            return f"was removed or renamed, or its lock, {LOCK_FILE}, was removed"
        except tf.errors.OpError:
            return None
        if stored_holder is not None and stored_holder.id != holder.id:
            return f"has the lock of another training now, {stored_holder}"
        return None

    def remove(self, holder: Holder) -> None:
        """Removes the file, unless it is another training's."""
        stored_holder = self.read()
        if (
            holder.process == os.getpid()
            and stored_holder is not None
            and stored_holder.id == holder.id
        ):
            with contextlib.suppress(tf.errors.OpError):
                remove_file(self._path)

    def _read(self) -> bytes:
        with tf.io.gfile.GFile(self._path, "rb") as file:
            return file.read(_MOST_BYTES)


@contextlib.contextmanager
def opened_lock(model_dir: str, place: FolderPlace | None) -> Iterator[LockFile]:
    """Opens the lock file of a folder and locks it, if its file system can.

    Args:
      model_dir: the folder.
      place: the same; None on an object store.

    Raises:
      ModelDirInUseError: another process has locked it, or what has its name is not a lock.
    """
    descriptor = None if place is None else _locked_descriptor(model_dir, place.descriptor)
    if place is None or descriptor is None:
        file = StoredLockFile(model_dir)
        content = file.content()
        if content and not is_of_holder(content):
            _set_aside(model_dir)
        yield file
        return
    try:
        yield LocalLockFile(place, descriptor)
    finally:
        os.close(descriptor)


def _locked_descriptor(model_dir: str, folder: int) -> int | None:
    """Opens and locks a local file; returns None if the file system has no locks."""
    while True:
        descriptor = _descriptor(model_dir, folder)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = parsed_holder(os.pread(descriptor, _MOST_BYTES, 0))
            os.close(descriptor)
            if error.errno in _NO_LOCKS_HERE:
                return None
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise in_use(model_dir, holder) from None
            raise
        with contextlib.suppress(FileNotFoundError):
            in_place = os.stat(LOCK_FILE, dir_fd=folder, follow_symlinks=False)
            if os.path.samestat(os.fstat(descriptor), in_place):
                if _is_lock(descriptor, in_place):
                    return descriptor
                _set_aside(model_dir)
        os.close(descriptor)  # its last holder has deleted it in the meantime


def _descriptor(model_dir: str, folder: int) -> int:
    path = os.path.join(model_dir, LOCK_FILE)
    try:
        # What stands there may be a link to a file of the user's, or a pipe.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(LOCK_FILE, flags, 0o666, dir_fd=folder)
    except PermissionError as error:
        raise ModelDirInUseError(
            f"Another user's training holds or has left the lock of model_dir {model_dir!r}: "
            f"{error}. If none is running there, delete {path}."
        ) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _not_a_lock(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _not_a_lock(path)
    return descriptor


def _is_lock(descriptor: int, status: os.stat_result) -> bool:
    """Returns whether a file was written as a lock, or is new, and not one of the user's."""
    content = os.pread(descriptor, _MOST_BYTES, 0)
    return is_of_holder(content) if content else status.st_nlink == 1


def _set_aside(model_dir: str) -> None:
    set_aside(os.path.join(model_dir, LOCK_FILE), "has the name of a training's lock, but is none")


def _not_a_lock(path: str) -> ModelDirInUseError:
    return ModelDirInUseError(
        f"{path} must be the lock file of a training, but is a link, a folder or a device. This "
        "library makes no such thing: move it away, or use another model_dir."
    )
