"""Starts worker processes, listens to them, and stops those that take too long."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from parity.harness.outcomes import FAILED, WHOLE_FILE, FileResult, Outcome
from parity.harness.privates import private_names
from parity.harness.test_files import TestFile

__all__ = ["run_file"]

_HERE = Path(__file__).resolve().parents[2]
_LOADING = 180.0  # seconds for TensorFlow's import on a busy machine

Watch = Callable[[Outcome], None]


class _Worker:
    """One process, from its start to its end."""

    def __init__(self, command: list[str], skipped: list[str]):
        reading, writing = os.pipe()
        self._scratch = tempfile.mkdtemp(prefix="conformance-")
        self._log = Path(self._scratch, "printed")
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--report", str(writing)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[writing],
                cwd=self._scratch,
                env=_environment(self._scratch),
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
        text = self._log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> int:
        """Ends it and what it started; returns its exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        status = self.process.wait()
        self._pipe.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return status


class _Run:
    """A file's tests in one mode, in as many processes as it takes: a new one after each hang."""

    def __init__(self, file: TestFile, command: list[str], time_limit: float, watch: Watch):
        self._command, self._time_limit, self._watch = command, time_limit, watch
        self._privates = private_names(file.path)
        self._known: list[str] | None = None  # the file's tests, once it is loaded
        self._fixtures: dict[str, tuple[str, str]] = {}
        self.outcomes: dict[str, Outcome] = {}

    def finish(self) -> None:
        """Runs until each test has an outcome."""
        while self._known is None or self._waiting():
            self._one_process()

    def _waiting(self) -> list[str]:
        return [name for name in self._known or () if name not in self.outcomes]

    def _add(self, name: str, result: str, seconds: float = 0.0, detail: str = "") -> None:
        self.outcomes[name] = Outcome(name, result, seconds, detail, self._privates.of(name))
        self._watch(self.outcomes[name])

    def _one_process(self) -> None:
        worker = _Worker(self._command, sorted(self.outcomes))
        running, complaint, is_done = "", "", False
        loaded, heard = False, time.monotonic()

        def limit() -> float:
            allowed = self._time_limit if loaded else _LOADING
            return max(0.1, heard + allowed - time.monotonic())

        for event in worker.events(limit):
            if event is None:
                allowed = self._time_limit if loaded else _LOADING
                complaint = f"It took longer than {allowed:g} seconds."
                break
            heard, kind = time.monotonic(), event["event"]
            if kind == "tests":
                loaded, self._known = True, event["tests"]
            elif kind == "start":
                running = event["test"]
            elif kind == "end":
                running = ""
                self._add(event["test"], event["result"], event["seconds"], event["detail"])
            elif kind == "fixture":
                self._fixtures[event["kind"]] = (event["result"], event["detail"])
            elif kind == "broken":
                complaint = event["detail"]
            is_done = kind == "done"
        words = worker.last_words()
        status = worker.stop()
        complaint = complaint or f"{words}\nThe process ended with status {status}."
        self._settle(running, complaint, is_done)

    def _settle(self, running: str, complaint: str, is_done: bool) -> None:
        """Gives an outcome to tests that a process ended without, at least to one."""
        if self._known is None:
            self._known = []
            self._add(WHOLE_FILE, FAILED, 0.0, complaint)
            return
        for name in self._waiting():
            if name.partition(".")[0] in self._fixtures:
                result, detail = self._fixtures[name.partition(".")[0]]
                self._add(name, result, 0.0, detail)
        waiting = self._waiting()
        if running:
            self._add(running, FAILED, self._time_limit, complaint)
        elif is_done:
            for name in waiting:
                self._add(name, FAILED, 0.0, "It was never run.")
        elif waiting:  # the process ended between two tests
            self._add(waiting[0], FAILED, 0.0, complaint)


def run_file(
    file: TestFile,
    mode: str,
    checkout: Path,
    original: str | None = None,
    time_limit: float = 60.0,
    test: str = "",
    watch: Watch = lambda outcome: None,
    cores: int = 8,
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
      cores: how many are emulated for tests that want TPU cores.
    """
    command = [original or sys.executable, "-m", "parity.harness.worker", str(file.path)]
    command += ["--mode", mode, "--test", test]
    if not original:
        command += ["--checkout", str(checkout), "--cores", str(cores if file.on_cores else 0)]
    run = _Run(file, command, time_limit, watch)
    run.finish()
    return FileResult(file.name, mode, list(run.outcomes.values()))


def _environment(scratch: str) -> dict[str, str]:
    """This process's, without what would reach into a test, and with folders that go away."""
    inherited = {k: v for k, v in os.environ.items() if k != "TF_CONFIG"}
    return {
        **inherited,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(_HERE), os.environ.get("PYTHONPATH")])),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "",
        "TEST_TMPDIR": scratch,
        "TMPDIR": scratch,
    }
