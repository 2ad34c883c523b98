"""A process that runs tests or cases, reports its progress, and can be stopped."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["WorkerProcess"]

_HERE = Path(__file__).resolve().parents[2]
_REACHING_IN = ("TF_CONFIG", "TF_USE_LEGACY_KERAS")  # they change a program's behavior


class WorkerProcess:
    """A process that reports JSON lines through a pipe, from its start to its end.

    Args:
      command: its program and arguments; ``--report FD`` is added.
      request: the value that it reads from its standard input, as JSON.

    Attributes:
      process: the process, which leads its own session, with its children.
    """

    def __init__(self, command: list[str], request: Any):
        program, *arguments = command
        # The process starts in another folder, where a relative path would lead nowhere.
        program = os.path.abspath(shutil.which(program) or program)
        reading, writing = os.pipe()
        self._scratch = tempfile.mkdtemp(prefix="parity-")
        self._log = Path(self._scratch, "printed")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [program, *arguments, "--report", str(writing)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[writing],
                cwd=self._scratch,
                env=_environment(self._scratch),
                start_new_session=True,  # so that its children end with it
            )
        os.close(writing)
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):  # it has ended; the end of its output says why
            self.process.stdin.write(json.dumps(request).encode())
            self.process.stdin.close()
        self._pipe = os.fdopen(reading, "rb", buffering=0)
        self._pending = b""

    def events(self, limit: Callable[[], float]) -> Iterator[dict[str, Any] | None]:
        """Yields the worker's reports; None if it was silent for longer than `limit()`."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while True:
                if not selector.select(limit()):
                    yield None
                    return
                piece = os.read(self._pipe.fileno(), 1 << 16)
                if not piece:
                    return
                *lines, self._pending = (self._pending + piece).split(b"\n")
                yield from (json.loads(line) for line in lines)

    def last_words(self, lines: int = 15) -> str:
        """Returns the end of its output."""
        text = self._log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> int:
        """Ends it and its children; returns its exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        status = self.process.wait()
        self._pipe.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return status


def _environment(scratch: str) -> dict[str, str]:
    """Returns the environment with scratch folders, without variables that affect tests."""
    environment = {k: v for k, v in os.environ.items() if k not in _REACHING_IN}
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_HERE), os.environ.get("PYTHONPATH")])),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TEST_TMPDIR": scratch,
        "TMPDIR": scratch,
    }
