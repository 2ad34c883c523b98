"""Starts worker processes, reads their reports, and stops those that exceed the time limit."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from parity.harness.outcomes import FAILED, WHOLE_FILE, FileResult, Outcome
from parity.harness.privates import private_names
from parity.harness.test_files import TestFile
from parity.harness.worker_process import WorkerProcess

__all__ = ["run_file"]

_LOADING = 180.0  # seconds for TensorFlow's import on a busy machine

Watch = Callable[[Outcome], None]


class _Run:
    """A file's tests in one mode, in one or more processes: a new one after each hang."""

    def __init__(self, file: TestFile, command: list[str], time_limit: float, watch: Watch):
        self._command, self._time_limit, self._watch = command, time_limit, watch
        self._privates = private_names(file.path)
        self._tests: list[str] | None = None  # the file's tests, once it is loaded
        self._fixtures: dict[str, tuple[str, str]] = {}
        self.outcomes: dict[str, Outcome] = {}

    def finish(self) -> None:
        """Runs until each test has an outcome."""
        while self._tests is None or self._waiting():
            self._one_process()

    def _waiting(self) -> list[str]:
        return [name for name in self._tests or () if name not in self.outcomes]

    def _add(self, name: str, result: str, seconds: float = 0.0, detail: str = "") -> None:
        self.outcomes[name] = Outcome(name, result, seconds, detail, self._privates.of(name))
        self._watch(self.outcomes[name])

    def _one_process(self) -> None:
        worker = WorkerProcess(self._command, sorted(self.outcomes))
        running, complaint, is_done = "", "", False
        is_loaded, last_event = False, time.monotonic()

        def limit() -> float:
            seconds = self._time_limit if is_loaded else _LOADING
            return max(0.1, last_event + seconds - time.monotonic())

        for event in worker.events(limit):
            if event is None:
                seconds = self._time_limit if is_loaded else _LOADING
                complaint = f"It took longer than {seconds:g} seconds."
                break
            last_event, kind = time.monotonic(), event["event"]
            if kind == "tests":
                is_loaded, self._tests = True, event["tests"]
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
        """Assigns an outcome to tests that a process did not finish, at least to one."""
        if self._tests is None:
            self._tests = []
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
    cores: tuple[int, str] = (8, "emulated"),
) -> FileResult:
    """Runs a file's tests in one mode.

    Args:
      file: the test file.
      mode: 'tf2', or 'v1' for a program that turned v2 behavior off.
      checkout: the folder of the file's helpers.
      original: a Python with the real tensorflow_estimator, under which the tests run.
      time_limit: seconds for one test; one that takes longer fails, and the others continue in
        another process.
      test: part of a name; only tests with it run.
      watch: called with each outcome.
      cores: the cores for tests of TPU cores: how many, and 'emulated' or 'jax:cpu'.
    """
    command = [original or sys.executable, "-m", "parity.harness.worker", str(file.path)]
    command += ["--mode", mode, "--test", test]
    if not original:
        count = cores[0] if file.on_cores else 0
        command += ["--checkout", str(checkout), "--cores", str(count), "--devices", cores[1]]
    run = _Run(file, command, time_limit, watch)
    run.finish()
    return FileResult(file.name, mode, list(run.outcomes.values()))
