"""This library's errors, each also derived from the built-in type that fits it."""

import sys

__all__ = [
    "INSTEAD_OF_JAX",
    "AcceleratorNotFoundError",
    "CheckpointError",
    "DataError",
    "DiskError",
    "DiskFullError",
    "Interrupted",
    "InterruptedScript",
    "MissingImportError",
    "MissingNameError",
    "ModelDirInUseError",
    "ModelDirLostError",
    "NotCompilableError",
    "NotOnJaxError",
    "TooLateError",
    "WorkerError",
    "XlaMissingError",
    "interrupted",
]


class AcceleratorNotFoundError(RuntimeError):
    """A named accelerator was not found. There is no silent fallback."""


class TooLateError(RuntimeError):
    """Emulated cores were requested after TensorFlow had fixed its devices."""


class NotCompilableError(ValueError):
    """XLA cannot compile a step because of an operation in it."""


class XlaMissingError(NotCompilableError):
    """This build of TensorFlow has no XLA for CPUs, so it cannot compile any program's steps."""


class NotOnJaxError(NotImplementedError):
    """A program needs something that steps on JAX do not have; nothing has run."""


# The end of each such error.
INSTEAD_OF_JAX = (
    "Run the program on emulated cores ('emulated:8') or on TensorFlow's own TPU instead."
)


class CheckpointError(ValueError):
    """A checkpoint is damaged, or belongs to another model."""


class DataError(ValueError):
    """Data on disk is damaged, missing or unexpected; the message names the file."""


class DiskError(OSError):
    """Files cannot be written: the disk is full, read-only, or fails; existing files stay."""


class DiskFullError(DiskError):
    """There is no space to write, or a file must not become larger; existing files stay."""


class ModelDirInUseError(RuntimeError):
    """Another training is writing into the same model_dir."""


class ModelDirLostError(RuntimeError):
    """The model_dir of a training was removed, renamed or replaced while it ran."""


class WorkerError(RuntimeError):
    """Processes that train together cannot connect, or one of them failed."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a call; training saved a checkpoint first."""

    def _render_traceback_(self) -> list[str]:
        """Shows a single line in notebooks: a user has no use for the place in the library."""
        return [f"{type(self).__name__}: {self}"]


class InterruptedScript(Interrupted, SystemExit):
    """`Interrupted` in a script: unless caught, it exits with code 130 and no traceback."""

    def __init__(self, message: str):
        super().__init__(message)
        self.code = 130


def interrupted(message: str) -> Interrupted:
    """Returns the exception for Ctrl-C that fits a script or an interactive session."""
    is_interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    return Interrupted(message) if is_interactive else InterruptedScript(message)


class MissingNameError(AttributeError):
    """A tf.estimator name was used that this library does not have yet."""

    def __init__(self, message: str, name: str):
        super().__init__(message)  # Python 3.9's AttributeError takes no name
        self.name = name


class MissingImportError(ImportError):
    """A tf.estimator name was imported that this library does not have yet."""
