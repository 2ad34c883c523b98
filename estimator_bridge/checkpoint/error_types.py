"""Checkpoint errors that are also TensorFlow's types: existing programs catch those."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.errors import CheckpointError, DiskError, DiskFullError

__all__ = [
    "CheckpointMismatchError",
    "DamagedCheckpointError",
    "DiskProblemError",
    "FailingDiskError",
    "ForbiddenCheckpointError",
    "FullDiskError",
    "MissingCheckpointError",
    "MissingVariableError",
    "ReadOnlyDiskError",
    "UnreadableCheckpointError",
]


class MissingVariableError(CheckpointError, tf.errors.NotFoundError):
    """A checkpoint lacks a variable."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


class CheckpointMismatchError(CheckpointError, tf.errors.InvalidArgumentError):
    """A variable has another shape or type in the checkpoint than in the model."""

    def __init__(self, message: str):
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)


class _FilesError(CheckpointError):
    """A problem with a checkpoint's files.

    Args:
      problem: the problem, naming the checkpoint, without a full stop.
      advice: how to fix it.

    Attributes:
      problem: as given.
    """

    _code = tf.errors.UNAVAILABLE

    def __init__(self, problem: str, advice: str):
        tf.errors.OpError.__init__(self, None, None, f"{problem}. {advice}", self._code)
        self.problem = problem


class MissingCheckpointError(_FilesError, tf.errors.NotFoundError):
    """Files of a checkpoint are missing, or were deleted during the read."""

    _code = tf.errors.NOT_FOUND


class DamagedCheckpointError(_FilesError, tf.errors.DataLossError):
    """A checkpoint's files exist, but their contents are wrong.

    This is not an OutOfRangeError, which TensorFlow raises for truncated data: a training loop
    takes that for the end of the input.
    """

    _code = tf.errors.DATA_LOSS


class UnreadableCheckpointError(_FilesError, tf.errors.OpError):
    """A checkpoint cannot be read now, for a reason unrelated to its contents."""


class ForbiddenCheckpointError(UnreadableCheckpointError, tf.errors.PermissionDeniedError):
    """The user that runs the program may not read a checkpoint."""

    _code = tf.errors.PERMISSION_DENIED


class DiskProblemError(DiskError, tf.errors.OpError, RuntimeError):
    """Files cannot be written: savers raise OpError for this, and summary writers RuntimeError.

    None of them is an OutOfRangeError, which TensorFlow raises for a file that must not become
    larger: a training loop takes that for the end of the input.

    Args:
      message: the text.
      number: the errno.
    """

    _code = tf.errors.UNKNOWN

    def __init__(self, message: str, number: int | None = None):
        tf.errors.OpError.__init__(self, None, None, message, self._code)
        self.errno = number

    def __str__(self) -> str:
        return str(self.message)


class FullDiskError(DiskFullError, DiskProblemError, tf.errors.ResourceExhaustedError):
    """No space is left, or a file must not become larger."""

    _code = tf.errors.RESOURCE_EXHAUSTED


class ReadOnlyDiskError(DiskProblemError, tf.errors.PermissionDeniedError, PermissionError):
    """The disk is read-only, maybe since it failed."""

    _code = tf.errors.PERMISSION_DENIED


class FailingDiskError(DiskProblemError, tf.errors.UnknownError):
    """The disk fails."""
