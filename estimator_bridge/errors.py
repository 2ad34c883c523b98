"""Errors of this library's own, each also of the built-in type that fits it."""

import sys

__all__ = [
    "AcceleratorNotFoundError",
    "CheckpointError",
    "DiskFullError",
    "Interrupted",
    "InterruptedScript",
    "MissingImportError",
    "MissingNameError",
    "ModelDirInUseError",
    "NotCompilableError",
    "TooLateError",
    "WorkerError",
    "interrupted",
]


class AcceleratorNotFoundError(RuntimeError):
    """An accelerator was named, and it is not there. There is no silent fall-back."""


class TooLateError(RuntimeError):
    """TensorFlow's devices were fixed before emulated cores were asked for."""


class NotCompilableError(ValueError):
    """XLA was to compile a step, and an operation in it stands against that."""


class CheckpointError(ValueError):
    """A checkpoint is damaged, or belongs to another model."""


class DiskFullError(OSError):
    """There is no space for what has to be written; what was there stays."""


class ModelDirInUseError(RuntimeError):
    """Another training is writing into the same model_dir."""


class WorkerError(RuntimeError):
    """Processes that train together cannot meet, or one of them failed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a call; training has saved a checkpoint before."""

    def _render_traceback_(self) -> list[str]:
        """One line is what a notebook shows: the place in the library tells a user nothing."""
        return [f"{type(self).__name__}: {self}"]


class InterruptedScript(Interrupted, SystemExit):
    """The same in a script, which it ends with code 130 and no traceback, unless it is caught."""

    def __init__(self, message: str):
        super().__init__(message)
        self.code = 130


def interrupted(message: str) -> Interrupted:
    """The exception for Ctrl-C that fits a script, or a notebook or another interactive session."""
    is_interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    return Interrupted(message) if is_interactive else InterruptedScript(message)


class MissingNameError(AttributeError):
    """A name of tf.estimator that this library does not have yet was used."""

    def __init__(self, message: str, name: str):
        super().__init__(message)  # Python 3.9's AttributeError takes no name
        self.name = name


class MissingImportError(ImportError):
    """A name of tf.estimator that this library does not have yet was imported."""
