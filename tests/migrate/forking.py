"""Runs programs in copies of one process that has loaded TensorFlow, which takes most of a start.

    python -c "$(cat tests/migrate/forking.py)"

Each line of standard input is a job in JSON: 'words' as on a command line, after `python` or after
`estimator-bridge run`, 'runs' which of the two, 'folder' to be in, 'environment', 'log' without its
ending and 'patience' in seconds. Each line of standard output is a job's exit status.

Started like this, Python looks for modules in the folder that it is in: a job's own.

TensorFlow is loaded, but hidden: a program's first `import tensorflow` finds it as any module is
found, so that all that is to happen at this import happens.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import runpy
import signal
import sys
from types import ModuleType
from typing import Any


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
        """Gives the module, which Python then calls by the new spec."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Leaves the module as it is, with its old spec."""
        module.__spec__ = self._spec


def _run(job: dict[str, Any]) -> None:
    """Becomes a job's process: what the program raises, this process ends with."""
    signal.alarm(job["patience"])
    for ending, number in ((".out", 1), (".err", 2)):
        to = os.open(job["log"] + ending, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(to, number)
    os.chdir(job["folder"])
    os.environ.update(job["environment"])
    first, *others = job["words"]
    if job["runs"]:
        from estimator_bridge.commands.cli import main

        sys.exit(main(["run", *job["words"]]))
    if first == "-m":
        module, *sys.argv[1:] = others
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *others]
        runpy.run_path(first, run_name="__main__")


def _serve() -> dict[str, Any] | None:
    """Copies this process for each job; gives a copy its job, and the process itself nothing."""
    for line in sys.stdin:
        copy = os.fork()
        if not copy:
            return json.loads(line)
        _, status = os.waitpid(copy, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


if __name__ == "__main__":
    import tensorflow as tf
    import tf_keras  # noqa: F401

    sys.meta_path.insert(0, _Loaded(sys.modules.pop("tensorflow")))
    del tf
    mine = _serve()
    if mine is not None:
        _run(mine)
