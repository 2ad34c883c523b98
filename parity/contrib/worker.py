"""Runs test files of tf.contrib, each in a fork of one process that has loaded TensorFlow.

It runs under TensorFlow 1.15.5 (Python 3.7) and, as a program of `estimator-bridge run --tf1`,
under this library. It reads the files and the names of tests with an outcome from its input, and
writes a line of JSON for each event.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import signal
import sys
import traceback
import types
import unittest
from typing import Any

from parity.contrib.support import provide_support
from parity.harness.worker import Reporter, flat, test_id

__all__ = ["main"]


def main() -> None:
    """Runs the files that the input lists, as ``[[path, [tests to leave out]], ...]``."""
    options = _options()
    files = json.loads(sys.stdin.read())
    import tensorflow as tf

    _import_contrib(tf)
    provide_support(options.checkout)
    _provide_sources(options.checkout)
    if not options.original:
        from parity.contrib import shims

        shims.install(options.checkout)
    gc.collect()
    with os.fdopen(options.report, "w", buffering=1, encoding="utf-8") as report:

        def write(path: str, event: dict[str, Any]) -> None:
            report.write(json.dumps({"file": path, **event}) + "\n")

        for path, tests_to_skip in files:
            _run_file(path, set(tests_to_skip), options, write)


def _import_contrib(tf: Any) -> None:
    """Loads TF 1.15's contrib once, before the forks."""
    for name in dir(tf.contrib):
        try:
            getattr(tf.contrib, name)
        except Exception as error:  # a package that this machine lacks
            print(name, error, file=sys.stderr)


def _provide_sources(checkout: str) -> None:
    """Lets ``test.test_src_dir_path`` find the checkout's files."""
    os.symlink(checkout, "org_tensorflow")  # in the scratch folder of this process
    os.environ["TEST_SRCDIR"] = os.getcwd()
    os.environ["TEST_WORKSPACE"] = "org_tensorflow"


def _run_file(path: str, tests_to_skip: set[str], options: argparse.Namespace, write: Any) -> None:
    """Runs a file's tests, in a new fork after each that died."""
    while True:
        running = ""
        reading, pid = _fork(path, tests_to_skip, options)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            for line in pipe:
                event = json.loads(line)
                write(path, event)
                if event["event"] in ("start", "end"):
                    running = event["test"] if event["event"] == "start" else ""
                    tests_to_skip.add(event["test"])
        _, status = os.waitpid(pid, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if not running:
            write(path, {"event": "done", "status": code})
            return
        detail = (
            f"It took longer than {options.time_limit:g} seconds."
            if code == -signal.SIGALRM
            else f"The process ended with status {code}."
        )
        write(path, {"event": "end", "test": running, "result": "failed", "detail": detail})


def _fork(path: str, tests_to_skip: set[str], options: argparse.Namespace) -> tuple[int, int]:
    """Starts a process for a file's tests; returns the pipe with its events, and its number."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return reading, pid
    os.close(reading)
    try:
        _report_tests(path, tests_to_skip, options, writing)
    finally:
        os._exit(0)


def _report_tests(
    path: str, tests_to_skip: set[str], options: argparse.Namespace, writing: int
) -> None:
    with os.fdopen(writing, "w", buffering=1, encoding="utf-8") as report:

        def write(event: dict[str, Any]) -> None:
            if event["event"] == "start":
                # SIGALRM's default action ends the process, also inside of C code.
                signal.alarm(int(options.time_limit))
            report.write(json.dumps(event) + "\n")

        signal.alarm(int(options.time_limit))
        try:
            tests = [
                test for test in _load(path, options.original) if options.test in test_id(test)
            ]
        except BaseException:
            write({"event": "broken", "detail": traceback.format_exc()})
            return
        write({"event": "tests", "tests": [test_id(test) for test in tests]})
        unittest.TestSuite([t for t in tests if test_id(t) not in tests_to_skip]).run(
            Reporter(write)
        )


def _load(path: str, is_original: bool) -> list[unittest.TestCase]:
    name = os.path.basename(path)[: -len(".py")]
    module: Any = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    with open(path, encoding="utf-8") as file:
        source: Any = file.read()
    if not is_original:
        from parity.contrib import shims

        source = shims.with_todays_spellings(source, path)
    code = compile(source, path, "exec", dont_inherit=True)
    exec(code, vars(module))
    _run_main_block(module, source)
    from absl import flags

    flags.FLAGS([sys.argv[0]])
    return list(flat(unittest.defaultTestLoader.loadTestsFromModule(module)))


def _run_main_block(module: Any, source: Any) -> None:
    """Runs what a file does as a program, except for its tests.

    Some files enable eager execution there, themselves or in ``tensorflow.python.eager.test.main``.
    """
    from tensorflow.python.platform import googletest, test

    tree: Any = source if isinstance(source, ast.AST) else ast.parse(source)
    blocks = [node for node in tree.body if _is_main_block(node)]
    mains = googletest.main, test.main
    googletest.main = test.main = lambda argv=None: None
    try:
        for block in blocks:
            code = ast.Module(block.body, type_ignores=[])
            exec(compile(code, module.__file__, "exec", dont_inherit=True), vars(module))
    finally:
        googletest.main, test.main = mains


def _is_main_block(node: Any) -> bool:
    left_side = node.test.left if isinstance(node, ast.If) and hasattr(node.test, "left") else None
    return isinstance(left_side, ast.Name) and left_side.id == "__name__"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=int, required=True, help="a file descriptor to write to")
    parser.add_argument("--original", action="store_true", help="TensorFlow is 1.15.5")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one test")
    parser.add_argument("--checkout", default="", help="the work tree that holds the files")
    parser.add_argument("--test", default="", help="only tests with this in their name")
    return parser.parse_args()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
