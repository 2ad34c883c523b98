"""One training at a time in a model_dir: two would overwrite each other's checkpoints.

On a local disk the operating system holds the lock, and releases it when the process dies, however
it dies. Object stores have no locks, and those of network disks may not work: there a training
writes a sign of life into the lock file every few seconds, and the next one watches for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import ModelDirInUseError

__all__ = ["LOCK_FILE", "is_running", "only_training"]

LOCK_FILE = ".estimator_bridge.lock"

_BEAT_SECS = 10.0
_PATIENCE_SECS = 3 * _BEAT_SECS
_NO_LOCKS_HERE = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_SHARED_DISKS = ("9p", "afs", "beegfs", "ceph", "cifs", "fuse", "gluster", "gpfs", "lustre", "nfs")

# By lock file: POSIX locks exclude other processes only.
_held_here: dict[str, _Holder] = {}
_registry = threading.Lock()


@dataclasses.dataclass(frozen=True)
class _Holder:
    """Who trains: what stands in the lock file.

    Attributes:
      host: the machine's name.
      process: its number there.
      started: when, in seconds since 1970.
      id: of this very training.
      beat: the count of its signs of life.
    """

    host: str
    process: int
    started: float
    id: str
    beat: int = 0


@contextlib.contextmanager
def only_training(model_dir: str, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Holds the lock of a model_dir within.

    The lock of a process that died is taken over. Where only its signs of life can tell, because
    it ran on another machine, that takes up to 30 seconds, and is logged.

    Args:
      model_dir: an existing folder, local or on an object store.
      sleep: waits so many seconds.

    Raises:
      ModelDirInUseError: another training holds it.
    """
    path = os.path.join(model_dir, LOCK_FILE)
    key = path if "://" in path else os.path.realpath(path)
    holder = _Holder(socket.gethostname(), os.getpid(), time.time(), uuid.uuid4().hex)
    with _registry:
        if key in _held_here and _held_here[key].process == os.getpid():  # no memory of a parent's
            raise _in_use(model_dir, _held_here[key])
        _held_here[key] = holder
    try:
        with _locked(model_dir, path) as file:
            if file.needs_signs_of_life:
                _wait_for_other_machine(model_dir, file, holder, sleep)
            file.write(holder)
            if isinstance(file, _UnlockedFile):
                sleep(1.0)  # of two that start together, the one that wrote last has it
                now = file.read()
                if now and now.id != holder.id:
                    raise _in_use(model_dir, now)
            try:
                with _signs_of_life(file, holder):
                    yield
            finally:  # while it is locked, so that nobody else's is removed
                with contextlib.suppress(tf.errors.OpError):
                    tf.io.gfile.remove(path)
    finally:
        with _registry:
            del _held_here[key]


class _LockedFile:
    """A local lock file, which the operating system has locked for this process.

    It is read and written through the one descriptor: a close of any other of the same file would
    end the lock.
    """

    def __init__(self, path: str, descriptor: int):
        self._descriptor = descriptor
        self.needs_signs_of_life = _is_shared_disk(path)

    def read(self) -> _Holder | None:
        """Who wrote it last; None where nobody has, or not to the end."""
        return _parsed(os.pread(self._descriptor, 4096, 0))

    def write(self, holder: _Holder) -> None:
        """Names the holder."""
        text = _text(holder).encode()
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))


class _UnlockedFile:
    """A lock file where there are no locks: on an object store, for example."""

    needs_signs_of_life = True

    def __init__(self, path: str):
        self._path = path

    def read(self) -> _Holder | None:
        """Who wrote it last; None where nobody has, or not to the end."""
        try:
            with tf.io.gfile.GFile(self._path, "rb") as file:
                return _parsed(file.read())
        except tf.errors.OpError:
            return None

    def write(self, holder: _Holder) -> None:
        """Names the holder."""
        with tf.io.gfile.GFile(self._path, "w") as file:
            file.write(_text(holder))


