"""What can come of a step instead of a program for a TPU."""

from __future__ import annotations

import enum

__all__ = ["CompileError", "Why"]


class Why(enum.Enum):
    """Why a step was not compiled."""

    TENSORFLOW = "TensorFlow could not lower it"
    TPU = "the TPU's compiler refused it"
    MEMORY = "it needs more memory than the chip has"
    CRASH = "the compiler ended"
    TIME = "the compiler took too long"
    SETUP = "the compiler is not installed"
    NOT_COVERED = "it is not covered"


class CompileError(RuntimeError):
    """A step was not compiled for a TPU.

    Args:
      why: of what kind the reason is.
      message: for the user.
    """

    def __init__(self, why: Why, message: str):
        super().__init__(message)
        self.why = why
