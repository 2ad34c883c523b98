"""Runs test files of tf.contrib in one process that forks, and collects their outcomes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from parity.contrib.files import path_of
from parity.contrib.privates import contrib_private_names
from parity.harness.outcomes import FAILED, WHOLE_FILE, FileResult, Outcome
from parity.harness.worker_process import WorkerProcess

__all__ = ["MODE", "run_files"]

MODE = "v1"  # TF1 programs, with v2 behavior off
_LOADING = 180.0  # seconds for TensorFlow's import on a busy machine
_WORKER = ["-m", "parity.contrib.worker"]


def run_files(
    files: Sequence[str],
    checkout: Path,
    original: str | None = None,
    time_limit: float = 60.0,
    test: str = "",
    watch: Callable[[FileResult], None] = lambda result: None,
) -> list[FileResult]:
    """Runs test files.

    Args:
      files: the files, as paths below ``tensorflow/contrib``.
      checkout: the work tree that holds them.
      original: a Python with TensorFlow 1.15.5, under which the tests run; by default they run
        as a TF1 program under this library.
      time_limit: seconds for one test; one that takes longer fails.
      test: part of a name; only tests with it run.
      watch: called with the result of each file.

    Raises:
      RuntimeError: the process ended before it ran all files.
    """
    python = [original] if original else [sys.executable, "-m", "estimator_bridge"]
    command = [*python, *([] if original else ["run", "--tf1"]), *_WORKER]
    command += ["--time-limit", str(time_limit), "--test", test, "--checkout", str(checkout)]
    command += ["--original"] if original else []
    paths = {str(path_of(checkout, name)): name for name in files}
    worker = WorkerProcess(command, [[path, []] for path in paths])
    events: dict[str, list[dict]] = {path: [] for path in paths}
    results = []
    try:
        for event in worker.events(lambda: _LOADING + time_limit):
            if event is None:
                break
            path = event["file"]
            events[path].append(event)
            if event["event"] == "done":
                results.append(_result(paths[path], Path(path), checkout, events[path]))
                watch(results[-1])
    finally:
        words, status = worker.last_words(), worker.stop()
    if len(results) < len(files):
        missing = ", ".join(files[len(results) : len(results) + 3])
        raise RuntimeError(
            f"The process of the tests ended with status {status} before it ran {missing}"
            f"{', ...' if len(files) > len(results) + 3 else ''}. Its last output was:\n{words}"
        )
    return results


def _result(name: str, path: Path, checkout: Path, events: list[dict]) -> FileResult:
    privates = contrib_private_names(path, checkout)
    outcomes = {}
    tests: list[str] = []
    fixtures = {}
    for event in events:
        kind = event["event"]
        if kind == "broken":
            outcomes[WHOLE_FILE] = Outcome(WHOLE_FILE, FAILED, detail=event["detail"])
        elif kind == "tests":
            tests = event["tests"]
        elif kind == "fixture":
            fixtures[event["kind"]] = event["result"], event["detail"]
        elif kind == "end":
            test = event["test"]
            outcomes[test] = Outcome(
                test, event["result"], event.get("seconds", 0.0), event["detail"], privates.of(test)
            )
    for test in tests:
        if test not in outcomes:
            result, detail = fixtures.get(test.partition(".")[0], (FAILED, "It was never run."))
            outcomes[test] = Outcome(test, result, 0.0, detail, privates.of(test))
    return FileResult(name, MODE, list(outcomes.values()))
