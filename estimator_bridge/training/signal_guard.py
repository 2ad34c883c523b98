"""Starts the small process that ends this one where no Python code can, and talks to it.

A thread cannot do it: C code that keeps Python's lock (the GIL) keeps it from all threads. See
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

from estimator_bridge.training import guard_process

__all__ = ["Guarded", "SignalGuard"]

_VARIABLE = "ESTIMATOR_BRIDGE_SIGNAL_GUARD"
# For the last words of this process itself, which come first where it can say them.
_MARGIN_SECS = 5.0
# Of the environment: what a Python may need to start. A library that is preloaded stays out.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@dataclasses.dataclass(frozen=True)
class Guarded:
    """What a guard is to know of a call of train(), evaluate() or predict().

    Attributes:
      signums: the signals to watch for, one at least.
      secs: the grace period.
      what: the call, for messages: 'Training'.
      folder: whose checkpoints messages name; None: the call writes none.
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
                "Code that keeps Python's lock (the GIL) could not be ended by signals: no process "
                "can be started that would do it (%s: %s). %s=0 says that none is wanted.",
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
        """Waits for the guard's first process, which has started the one that stays."""
        if self._starting is not None:
            self._starting.wait()
            self._starting = None

    def on(self, guarded: Guarded, call: int) -> None:
        """Has signals watched for.

        Args:
          guarded: what is to be known.
          call: a number for it.
        """
        numbers = ",".join(str(int(signum)) for signum in guarded.signums)
        names = f"{guarded.what}\t{guarded.folder or ''}".replace("\n", " ")
        self._tell(f"on {call} {numbers} {guarded.secs + _MARGIN_SECS} {names}")

    def until(self, secs: float, call: int) -> None:
        """Tells that a call is ending by a signal, and may take so many seconds for it."""
        self._tell(f"until {call} {max(secs, 0.0) + _MARGIN_SECS}")

    def off(self) -> None:
        """Has nothing watched for."""
        self._tell("off")

    def forget_parent(self) -> None:
        """Lets go of the guard of another process, of which this is a fork."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def _tell(self, line: str) -> None:
        if self._control is not None:
            with contextlib.suppress(OSError):  # somebody has ended the guard
                self._control.send(f"{line}\n".encode())
