"""Runs the tests of one file in one process, and reports each as a line of JSON.

It runs under the original's TensorFlow too, so it imports this library only on request.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import time
import traceback
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Reporter(unittest.TestResult):
    """Writes a line when a test begins and one when it ends."""

    def __init__(self, write: Any):
        super().__init__()
        self._write = write
        self._began = 0.0
        self._outcome: dict[str, str] = {}

    def startTest(self, test: Any) -> None:
        """Reports the test's start."""
        super().startTest(test)
        self._began, self._outcome = time.monotonic(), {"result": "passed", "detail": ""}
        self._write({"event": "start", "test": test_id(test)})

    def stopTest(self, test: Any) -> None:
        """Reports the test's outcome."""
        super().stopTest(test)
        seconds = time.monotonic() - self._began
        self._write({"event": "end", "test": test_id(test), "seconds": seconds, **self._outcome})

    def _end(self, test: Any, result: str, detail: str) -> None:
        if isinstance(test, unittest.TestCase):
            self._outcome = {"result": result, "detail": detail}
        else:  # setUpClass or setUpModule: none of the class's tests will run
            kind = str(test).rpartition(".")[2].rstrip(")")
            self._write({"event": "fixture", "kind": kind, "result": result, "detail": detail})

    def addError(self, test: Any, err: Any) -> None:
        """Keeps an error, or a failure."""
        self._end(test, "failed", "".join(traceback.format_exception(*err)))

    addFailure = addError

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """Keeps an error of a part of a test."""
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        """Keeps the reason for a skipped test."""
        self._end(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """Counts an expected failure as a pass."""
        self._end(test, "passed", "")

    def addUnexpectedSuccess(self, test: Any) -> None:
        """Counts an unexpected success as a failure."""
        self._end(test, "failed", "It was expected to fail, and passed.")


def test_id(test: unittest.TestCase) -> str:
    """``Class.method``."""
    return f"{type(test).__name__}.{test._testMethodName}"


def main() -> None:
    """Loads the file, reports its tests, and runs the requested ones."""
    options = _options()
    with os.fdopen(options.report, "w", buffering=1, encoding="utf-8") as report:

        def write(event: dict[str, Any]) -> None:
            report.write(json.dumps(event) + "\n")

        try:
            tests = _load(options)
        except BaseException:
            write({"event": "broken", "detail": traceback.format_exc()})
            return
        tests = [t for t in tests if options.test in test_id(t)]
        write({"event": "tests", "tests": [test_id(t) for t in tests]})
        tests_to_skip = set(json.loads(sys.stdin.read() or "[]"))
        selection = [t for t in tests if test_id(t) not in tests_to_skip]
        unittest.TestSuite(selection).run(Reporter(write))
        write({"event": "done"})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--report", type=int, required=True, help="a file descriptor to write to")
    parser.add_argument("--checkout", type=Path, help="run against this library; support files")
    parser.add_argument("--cores", type=int, default=0, help="cores for an empty master")
    parser.add_argument("--devices", default="emulated", help="what these cores are")
    parser.add_argument("--test", default="", help="only tests with this in their name")
    return parser.parse_args()


def _load(options: argparse.Namespace) -> list[unittest.TestCase]:
    if options.checkout:
        from parity.harness import aliases, tensorflow_shims

        aliases.install(options.checkout, options.cores, options.devices)
        tensorflow_shims.install()
    import tensorflow as tf

    if options.mode == "v1":
        tf.compat.v1.disable_v2_behavior()
    spec = importlib.util.spec_from_file_location(options.file.stem, options.file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[options.file.stem] = module
    spec.loader.exec_module(module)
    from absl import flags

    flags.FLAGS([sys.argv[0]])
    if options.cores and "test_num_shards" in flags.FLAGS:  # a TPU test's number of cores
        flags.FLAGS.test_num_shards = options.cores
    return list(flat(unittest.defaultTestLoader.loadTestsFromModule(module)))


def flat(suite: Any) -> Iterator[unittest.TestCase]:
    """Yields the tests of a suite."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        # TensorFlow's TestCase has a method of this name that is not a test.
        elif test._testMethodName != "test_session":
            yield test


if __name__ == "__main__":
    main()
    # Threads that a test left running must not keep the process alive.
    sys.stdout.flush()
    os._exit(0)
