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
        job = {
            "words": list(words),
            "folder": str(folder),
            "environment": dict(environment),
            "files": list(map(str, files)),
            "patience": patience,
        }
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the host of forks ended: {self._log.read_text(errors='replace')}"
        code = int(answer)
        output, errors = (file.read_text(errors="replace") for file in files[1:])
        if code == -signal.SIGALRM:
            raise subprocess.TimeoutExpired(list(words), patience, output, errors)
        return subprocess.CompletedProcess(list(words), code, output, errors)


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
