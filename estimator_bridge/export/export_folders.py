"""Export folders, named by a timestamp, that appear complete or not at all."""

from __future__ import annotations

import contextlib
import contextvars
import os
import re
import time
from collections.abc import Iterator

import tensorflow as tf

from estimator_bridge.checkpoint import check_model_dir, watched_folder
from estimator_bridge.errors import ModelDirLostError
from estimator_bridge.own_files import (
    is_running,
    log_once,
    make_own_folder,
    move_new,
    new_token,
    record_folder,
    remove_empty_folder,
    remove_own_folder,
    this_machine,
)

__all__ = ["Version", "new_version", "number_of", "recorded_exports", "remove_abandoned"]

# The creation time, the machine, the process and the token. The start is that of the original.
_TEMPORARY = re.compile(r"temp-(\d{10})-([0-9a-f]{8})-(\d+)-[0-9a-f]{32}")
_LIKE_TEMPORARY = re.compile(r"temp-\d{10}(-.+)?")
_LONG_AGO_SECS = 24 * 3600
# The numbers of exports have ten digits. A clock that was never set may be before or after these;
# later exports have larger numbers, and what is beyond the end is a user's own.
_FIRST, _LAST_CLOCK, _END = 10**9, 5 * 10**9, 9 * 10**9

_is_recorded: contextvars.ContextVar[bool] = contextvars.ContextVar("is_recorded", default=False)


@contextlib.contextmanager
def recorded_exports() -> Iterator[None]:
    """Within this context, an export holds a record of its files, so that it can be deleted later.

    The record is there before the export gets its name: a kill leaves no export without one.
    """
    token = _is_recorded.set(True)
    try:
        yield
    finally:
        _is_recorded.reset(token)


class Version:
    """A folder that is being written.

    Attributes:
      temporary: the folder during the write; created empty.
      final: its path once the export is complete; None until then.
    """

    def __init__(self, temporary: str):
        self.temporary = temporary
        self.final: str | None = None

    def check(self) -> None:
        """Checks that no folder on the way was lost, before a writer would recreate it.

        Raises:
          ModelDirLostError: one was removed, renamed or replaced.
        """
        check_model_dir(self.temporary)


@contextlib.contextmanager
def new_version(export_dir_base: str, now: float | None = None) -> Iterator[Version]:
    """Creates the folder of a new version of a served model.

    While it is being written, the folder has a temporary name that is not a number, so TensorFlow
    Serving ignores it. At the end it gets its final name; on an error it is removed.

    Args:
      export_dir_base: the folder of all versions; created if missing.
      now: seconds since 1970; the current time by default.

    Yields:
      The version.
    """
    check_model_dir(export_dir_base)
    timestamp = _in_range(time.time() if now is None else now)
    is_new = not tf.io.gfile.exists(export_dir_base)
    # Unique across processes: a file system does not record which process made a folder.
    token = new_token()
    name = f"temp-{timestamp}-{this_machine()}-{os.getpid()}-{token}"
    staging = os.path.join(export_dir_base, name)
    version = Version(os.path.join(staging, f"{token}.export"))
    remove_abandoned(export_dir_base, timestamp)
    try:
        make_own_folder(staging, token)
        tf.io.gfile.makedirs(version.temporary)
        with watched_folder(staging, "export", "The export's folder"):
            yield version
            version.check()
            if _is_recorded.get():
                record_folder(version.temporary)
            first = _after_others(export_dir_base, timestamp)
            version.final = _publish(version.temporary, export_dir_base, first)
    except ModelDirLostError:
        raise  # nothing here can be shown to be this export's
    except BaseException:
        with contextlib.suppress(OSError, tf.errors.OpError):  # the first error counts
            remove_own_folder(staging)
            if is_new:
                remove_empty_folder(export_dir_base)
        raise
    remove_own_folder(staging)


def remove_abandoned(base: str, now: float | None = None) -> None:
    """Removes leftovers of killed exports: those of dead processes of this machine.

    Whether another machine's process is dead, neither its age nor a clock shows. So its folders
    stay, as those of TensorFlow do. A line names them once, the other machine's after a day.

    Args:
      base: the folder of all versions; may be missing.
      now: seconds since 1970; the current time by default.
    """
    now = time.time() if now is None else now
    leftovers = []
    for name in tf.io.gfile.listdir(base) if tf.io.gfile.isdir(base) else []:
        match = _TEMPORARY.fullmatch(name.rstrip("/"))
        if match is None:
            leftovers += [name.rstrip("/")] if _LIKE_TEMPORARY.fullmatch(name.rstrip("/")) else []
            continue
        creation_time, machine, process = int(match[1]), match[2], int(match[3])
        if machine == this_machine() and not is_running(process):
            # Another process may be faster.
            with contextlib.suppress(FileNotFoundError, tf.errors.NotFoundError):
                others = remove_own_folder(os.path.join(base, match[0]))
                leftovers += [os.path.relpath(path, base) for path in others]
        elif now - creation_time > _LONG_AGO_SECS:
            leftovers.append(match[0])
    log_once(
        base,
        "%s has folders that a killed export may have left: %s. It cannot be shown that this "
        "library wrote them and that no other machine still writes there, so they stay. Delete "
        "them if nobody needs them.",
        leftovers,
    )


def number_of(name: str) -> int | None:
    """Returns the number of an export's folder; None if the name is not one of an export.

    A user may have folders with names such as 1, 20240101 or 99999999999.

    Args:
      name: the name of a folder among exports.
    """
    number = int(name) if len(name) == 10 and name.isascii() and name.isdigit() else 0
    return number if _FIRST <= number < _END else None


def _in_range(timestamp: float) -> int:
    """Returns the time as a number of an export."""
    return min(max(int(timestamp), _FIRST), _LAST_CLOCK)


def _after_others(base: str, timestamp: int) -> int:
    """Returns the first free number, from now on, after all existing versions.

    A later export must not get a smaller number, whatever the clock says: TensorFlow Serving serves
    the largest, and exporters delete the smallest.
    """
    names = [name.rstrip("/") for name in tf.io.gfile.listdir(base)]
    numbers = [number for name in names if (number := number_of(name)) is not None]
    return max([timestamp, *(number + 1 for number in numbers)])


def _publish(temporary: str, base: str, timestamp: int) -> str:
    """Renames a folder to the first free second from a timestamp on."""
    while not move_new(temporary, os.path.join(base, str(timestamp))):
        timestamp += 1
    return os.path.join(base, str(timestamp))
