"""Runs programs like `subprocess.run([sys.executable, ...])`, without a load of TensorFlow each.

Programs whose start or whose way to load TensorFlow is what a test is about need a real process.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HOST = Path(__file__).with_name("forking_host.py")
# TensorFlow reads these when it is loaded: a program has those of the host.
AT_LOAD = {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}


class Host:
    """The process that forks, and a folder for the programs' streams.

    Args:
        **variables: Of its environment, beside those of this process and `AT_LOAD`: what Python
            itself reads when it starts, such as PYTHONPATH for a sitecustomize.py.
    """

    def __init__(self, **variables: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._numbers = itertools.count()
        self._log = Path(self._folder.name, "host.err")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(HOST)],
                env={**os.environ, **AT_LOAD, **variables},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def close(self) -> None:
        """Ends the process and removes the folder."""
        self._process.communicate()
        self._folder.cleanup()

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        standard_input: str,
        patience: int,
    ) -> subprocess.CompletedProcess[str]:
        """Runs one program to its end; see `run_python`."""
        number = next(self._numbers)
        files = [Path(self._folder.name, f"{number}.{name}") for name in ("in", "out", "err")]
        files[0].write_text(standard_input)
        code = self._ask(
            words=list(words),
            folder=str(folder),
            environment=dict(environment),
            files=list(map(str, files)),
            patience=patience,
            is_beside=False,
        )
        assert code is not None
        output, errors = (file.read_text(errors="replace") for file in files[1:])
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(list(words), patience, output, errors)
        return subprocess.CompletedProcess(list(words), code, output, errors)

    def start(
        self, words: Sequence[str], environment: Mapping[str, str], log: Path, patience: int
    ) -> Fork:
        """Starts a program and returns; see `start_python`."""
        process = self._ask(
            words=list(words),
            folder=str(Path.cwd()),
            environment=dict(environment),
            files=[os.devnull, str(log), str(log)],
            patience=patience,
            is_beside=True,
        )
        assert process is not None
        return Fork(self, process)

    def wait(self, process: int, secs: float) -> int | None:
        """Returns the exit code of a started program; None if it has not ended in that time."""
        return self._ask(process=process, secs=secs)

    def _ask(self, **job: Any) -> int | None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the host of forks ended: {self._log.read_text(errors='replace')}"
        return json.loads(answer)


class Fork:
    """A program that runs beside its test, like a `subprocess.Popen`.

    Args:
        host: The process that has forked it.
        process: Its number.
    """

    def __init__(self, host: Host, process: int):
        self.pid = process
        self._host = host
        self._code: int | None = None

    def poll(self) -> int | None:
        """Returns the exit code; None if it has not ended."""
        if self._code is None:
            self._code = self._host.wait(self.pid, 0)
        return self._code

    def wait(self, secs: float = 100) -> int:
        """Returns the exit code.

        Raises:
            subprocess.TimeoutExpired: It did not end in that time.
        """
        if self._code is None:
            self._code = self._host.wait(self.pid, secs)
        if self._code is None:
            raise subprocess.TimeoutExpired(str(self.pid), secs)
        return self._code

    def kill(self) -> None:
        """Kills it, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


@functools.cache
def _host() -> Host:
    host = Host()
    atexit.register(host.close)
    return host


def run_python(
    words: Sequence[object],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    standard_input: str = "",
    patience: int = 300,
) -> subprocess.CompletedProcess[str]:
    """Runs a Python program, in a fork of a process that has loaded TensorFlow.

    Args:
        words: As on Python's command line: `-c` and a source, `-m` and a module, or a script, and
            the program's own arguments.
        folder: Where it runs; by default here.
        environment: All its variables; by default those of this process.
        standard_input: What it reads.
        patience: The longest time in seconds.

    Raises:
        subprocess.TimeoutExpired: It did not end in that time.
    """
    return _host().run(
        [str(word) for word in words],
        folder or Path.cwd(),
        os.environ if environment is None else environment,
        standard_input,
        patience,
    )


def start_python(
    words: Sequence[object], environment: Mapping[str, str], log: Path, patience: int = 300
) -> Fork:
    """Starts a Python program beside the test, as `run_python` runs one.

    Args:
        words: See `run_python`.
        environment: All its variables.
        log: The file that its output and errors are appended to.
        patience: The longest time in seconds.
    """
    return _host().start([str(word) for word in words], environment, log, patience)
