"""Errors of checkpoints that are also what TensorFlow raises there: programs catch those."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.errors import CheckpointError

__all__ = [
    "CheckpointMismatchError",
    "DamagedFilesError",
    "MissingFilesError",
    "MissingVariableError",
]


class MissingVariableError(CheckpointError, tf.errors.NotFoundError):
    """A checkpoint has no variable of a name."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


class MissingFilesError(CheckpointError, tf.errors.NotFoundError):
    """There is no such checkpoint, or not all of its files are there."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


class DamagedFilesError(CheckpointError, tf.errors.DataLossError):
    """A checkpoint's files cannot be read.

    For data that end too early TensorFlow raises OutOfRangeError, by which an input ends. This is
    none, as a loop would take it for that.
    """

    def __init__(self, message: str):
        tf.errors.DataLossError.__init__(self, None, None, message)


class CheckpointMismatchError(CheckpointError, tf.errors.InvalidArgumentError):
    """A variable of a checkpoint has another shape or type than the model's."""

    def __init__(self, message: str):
        tf.errors.InvalidArgumentError.__init__(self, None, None, message)
