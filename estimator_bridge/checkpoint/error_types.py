"""Errors of checkpoints that are also what TensorFlow raises there: programs catch those."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.errors import CheckpointError, DiskFullError

__all__ = [
    "CheckpointMismatchError",
    "DamagedCheckpointError",
    "ForbiddenCheckpointError",
    "FullDiskError",
    "MissingCheckpointError",
    "MissingVariableError",
    "UnreadableCheckpointError",
]


class MissingVariableError(CheckpointError, tf.errors.NotFoundError):
    """A checkpoint has no variable of a name."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


class CheckpointMismatchError(CheckpointError, tf.errors.InvalidArgumentError):
    """A variable of a checkpoint has another shape or type than the model's."""

    def __init__(self, message: str):
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)


class _FilesError(CheckpointError):
    """Something about a checkpoint's files.

    Args:
      problem: what was found, naming the checkpoint, without a full stop.
      advice: what to do about it.

    Attributes:
      problem: as given.
    """

    _code = tf.errors.UNAVAILABLE

    def __init__(self, problem: str, advice: str):
        tf.errors.OpError.__init__(self, None, None, f"{problem}. {advice}", self._code)
        self.problem = problem


class MissingCheckpointError(_FilesError, tf.errors.NotFoundError):
    """Files of a checkpoint are not there, or were deleted while it was read."""

    _code = tf.errors.NOT_FOUND


class DamagedCheckpointError(_FilesError, tf.errors.DataLossError):
    """A checkpoint's files are there, and their contents are known to be wrong.

    For data that end too early TensorFlow raises OutOfRangeError, by which an input ends. This is
    none, as a loop would take it for that.
    """

    _code = tf.errors.DATA_LOSS


class UnreadableCheckpointError(_FilesError, tf.errors.OpError):
    """A checkpoint cannot be read now, for a reason that says nothing against its contents."""


class ForbiddenCheckpointError(UnreadableCheckpointError, tf.errors.PermissionDeniedError):
    """A checkpoint may not be read by the user that runs the program."""

    _code = tf.errors.PERMISSION_DENIED


class FullDiskError(DiskFullError, tf.errors.ResourceExhaustedError, RuntimeError):
    """No space is left: what savers raise there as OpError, and summary writers as RuntimeError."""

    def __init__(self, message: str):
        tf.errors.ResourceExhaustedError.__init__(self, None, None, message)

    def __str__(self) -> str:
        return str(self.message)
