"""Reasons and errors for steps that were not compiled."""

from __future__ import annotations

import enum

from estimator_bridge.compile_for.out_of_memory import OutOfMemory

__all__ = ["CompileError", "NotCompiledReason"]


class NotCompiledReason(enum.Enum):
    """The reason why a step was not compiled."""

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
      why: the kind of reason.
      message: the message for the user.
      text: the partly compiled HLO of a module that needs too much memory.
      memory: the missing memory and the largest arrays.
    """

    def __init__(
        self,
        why: NotCompiledReason,
        message: str,
        text: str | None = None,
        memory: OutOfMemory | None = None,
    ):
        super().__init__(message)
        self.why, self.text, self.memory = why, text, memory
