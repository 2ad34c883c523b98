"""Starts and controls the guard, a small process that ends this one if no Python code can.

A thread cannot do that: while C code holds Python's lock (the GIL), no thread runs. See
guard_process.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import subprocess
import sys
from collections.abc import Collection

from tensorflow.compat.v1 import logging

from estimator_bridge.training.supervision import guard_process

__all__ = ["Guarded", "SignalGuard"]

_VARIABLE = "ESTIMATOR_BRIDGE_SIGNAL_GUARD"
# Time for this process's own last message, which precedes the guard's if it can be written.
_MARGIN_SECS = 5.0
# The environment variables that Python may need to start. LD_PRELOAD is left out.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@dataclasses.dataclass(frozen=True)
class Guarded:
    """A call of train(), evaluate() or predict(), as the guard needs it.

    Attributes:
      signums: the signals to watch for, at least one.
      secs: the grace period.
      what: the call, for messages: 'Training'.
      folder: the folder of the checkpoints that messages name; None if the call writes none.
    """

    signums: Collection[int]
    secs: float
    what: str
    folder: str | None


class SignalGuard:
    """The guard of this process: a process that ends with it.

    Args:
      wake: the socket that signals are read from.
    """

    def __init__(self, wake: socket.socket):
        self._control: socket.socket | None = None
        self._starting: subprocess.Popen[bytes] | None = None
        if os.environ.get(_VARIABLE) == "0" or not hasattr(os, "fork"):
            return
        control, theirs = socket.socketpair()
        command = [
            sys.executable or "", "-I", "-S", guard_process.__file__,
            *map(str, (os.getpid(), wake.fileno(), theirs.fileno())),
        ]  # fmt: skip
        try:
            self._starting = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                pass_fds=(wake.fileno(), theirs.fileno()),
                start_new_session=True,
            )
        except OSError as error:
            logging.warning(
                "Signals cannot end code that holds Python's lock (the GIL): the process that "
                "would end it does not start (%s: %s). Set %s=0 to run without it.",
                command[0] or "sys.executable is empty",
                error.strerror,
                _VARIABLE,
            )
        else:
            control.setblocking(False)
            self._control = control
        finally:
            theirs.close()

    def reap(self) -> None:
        """Waits for the guard's first process, which starts the lasting one and exits."""
        if self._starting is not None:
            self._starting.wait()
            self._starting = None

    def on(self, call_to_guard: Guarded, call: int) -> None:
        """Starts watching for signals.

        Args:
          call_to_guard: the call.
          call: the number of the call.
        """
        numbers = ",".join(str(int(signum)) for signum in call_to_guard.signums)
        names = f"{call_to_guard.what}\t{call_to_guard.folder or ''}".replace("\n", " ")
        self._tell(f"on {call} {numbers} {call_to_guard.secs + _MARGIN_SECS} {names}")

    def until(self, secs: float, call: int) -> None:
        """Reports that a signal is ending a call, which may take this many seconds."""
        self._tell(f"until {call} {max(secs, 0.0) + _MARGIN_SECS}")

    def off(self) -> None:
        """Stops watching."""
        self._tell("off")

    def forget_parent(self) -> None:
        """Closes a forked process's copy of its parent's guard."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def _tell(self, line: str) -> None:
        if self._control is not None:
            with contextlib.suppress(OSError):  # somebody has ended the guard
                self._control.send(f"{line}\n".encode())
