"""Errors of this library's own, each also of the built-in type that fits it."""

__all__ = ["AcceleratorNotFoundError", "CheckpointError", "TooLateError", "WorkerError"]


class AcceleratorNotFoundError(RuntimeError):
    """An accelerator was named, and it is not there. There is no silent fall-back."""


class TooLateError(RuntimeError):
    """TensorFlow's devices were fixed before emulated cores were asked for."""


class CheckpointError(ValueError):
    """A checkpoint is damaged, or belongs to another model."""


class WorkerError(RuntimeError):
    """Processes that train together cannot meet, or one of them failed."""