@contextlib.contextmanager
def _locked(model_dir: str, path: str) -> Iterator[_LockedFile | _UnlockedFile]:
    descriptor = None if "://" in path else _locked_descriptor(model_dir, path)
    if descriptor is None:
        yield _UnlockedFile(path)
        return
    try:
        yield _LockedFile(path, descriptor)
    finally:
        os.close(descriptor)


def _locked_descriptor(model_dir: str, path: str) -> int | None:
    """Opens and locks a local file; None where the file system has no locks."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except PermissionError as error:
            raise ModelDirInUseError(
                f"Another user's training holds or has left the lock of model_dir {model_dir!r}: "
                f"{error}. If none is running there, delete {path}."
            ) from error
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _parsed(os.pread(descriptor, 4096, 0))
            os.close(descriptor)
            if error.errno in _NO_LOCKS_HERE:
                return None
            if error.errno in (errno.EACCES, errno.EAGAIN):
                raise _in_use(model_dir, holder) from None
            raise
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == os.stat(path).st_ino:
                return descriptor
        os.close(descriptor)  # its last holder has deleted it meanwhile


def _wait_for_other_machine(
    model_dir: str,
    file: _LockedFile | _UnlockedFile,
    holder: _Holder,
    sleep: Callable[[float], None],
) -> None:
    """Returns when the training that the file names is known to have died."""
    before = file.read()
    if before is None:
        return
    if before.host == holder.host:
        if before.process != holder.process and is_running(before.process):
            raise _in_use(model_dir, before)
        return
    logging.info(
        "%s was locked by process %s on %s: waiting up to %d s for a sign of life from it.",
        model_dir,
        before.process,
        before.host,
        _PATIENCE_SECS,
    )
    for _ in range(int(_PATIENCE_SECS)):
        sleep(1.0)
        now = file.read()
        if now is None:
            return  # it has ended
        if now != before:
            raise _in_use(model_dir, now)


@contextlib.contextmanager
def _signs_of_life(file: _LockedFile | _UnlockedFile, holder: _Holder) -> Iterator[None]:
    """Rewrites the file every few seconds, from a thread, where that is needed."""
    if not file.needs_signs_of_life:
        yield
        return
    ended = threading.Event()

    def beat() -> None:
        count = 0
        while not ended.wait(_BEAT_SECS):
            count += 1
            try:
                file.write(dataclasses.replace(holder, beat=count))
            except (OSError, tf.errors.OpError) as error:
                logging.warning("The lock of the model_dir could not be renewed: %s", error)

    thread = threading.Thread(target=beat, name="estimator_bridge model_dir lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _in_use(model_dir: str, holder: _Holder | None) -> ModelDirInUseError:
    who, since = "another process", ""
    if holder:
        who = f"process {holder.process} on {holder.host}"
        since = f", for {_age(time.time() - holder.started)}"
    return ModelDirInUseError(
        f"model_dir {model_dir!r} is being trained into by {who}{since}. Two trainings would "
        "overwrite each other's checkpoints. Stop that one, wait for its end, or use another "
        "model_dir."
    )


def _age(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} seconds"


def is_running(process: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_shared_disk(path: str) -> bool:
    """Whether other machines may see the file, and their locks perhaps not be seen here."""
    folder = os.path.realpath(os.path.dirname(path))
    best, kind = "", ""
    with contextlib.suppress(OSError), open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, place, file_system, *_ = line.split(" ")
            is_above = place in ("/", folder) or folder.startswith(place + "/")
            if is_above and len(place) >= len(best):
                best, kind = place, file_system
    return kind.startswith(_SHARED_DISKS)


def _text(holder: _Holder) -> str:
    return json.dumps(dataclasses.asdict(holder))


def _parsed(text: bytes) -> _Holder | None:
    try:
        return _Holder(**json.loads(text))
    except (ValueError, TypeError):  # half written, or of another release
        return None
