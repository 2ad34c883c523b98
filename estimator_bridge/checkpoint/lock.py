"""Locks a model_dir for one training: two would overwrite each other's checkpoints.

On a local disk the operating system holds the lock and releases it whenever the process dies.
Object stores have no locks, and those of network disks may not work: there, a training writes a
heartbeat into the lock file every few seconds, and the next training watches for it.

A lock is worth nothing once the folder has been removed, renamed or replaced: its name is free for
a second training. So the first one looks every two seconds whether its folder and its lock are in
place, and again before it writes a checkpoint. If not, it ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.folder_place import FolderPlace, folder_place
from estimator_bridge.checkpoint.lock_files import LOCK_FILE, LockFile, StoredLockFile, opened_lock
from estimator_bridge.checkpoint.lock_holder import Holder, in_use, new_holder, parsed_holder
from estimator_bridge.checkpoint.watched_folders import check_watched_folders
from estimator_bridge.errors import ModelDirLostError
from estimator_bridge.own_files import is_running

__all__ = [
    "LOCK_FILE",
    "check_model_dir",
    "check_own_training",
    "only_training",
]

_BEAT_SECS = 10.0
_PATIENCE_SECS = 3 * _BEAT_SECS
_CHECK_SECS = 2.0

# By folder. POSIX locks exclude only other processes, and a folder may have several names.
_held_here: dict[Any, _Training] = {}
_registry = threading.Lock()
# The thread's own training, for the check between its steps.
_of_thread = threading.local()


class _Training:
    """A training of this process, and the lock that it holds.

    Args:
      model_dir: the folder, as the program names it.
      holder: its entry in the lock file.
      clock: returns the time in seconds.

    Attributes:
      holder: see above.
      file: the lock file; None until it is locked.
      place: the folder; None until then, and on an object store.
    """

    def __init__(self, model_dir: str, holder: Holder, clock: Callable[[], float] = time.monotonic):
        self.holder = holder
        self.file: LockFile | None = None
        self.place: FolderPlace | None = None
        self._model_dir, self._clock = model_dir, clock
        self._thread = threading.get_ident()
        self._path = model_dir if "://" in model_dir else os.path.abspath(model_dir)
        self._loss: str | None = None
        self._check_at = clock() + _CHECK_SECS

    @property
    def name(self) -> str:
        """The folder, as the program names it."""
        return self._model_dir

    @property
    def is_own(self) -> bool:
        """True if this thread trains."""
        return self._thread == threading.get_ident() and self.holder.process == os.getpid()

    def has(self, path: str) -> bool:
        """Returns whether the program would write a path into the folder."""
        starts = {self._model_dir, self._path}
        return self.holder.process == os.getpid() and any(
            path == start or path.startswith(os.path.join(start, "")) for start in starts
        )

    def look(self) -> None:
        """Looks whether the folder is in place, and remembers it."""
        if self._loss is None and self.file is not None:
            self._loss = self.file.loss(self.holder)

    def look_now_and_then(self) -> None:
        """Checks the folder every two seconds; a thread looks at one on a disk that may be slow.

        Raises:
          ModelDirLostError: the folder has been removed, renamed or replaced.
        """
        now = self._clock()
        if now < self._check_at or self.holder.process != os.getpid():
            return
        self._check_at = now + _CHECK_SECS
        if self.file is not None and not self.file.needs_signs_of_life:
            self.look()
        self.check()

    @property
    def has_lost(self) -> bool:
        """True if the loss of the folder has been noticed."""
        return self._loss is not None

    def check(self) -> None:
        """Raises the loss of the folder, if it has been noticed.

        Raises:
          ModelDirLostError: it has been removed, renamed or replaced.
        """
        if self._loss is not None:
            raise ModelDirLostError(
                f"model_dir {self._model_dir!r} {self._loss}. This training ends and writes "
                "nothing more there, because its lock no longer keeps another training out. Let a "
                "training end before its model_dir is moved or removed."
            )

    def check_name(self) -> None:
        """Checks that the program's name for the folder leads to it.

        Raises:
          ModelDirLostError: the name is relative, and the working directory has changed.
        """
        loss = self.place and self.place.loss_of_name()
        if loss:
            raise ModelDirLostError(
                f"model_dir {self._model_dir!r} {loss}. Nothing is written there. Use an absolute "
                "path as model_dir, or change the working directory back before a checkpoint."
            )


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
      ModelDirLostError: the folder was removed or replaced at this moment.
    """
    model_dir = os.fspath(model_dir)
    training = _Training(model_dir, new_holder())
    with (
        folder_place(model_dir) as place,
        _register(model_dir, place, training),
        opened_lock(model_dir, place) as file,
    ):
        if file.needs_signs_of_life:
            _wait_for_other_machine(model_dir, file, training.holder, sleep)
        file.write(training.holder)
        if isinstance(file, StoredLockFile):
            sleep(1.0)  # of two that start together, the last writer wins
            now = file.read()
            if now and now.id != training.holder.id:
                raise in_use(model_dir, now)
        training.file, training.place = file, place
        outer = getattr(_of_thread, "training", None)
        _of_thread.training = training
        try:
            training.look()
            training.check()
            with _signs_of_life(training, file):
                yield
        finally:  # still locked
            _of_thread.training = outer
            file.remove(training.holder)


