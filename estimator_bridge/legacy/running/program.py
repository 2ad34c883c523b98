"""Runs a script or a module as Python would, but with an old program's imports."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.exec_hook import python_exec
from estimator_bridge.legacy.running.main_module import Main, is_tool
from estimator_bridge.legacy.running.prepared_main import code_of, prepare_main
from estimator_bridge.legacy.running.sources import (
    default_graph_reason,
    program_verdict,
)
from estimator_bridge.legacy.running.spawned import prepare_spawned_processes

__all__ = ["run_main"]


def run_main(
    main: Main, arguments: Sequence[str], dialect: Dialect | None = None, verbose: bool = False
) -> None:
    """Runs a program to its end. Its exceptions, SystemExit included, propagate.

    Args:
      main: the program.
      arguments: the program's arguments.
      dialect: the dialect of all its modules; by default, each module's source decides.
      verbose: whether to report the dialect and the reason.
    """
    sys.argv = [main.name, *arguments]
    keywords: dict[str, Any] = {"path": main.path, "module": main.spec.name if main.spec else None}
    keywords.update(_judge(main, dialect, verbose))
    codes = main.notebook.compiled() if main.notebook else [code_of(main.path)]
    prepare_spawned_processes(**keywords)
    values = prepare_main(**keywords, verbose=verbose)
    module = ModuleType("__main__")
    vars(module).update(values, __spec__=main.spec)
    if main.notebook:
        del module.__file__, vars(module)["__cached__"]  # Jupyter has none
        vars(module).update(__loader__=None, display=_display)
        _say(main.notebook.passed_over())
    sys.modules["__main__"] = module
    for code in codes:
        python_exec(code, vars(module))


def _say(text: str) -> None:
    if text:
        print(f"estimator-bridge: {text}", file=sys.stderr, flush=True)


def _display(*values: Any, **unused_options: Any) -> None:
    """Implements a notebook's `display` on a terminal."""
    for value in values:
        print(value)


def _judge(main: Main, requested: Dialect | None, verbose: bool) -> dict[str, Any]:
    """Returns the arguments of `prepare_main` that describe the program's dialect."""
    dialect, why, graphs = requested, "as requested", ""
    runs_others = is_tool(main)
    if requested is None and not runs_others:
        dialect, why = program_verdict(main.path, main.folder)
        if dialect is None and main.notebook and main.notebook.tensorflow:
            dialect = Dialect.TF1 if main.notebook.tensorflow == "1" else Dialect.TF2
            why = f"%tensorflow_version {main.notebook.tensorflow}.x"
        if dialect is not Dialect.TF1:
            graphs = default_graph_reason(main.path, main.folder)
        if main.notebook:
            why, graphs = (_with_place(main, reason) for reason in (why, graphs))
    if verbose:
        if runs_others and requested is None:
            verdict = "a tool, so each file that it runs is judged separately"
        else:
            verdict = f"a {(dialect or Dialect.TF2).value} program ({why})"
        _say(verdict)
        _say(f"with TF1's behavior ({graphs})" if graphs else "")
    return {
        "dialect": dialect.value if dialect else None,
        "forced": requested.value if requested else None,
        "graphs": bool(graphs),
        "is_tool": runs_others,
    }


def _with_place(main: Main, reason: str) -> str:
    """Returns a reason with line numbers of the notebook's source replaced by cell and line."""
    is_of_it = reason.startswith(f"{os.path.basename(main.path)}: ")
    return main.notebook.placed(reason) if main.notebook and is_of_it else reason
