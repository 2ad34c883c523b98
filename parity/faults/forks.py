"""Runs a program in a fork of this process, which has imported TensorFlow but run nothing yet.

It starts in a fraction of a second; its output goes into a file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

__all__ = ["Forked"]


class Forked:
    """A forked process.

    Args:
      program: receives a function without arguments, which it calls when the fault may be injected.
      log: the file for its output.
    """

    def __init__(self, program: Callable[[Callable[[], None]], None], log: Path):
        self._log = log
        self._reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._id = os.fork()
        self._status: int | None = None
        if not self._id:
            os.close(self._reading)
            _be_a_script(lambda: program(lambda: _tell(writing)), log)
        os.close(writing)

    def wait_until_ready(self, secs: float) -> bool:
        """Waits until the program calls its function; returns whether it did."""
        os.set_blocking(self._reading, False)
        end = time.monotonic() + secs
        while time.monotonic() < end:
            with contextlib.suppress(BlockingIOError):
                return bool(os.read(self._reading, 1))
            time.sleep(0.02)
        return False

    def send(self, signum: int) -> None:
        """Sends a signal, unless the process has ended."""
        if not self.has_ended:
            os.kill(self._id, signum)

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        if self._status is None:
            process, status = os.waitpid(self._id, os.WNOHANG)
            self._status = status if process else None
        return self._status is not None

    def wait(self, secs: float) -> int | None:
        """Returns the exit code as in a shell; None if it had to be killed after this time."""
        end = time.monotonic() + secs
        while not self.has_ended and time.monotonic() < end:
            time.sleep(0.02)
        was_killed = not self.has_ended
        while not self.has_ended:
            os.kill(self._id, signal.SIGKILL)
            time.sleep(0.02)
        os.close(self._reading)
        assert self._status is not None
        code = os.waitstatus_to_exitcode(self._status)
        return None if was_killed else (128 - code if code < 0 else code)

    @property
    def output(self) -> str:
        """The program's output so far."""
        return self._log.read_text(errors="replace")


def _tell(pipe: int) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(pipe, b".")


def _be_a_script(program: Callable[[], None], log: Path) -> None:
    """Runs the program, and ends the process as Python does after a script."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.setsid()
    # SIGINT is ignored if this process was started in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 0
    try:
        program()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except KeyboardInterrupt:
        traceback.print_exc()
        code = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
