"""Runs a program whose file operations are counted, and kills, refuses or delays them."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import errno
import functools
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from parity.faults.forks import Forked

__all__ = ["Action", "Fault", "Operation", "Outcome", "check_compiler", "run_with"]

_SOURCE = Path(__file__).with_name("file_operations.c")


class Action(enum.IntEnum):
    """The fault at an operation; the same numbers as in file_operations.c."""

    COUNT = 0
    KILL_BEFORE = 1
    KILL_HALFWAY = 2  # a write stores half of its bytes; other operations are completed
    KILL_AFTER = 3
    REFUSE = 4  # the first one writes half of its bytes, as on a disk that becomes full
    DELAY = 5


class Kind(enum.IntFlag):
    """The operations that count."""

    ALL = 0
    TAKES_SPACE = 1  # open to write, write, fsync, mkdir, link
    WAITS_FOR_DISK = 2  # write, fsync, rename


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault, and its place.

    Attributes:
      action: the kind of fault.
      at: the number of the operation, from 1; REFUSE and DELAY also affect the later ones.
      kinds: the operations that count.
      error: the errno of a refused operation.
      secs: the delay of an operation.
    """

    action: Action = Action.COUNT
    at: int = 0
    kinds: Kind = Kind.ALL
    error: int = errno.ENOSPC
    secs: float = 0.0


@dataclasses.dataclass(frozen=True)
class Operation:
    """A program's file operation.

    Attributes:
      name: the system call, such as `write`.
      path: the path of its file, relative to the folder.
      fate: `killed`, `refused` or empty.
    """

    name: str
    path: str
    fate: str


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of a program.

    Attributes:
      code: the exit code as in a shell; None if it did not end in time.
      operations: the operations that count.
      output: its whole output.
    """

    code: int | None
    operations: list[Operation]
    output: str

    @property
    def was_killed(self) -> bool:
        """True if the fault killed it."""
        return self.code == 128 + signal.SIGKILL and any(
            operation.fate == "killed" for operation in self.operations
        )


def check_compiler() -> str:
    """Finds a C compiler.

    Raises:
      SystemExit: none is installed.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit(
            "This kind of fault needs a C compiler, because a small C program follows file "
            "operations. Neither cc nor gcc was found: apt-get install gcc libc6-dev."
        )
    return compiler


@functools.cache
def _library() -> ctypes.CDLL:
    """Returns the compiled C file; compiles it once for each of its versions."""
    made_of = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    path = Path(tempfile.gettempdir(), f"parity-faults-{os.getuid()}-{made_of}.so")
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            new = Path(folder, path.name)
            command = [check_compiler(), "-O1", "-Wall", "-shared", "-fPIC", "-o", str(new)]
            subprocess.run([*command, str(_SOURCE)], check=True)
            new.rename(path)
    library = ctypes.CDLL(str(path), use_errno=True)
    library.follow.argtypes = [
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_int, ctypes.c_int,
        ctypes.c_long, ctypes.c_int,
    ]  # fmt: skip
    return library


def run_with(
    fault: Fault, program: Callable[[], None], folder: Path, log: Path, secs: float = 120.0
) -> Outcome:
    """Runs a program in a fork, to its end.

    Args:
      fault: the fault to inject.
      program: a function that ends as a script does.
      folder: the folder below which files count.
      log: the file of its output; a file with its operations is written beside it.
      secs: the time after which it counts as hanging and is killed.

    Raises:
      OSError: the machine does not allow tracing of processes.
    """
    library = _library()
    operation_log = log.with_suffix(".operations")
    place = os.path.realpath(folder)

    def follow() -> None:
        process = os.fork()
        if not process:
            _check(library.follow_me())
            program()
            raise SystemExit(0)
        descriptor = os.open(
            operation_log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600
        )
        status = library.follow(
            process, os.fsencode(place), fault.action, fault.at, fault.kinds, fault.error,
            int(fault.secs * 1e6), descriptor,
        )  # fmt: skip
        _check(max(-status, 0))
        code = os.waitstatus_to_exitcode(status)
        os._exit(128 - code if code < 0 else code)

    process = Forked(lambda ready: follow(), log)
    code = process.wait(secs)
    lines = operation_log.read_text(errors="replace").splitlines() if operation_log.exists() else []
    operations = [Operation(*line.split("\t")) for line in lines]
    short_names = [
        dataclasses.replace(operation, path=operation.path[len(place) + 1 :])
        for operation in operations
    ]
    operation_log.unlink(missing_ok=True)
    return Outcome(code, short_names, process.output)


def _check(error: int) -> None:
    if error:
        raise OSError(error, f"processes cannot be traced here: {os.strerror(error)}")