def check_own_training() -> None:
    """Checks now and then that a training in this thread has its folder; call it between steps.

    Raises:
      ModelDirLostError: the folder has been removed, renamed or replaced.
    """
    training = getattr(_of_thread, "training", None)
    if training is not None:
        training.look_now_and_then()


def check_model_dir(path: str) -> None:
    """Checks, before a path is written, that it does not recreate a lost model_dir.

    Args:
      path: a file or a folder. It matters only if this process trains in the folder that holds
        it, or this thread evaluates it or exports to it, see `watched_folder`.

    Raises:
      ModelDirLostError: the folder has been removed, renamed or replaced.
    """
    trainings = [training for training in _held_here.copy().values() if training.has(path)]
    # A second training of this process may have begun under the name that the first has lost.
    own_trainings = [training for training in trainings if training.is_own]
    for training in own_trainings[-1:] or trainings:
        training.look()
        training.check()
        training.check_name()
    check_watched_folders(path)


@contextlib.contextmanager
def _register(model_dir: str, place: FolderPlace | None, training: _Training) -> Iterator[None]:
    """Excludes other trainings of this process, before they open the lock file."""
    key = model_dir if place is None else place.identity
    with _registry:
        other = _held_here.get(key)
        if other is not None and other.holder.process == os.getpid():  # not a forked copy
            raise in_use(model_dir, other.holder)
        _held_here[key] = training
    try:
        yield
    finally:
        with _registry:
            del _held_here[key]


def _wait_for_other_machine(
    model_dir: str, file: LockFile, holder: Holder, sleep: Callable[[float], None]
) -> None:
    """Returns once the training that the file names is known to have died or ended."""
    content = file.content()
    if not content:
        return
    before = parsed_holder(content)
    if before is not None and before.host == holder.host:
        if before.process != holder.process and is_running(before.process):
            raise in_use(model_dir, before)
        return
    logging.info(
        "%s was locked by %s: waiting up to %d s for a sign of life from it.",
        model_dir,
        before or "an unknown process",  # the file is cut short while it is being written
        _PATIENCE_SECS,
    )
    for _ in range(int(_PATIENCE_SECS)):
        sleep(1.0)
        now = file.content()
        if now == b"":
            return  # the training has ended
        if now is not None and now != content:
            raise in_use(model_dir, parsed_holder(now))


@contextlib.contextmanager
def _signs_of_life(training: _Training, file: LockFile) -> Iterator[None]:
    """Writes heartbeats where they are needed, in a thread that also checks the folder."""
    if not file.needs_signs_of_life:
        yield
        return
    end = threading.Event()

    def beat() -> None:
        count, beat_at = 0, time.monotonic() + _BEAT_SECS
        while not end.wait(min(file.check_secs, _BEAT_SECS)):
            try:
                training.look()
                if training.has_lost:
                    return  # the file may be another training's
                if time.monotonic() >= beat_at:
                    count, beat_at = count + 1, time.monotonic() + _BEAT_SECS
                    file.write(dataclasses.replace(training.holder, beat=count))
            except (OSError, tf.errors.OpError) as error:
                logging.warning("The lock of the model_dir could not be renewed: %s", error)

    thread = threading.Thread(target=beat, name="estimator_bridge model_dir lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join(_PATIENCE_SECS)
        if thread.is_alive():
            logging.warning(
                "A write to the lock of the model_dir %s has not returned within %d s, and is left "
                "alone. The next training there may wait as long for a sign of life.",
                training.name,
                _PATIENCE_SECS,
            )
