"""The main module of a process that the program started by multiprocessing's `spawn`.

Such a process imports the program's main module again, under the name ``__mp_main__``. It is
redirected to this module, which runs the program's main module with the same imports as before.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

__all__ = ["prepare_spawned_processes", "run_again"]

_PROGRAM = "ESTIMATOR_BRIDGE_PROGRAM"
_MAIN = ("init_main_from_name", "init_main_from_path")


def prepare_spawned_processes(**program: Any) -> None:
    """Makes processes that are spawned from now on run the program's main module as here.

    Args:
      **program: the arguments of `run_again`'s `prepare_main`.
    """
    from multiprocessing import spawn

    of_python = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = of_python(name)
        module, path = (data.pop(key, None) for key in _MAIN)
        if module or path:
            os.environ[_PROGRAM] = json.dumps(_main_of(program, module, path))
            data["init_main_from_name"] = __name__
        return data

    spawn.get_preparation_data = get_preparation_data


def _main_of(program: dict[str, Any], module: str | None, path: str | None) -> dict[str, Any]:
    """Returns the program to run: a tool or launcher may have replaced ``__main__``."""
    if module:
        path = sys.modules["__main__"].__spec__.origin  # type: ignore[union-attr]
    if path is None or os.path.realpath(path) == os.path.realpath(program["path"]):
        return program
    judged_anew = {"dialect": program["forced"], "graphs": False, "is_tool": False}
    return {**program, **judged_anew, "path": path, "module": module}


def run_again(namespace: dict[str, Any]) -> None:
    """Runs the program's main module in this module's namespace."""
    from estimator_bridge.legacy.running.prepared_main import code_of, prepare_main

    program = json.loads(os.environ[_PROGRAM])
    namespace.update(prepare_main(**program))
    exec(code_of(program["path"]), namespace)


if __name__ == "__mp_main__":
    run_again(globals())
