"""Export folders, named by a timestamp, that appear complete or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import time
import uuid
from collections.abc import Iterator

import tensorflow as tf

from estimator_bridge.checkpoint import check_model_dir, is_running

__all__ = ["Version", "new_version", "number_of", "remove_abandoned"]

# The creation time, the machine and the process.
_TEMPORARY = re.compile(r"temp-(\d{10})-([0-9a-f]{8})-(\d+)-[0-9a-f]{4}")
_LONG_AGO_SECS = 24 * 3600
# The numbers of exports have ten digits. A clock that was never set may be before or after these;
# later exports have larger numbers, and what is beyond the end is a user's own.
_FIRST, _LAST_CLOCK, _END = 10**9, 5 * 10**9, 9 * 10**9


class Version:
    """A folder that is being written.

    Attributes:
      temporary: the folder during the write; created empty.
      final: its path once the export is complete; None until then.
    """

    def __init__(self, temporary: str):
        self.temporary = temporary
        self.final: str | None = None


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
    name = f"temp-{timestamp}-{_this_machine()}-{os.getpid()}-{uuid.uuid4().hex[:4]}"
    version = Version(os.path.join(export_dir_base, name))
    remove_abandoned(export_dir_base, timestamp)
    tf.io.gfile.makedirs(version.temporary)
    try:
        yield version
        check_model_dir(export_dir_base)
        first = _after_others(export_dir_base, timestamp)
        version.final = _publish(version.temporary, export_dir_base, first)
    except BaseException:
        if tf.io.gfile.exists(version.temporary):
            tf.io.gfile.rmtree(version.temporary)
        if is_new and not tf.io.gfile.listdir(export_dir_base):
            tf.io.gfile.rmtree(export_dir_base)
        raise


def remove_abandoned(base: str, now: float | None = None) -> None:
    """Removes leftovers of killed exports: those of dead processes, and those over a day old.

    Args:
      base: the folder of all versions; may be missing.
      now: seconds since 1970; the current time by default.
    """
    now = time.time() if now is None else now
    for name in tf.io.gfile.listdir(base) if tf.io.gfile.isdir(base) else []:
        match = _TEMPORARY.fullmatch(name.rstrip("/"))
        if match is None:
            continue
        made, machine, process = int(match[1]), match[2], int(match[3])
        is_here = machine == _this_machine()
        if now - made > _LONG_AGO_SECS or (is_here and not is_running(process)):
            with contextlib.suppress(tf.errors.NotFoundError):  # another process was faster
                tf.io.gfile.rmtree(os.path.join(base, match[0]))


def _this_machine() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


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
    while True:
        final = os.path.join(base, str(timestamp))
        try:
            tf.io.gfile.rename(temporary, final)
        except tf.errors.AlreadyExistsError:
            timestamp += 1
        except tf.errors.FailedPreconditionError:  # taken between TensorFlow's check and its rename
            if not tf.io.gfile.exists(final):
                raise
            timestamp += 1
        else:
            return final
