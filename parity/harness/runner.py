"""Starts worker processes, listens to them, and stops those that take too long."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from parity.harness.outcomes import FAILED, PASSED, SKIPPED, FileResult, Outcome
from parity.harness.privates import private_names
from parity.harness.test_files import TestFile

__all__ = ["run_file"]

_HERE = Path(__file__).resolve().parents[2]
_CORES = 8
_LOADING = 180.0  # seconds for TensorFlow's import on a busy machine
_RESULTS = {PASSED, FAILED, SKIPPED}


class _Worker:
    """One process, from its start to its end."""

    def __init__(self, command: list[str], skipped: list[str], environment: dict[str, str]):
        reading, writing = os.pipe()
        self._scratch = tempfile.TemporaryDirectory(prefix="conformance-")
        self._log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*command, "--report", str(writing)],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[writing],
            cwd=self._scratch.name,
            env={**environment, "TEST_TMPDIR": self._scratch.name, "TMPDIR": self._scratch.name},
            start_new_session=True,  # its own children go with it
        )
        os.close(writing)
        assert self.process.stdin
        self.process.stdin.write(json.dumps(skipped).encode())
        self.process.stdin.close()
        self._pipe = os.fdopen(reading, "rb", buffering=0)
        self._pending = b""

    def events(self, limit: Callable[[], float]) -> Iterator[dict[str, Any] | None]:
        """Yields what the worker says; None where it was silent for longer than `limit()`."""
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
        """The end of what it printed."""
        self._log.seek(0)
        text = self._log.read().decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> int:
        """Ends it and what it started; returns its exit status."""
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        status = self.process.wait()
        self._pipe.close()
        self._log.close()
        self._scratch.cleanup()
        return status


def run_file(
    file: TestFile,
    mode: str,
    checkout: Path,
    original: str | None = None,
    time_limit: float = 60.0,
    test: str = "",
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> FileResult:
    """Runs a file's tests in one mode.

    Args:
      file: the test file.
      mode: 'tf2', or 'v1' for a program that turned v2 behaviour off.
      checkout: where the file's helpers are.
      original: a Python with the real tensorflow_estimator, to run it under that.
      time_limit: seconds for one test; one that takes longer fails, and the rest go on in another
        process.
      test: only tests with this in their name.
      watch: called with each outcome as it comes.
    """
    outcomes: dict[str, Outcome] = {}
    privates = private_names(file.path)

    def add(name: str, result: str, seconds: float = 0.0, detail: str = "") -> None:
        outcomes[name] = Outcome(name, result, seconds, detail, privates.of(name))
        watch(outcomes[name])

    command = [original or sys.executable, "-m", "parity.harness.worker", str(file.path)]
    command += ["--mode", mode, "--test", test]
    if not original:
        command += ["--checkout", str(checkout), "--cores", str(_CORES if file.on_cores else 0)]
    complete = False
    while not complete:
        worker = _Worker(command, sorted(outcomes), _environment())
        known: list[str] = []
        running: str | None = None
        fixtures: dict[str, tuple[str, str]] = {}
        complaint = ""
        began = time.monotonic()

        def limit(waiting: bool = False) -> float:
            allowed = time_limit if known else _LOADING  # noqa: B023
            return max(0.1, began + allowed - time.monotonic())  # noqa: B023

        for event in worker.events(limit):
            if event is None:
                complaint = f"Took longer than {time_limit if known else _LOADING:g} seconds."
                break
            began = time.monotonic()
            if event["event"] == "tests":
                known = [t for t in event["tests"] if test in t]
            elif event["event"] == "start":
                running = event["test"]
            elif event["event"] == "end":
                running = None
                add(event["test"], event["result"], event["seconds"], event.get("detail", ""))
            elif event["event"] == "fixture":
                fixtures[event["test"]] = (event["result"], event["detail"])
            elif event["event"] == "broken":
                complaint = event["detail"]
            elif event["event"] == "done":
                complete = True
        words = worker.last_words()
        status = worker.stop()
        if not known:  # the file itself does not load
            add("(the file)", FAILED, 0.0, complaint or f"{words}\nEnded with status {status}.")
            break
        for name in known:
            for fixture, (result, detail) in fixtures.items():
                if name not in outcomes and f".{name.partition('.')[0]})" in fixture:
                    add(name, result, 0.0, detail)
        if running and running not in outcomes:
            complaint = complaint or f"{words}\nThe process ended with status {status}."
            add(running, FAILED, time_limit, complaint)
        elif not complete and not (set(known) - set(outcomes)):
            complete = True
        elif not complete:  # between two tests
            lost = next(name for name in known if name not in outcomes)
            add(lost, FAILED, 0.0, complaint or f"{words}\nEnded with status {status}.")
    return FileResult(file.name, mode, list(outcomes.values()))


def _environment() -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k != "TF_CONFIG"}
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_HERE), os.environ.get("PYTHONPATH")])),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
    }
