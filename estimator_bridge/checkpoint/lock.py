"""Locks a model_dir for one training: two would overwrite each other's checkpoints.

On a local disk the operating system holds the lock and releases it whenever the process dies.
Object stores have no locks, and those of network disks may not work: there, a training writes a
heartbeat into the lock file every few seconds, and the next training watches for it.
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
from estimator_bridge.own_files import is_running, remove_file

__all__ = ["LOCK_FILE", "only_training"]

LOCK_FILE = ".estimator_bridge.lock"

_BEAT_SECS = 10.0
_PATIENCE_SECS = 3 * _BEAT_SECS
_NO_LOCKS_HERE = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_SHARED_DISKS = ("9p", "afs", "beegfs", "ceph", "cifs", "fuse", "gluster", "gpfs", "lustre", "nfs")

# By lock file: POSIX locks exclude only other processes.
_held_here: dict[str, _Holder] = {}
_registry = threading.Lock()


@dataclasses.dataclass(frozen=True)
class _Holder:
    """The training that holds the lock: the content of the lock file.

    Attributes:
      host: the machine's name.
      process: the process ID on that machine.
      started: the start time, in seconds since 1970.
      id: a unique ID of this training.
      beat: the number of heartbeats so far.
    """

    host: str
    process: int
    started: float
    id: str
    beat: int = 0


@contextlib.contextmanager
def only_training(model_dir: str, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Holds the lock of a model_dir within the context.

    The lock of a dead process is taken over. If the process ran on another machine, only missing
    heartbeats show that it died; waiting for them takes up to 30 seconds and is logged.

    Args:
      model_dir: an existing folder, local or on an object store.
      sleep: waits for a number of seconds.

    Raises:
      ModelDirInUseError: another training holds the lock.
    """
    path = os.path.join(model_dir, LOCK_FILE)
    key = path if "://" in path else os.path.realpath(path)
    holder = _Holder(socket.gethostname(), os.getpid(), time.time(), uuid.uuid4().hex)
    with _registry:
        if key in _held_here and _held_here[key].process == os.getpid():  # not a forked copy
            raise _in_use(model_dir, _held_here[key])
        _held_here[key] = holder
    try:
        with _locked(model_dir, path) as file:
            if file.needs_signs_of_life:
                _wait_for_other_machine(model_dir, file, holder, sleep)
            file.write(holder)
            if isinstance(file, _UnlockedFile):
                sleep(1.0)  # of two that start together, the last writer wins
                now = file.read()
                if now and now.id != holder.id:
                    raise _in_use(model_dir, now)
            try:
                with _signs_of_life(file, holder):
                    yield
            finally:  # still locked: nobody else's file is removed
                with contextlib.suppress(OSError, tf.errors.OpError):
                    remove_file(path)
    finally:
        with _registry:
            del _held_here[key]


class _LockedFile:
    """A local lock file, locked by the operating system for this process.

    All reads and writes use one descriptor: closing any other descriptor of the file would release
    the lock.
    """

    def __init__(self, path: str, descriptor: int):
        self._descriptor = descriptor
        self.needs_signs_of_life = _is_shared_disk(path)

    def read(self) -> _Holder | None:
        """Returns the last holder written; None if there is none or the write was cut short."""
        return _parsed(os.pread(self._descriptor, 4096, 0))

    def write(self, holder: _Holder) -> None:
        """Writes the holder."""
        text = _text(holder).encode()
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))


class _UnlockedFile:
    """A lock file on a file system without locks, such as an object store."""

    needs_signs_of_life = True

    def __init__(self, path: str):
        self._path = path

    def read(self) -> _Holder | None:
        """Returns the last holder written; None if there is none or the write was cut short."""
        try:
            with tf.io.gfile.GFile(self._path, "rb") as file:
                return _parsed(file.read())
        except tf.errors.OpError:
            return None

    def write(self, holder: _Holder) -> None:
        """Writes the holder."""
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
    """Opens and locks a local file; returns None if the file system has no locks."""
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
        os.close(descriptor)  # its last holder has deleted it in the meantime


def _wait_for_other_machine(
    model_dir: str,
    file: _LockedFile | _UnlockedFile,
    holder: _Holder,
    sleep: Callable[[float], None],
) -> None:
    """Returns once the training that the file names is known to have died or ended."""
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
            return  # the training has ended
        if now != before:
            raise _in_use(model_dir, now)


@contextlib.contextmanager
def _signs_of_life(file: _LockedFile | _UnlockedFile, holder: _Holder) -> Iterator[None]:
    """Rewrites the file every few seconds from a thread, if heartbeats are needed."""
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


def _is_shared_disk(path: str) -> bool:
    """Returns whether other machines may see the file and their locks may be invisible here."""
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
    except (ValueError, TypeError):  # partly written, or from another release
        return None
