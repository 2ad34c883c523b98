"""Runs Python programs in forks of one process that has loaded TensorFlow, which takes most of a
start. `forking.py` starts it and talks to it.

Each line of standard input is a job in JSON: `words` as on Python's command line, `folder` to be
in, `environment` in full, `files` for the standard streams, and `patience` in seconds, after which
SIGALRM ends the program. Each line of standard output is a job's exit code, negative for a signal;
or its process number, if the job `is_beside` this one. Such a process has a line of its own later:
`process`, and `secs` to wait for its end. The answer is its exit code, or null if it has not ended.

A fork is made before TensorFlow's first operation, when it has no threads of its own. TensorFlow
is loaded, but hidden: a program's first `import tensorflow` finds it as any module is found, so
that all that is to happen at this import happens. Python ends a fork like any other process: the
program is this script's last statement.
"""

from __future__ import annotations

import gc
import importlib.abc
import importlib.machinery
import json
import math
import os
import runpy
import signal
import sys
import time
from types import ModuleType
from typing import Any

SEARCH_PATH = "PYTHONPATH"


class _Loaded(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module that is loaded already."""

    def __init__(self, module: ModuleType):
        self._module = module
        self._spec = module.__spec__

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Called by Python for each import."""
        if name != self._module.__name__:
            return None
        origin = self._module.__file__
        return importlib.machinery.ModuleSpec(name, self, origin=origin, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        """Returns the module, which Python then calls by the new spec."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Leaves the module as it is, with its old spec."""
        module.__spec__ = self._spec


def _become(job: dict[str, Any]) -> None:
    """Makes this process what Python would be at the start of a job's program."""
    signal.alarm(job["patience"])
    for number, file in enumerate(job["files"]):
        how = os.O_APPEND if job["is_beside"] else os.O_TRUNC
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | how
        os.dup2(os.open(file, flags, 0o600), number)
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    own = [path for path in sys.path[1:] if path not in _search_path(_STARTED_WITH)]
    sys.path[:] = [*_search_path(job["environment"].get(SEARCH_PATH, "")), *own]


def _search_path(text: str) -> list[str]:
    return [os.path.abspath(path) for path in text.split(os.pathsep) if path]


def _run(words: list[str]) -> None:
    """Runs a program as Python's command line does; what it raises, this process ends with."""
    first, *others = words
    if first == "-c":
        source, *arguments = others
        sys.path.insert(0, "")
        sys.argv = ["-c", *arguments]
        exec(compile(source, "<string>", "exec"), _new_main().__dict__)
    elif first == "-m":
        module, *sys.argv[1:] = others
        sys.path.insert(0, os.getcwd())
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *others]
        sys.path.insert(0, os.path.dirname(os.path.abspath(first)))
        runpy.run_path(first, run_name="__main__")


def _new_main() -> ModuleType:
    """Replaces this script as `__main__`, where a program's pickles look for its classes."""
    module = sys.modules["__main__"] = ModuleType("__main__")
    return module


def _next_job() -> dict[str, Any] | None:
    """Forks for each job: returns it in the fork, and None at the end of standard input."""
    for line in sys.stdin:
        job = json.loads(line)
        if "process" in job:
            print(json.dumps(_wait(job["process"], job["secs"])), flush=True)
            continue
        process = os.fork()
        if not process:
            return job
        print(process if job["is_beside"] else _wait(process), flush=True)
    return None


def _wait(process: int, secs: float | None = None) -> int | None:
    """Returns the exit code of a process; None if it has not ended in that time."""
    end = math.inf if secs is None else time.monotonic() + secs
    while True:
        ended, status = os.waitpid(process, 0 if secs is None else os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            return None
        time.sleep(0.02)


_STARTED_WITH = os.environ.get(SEARCH_PATH, "")

if __name__ == "__main__":
    import tensorflow as tf
    import tf_keras  # noqa: F401

    sys.meta_path.insert(0, _Loaded(sys.modules.pop("tensorflow")))
    del tf
    gc.collect()
    gc.freeze()  # a fork's collections, its last above all, touch and copy none of this
    if (next_job := _next_job()) is not None:
        _become(next_job)
        _run(next_job["words"])
