"""Tells what is wrong with a disk from the errors of TensorFlow, Python and summary writers.

TensorFlow gives each errno a type of its own choice, and its summary writers another one: a file
that may not grow is an OutOfRangeError, which ends an input, or an IndexError.
"""

from __future__ import annotations

import dataclasses
import errno
import os

import tensorflow as tf

from estimator_bridge.checkpoint.error_types import (
    DiskProblemError,
    FailingDiskError,
    FullDiskError,
    ReadOnlyDiskError,
)

__all__ = ["DiskProblem", "disk_problem"]

_TYPES = (tf.errors.OpError, OSError, RuntimeError, IndexError)


@dataclasses.dataclass(frozen=True)
class DiskProblem:
    """A reason why files cannot be written.

    Attributes:
      number: the errno.
      error: the type of this library's error.
      statement: a sentence without its full stop.
      advice: how to fix it.
    """

    number: int
    error: type[DiskProblemError]
    statement: str
    advice: str

    def reason_in(self, error: BaseException) -> str | None:
        """Returns the line of an error that names this problem; None if none does."""
        text = os.strerror(self.number)
        lines = str(getattr(error, "message", None) or error).splitlines()
        return next((line.strip() for line in lines if text in line), None)


_PROBLEMS = (
    DiskProblem(errno.ENOSPC, FullDiskError, "The disk is full", "Free some space"),
    DiskProblem(errno.EDQUOT, FullDiskError, "The disk is full", "Free some space"),
    DiskProblem(
        errno.EFBIG,
        FullDiskError,
        "A file must not become larger",
        "Raise the limit on files' sizes (ulimit -f, or the file system's)",
    ),
    DiskProblem(
        errno.EROFS,
        ReadOnlyDiskError,
        "The disk is read-only",
        "Mount it for writing (after an error of the disk, Linux makes it read-only: see the "
        "system's log)",
    ),
    DiskProblem(errno.EIO, FailingDiskError, "The disk fails", "See the system's log"),
)


def disk_problem(
    error: BaseException, folder: str = "", only_writes: bool = False
) -> tuple[DiskProblem, str] | None:
    """Returns what is wrong with the disk, and the line that says so; None for other errors.

    Args:
      error: an error of TensorFlow, of a summary writer, or of Python.
      folder: where files are written. A disk that fails counts only if the error names a file
        there: data may be read from another one.
      only_writes: whether nothing was read, so that such an error needs no file's name.
    """
    if not isinstance(error, _TYPES) or isinstance(error, DiskProblemError):
        return None
    for problem in _PROBLEMS:
        reason = problem.reason_in(error)
        if reason and (problem.number != errno.EIO or only_writes or (folder and folder in reason)):
            return problem, reason
    return None
