"""Runs a script or a module as Python would, but with an old program's imports."""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import io
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

from estimator_bridge.legacy.running.bridges import mend_standard_library
from estimator_bridge.legacy.running.dialect_choice import DialectChoice
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.exec_hook import python_exec, watch_exec
from estimator_bridge.legacy.running.finder import ProgramFinder
from estimator_bridge.legacy.running.importing import builtins_for
from estimator_bridge.legacy.running.main_module import Main, is_tool
from estimator_bridge.legacy.running.sources import (
    default_graph_reason,
    is_installed,
    module_verdict,
    program_verdict,
)
from estimator_bridge.legacy.running.spawned import tell_spawned_processes

__all__ = ["code_of", "prepare_main", "run_main"]


def run_main(
    main: Main, arguments: Sequence[str], forced: Dialect | None = None, verbose: bool = False
) -> None:
    """Runs a program to its end. Its exceptions, SystemExit included, propagate.

    Args:
      main: the program.
      arguments: the program's arguments.
      forced: the dialect of all its modules; by default, each module's source decides.
      verbose: whether to report the dialect and the reason.
    """
    sys.argv = [main.name, *arguments]
    told: dict[str, Any] = {"path": main.path, "module": main.spec.name if main.spec else None}
    told.update(_judge(main, forced, verbose))
    codes = main.notebook.compiled() if main.notebook else [code_of(main.path)]
    tell_spawned_processes(**told)
    values = prepare_main(**told, verbose=verbose)
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


def _display(*shown: Any, **unused_options: Any) -> None:
    """Implements a notebook's `display` on a terminal."""
    for value in shown:
        print(value)


def _judge(main: Main, forced: Dialect | None, verbose: bool) -> dict[str, Any]:
    """Returns the arguments of `prepare_main` that describe the program's dialect."""
    dialect, why, graphs = forced, "as requested", ""
    runs_others = is_tool(main)
    if forced is None and not runs_others:
        dialect, why = program_verdict(main.path, main.folder)
        if dialect is None and main.notebook and main.notebook.tensorflow:
            dialect = Dialect.TF1 if main.notebook.tensorflow == "1" else Dialect.TF2
            why = f"%tensorflow_version {main.notebook.tensorflow}.x"
        if dialect is not Dialect.TF1:
            graphs = default_graph_reason(main.path, main.folder)
        if main.notebook:
            why, graphs = (_placed(main, reason) for reason in (why, graphs))
    if verbose:
        if runs_others and forced is None:
            said = "a tool, so each file that it runs is judged separately"
        else:
            said = f"a {(dialect or Dialect.TF2).value} program ({why})"
        _say(said)
        _say(f"with TF1's behavior ({graphs})" if graphs else "")
    return {
        "dialect": dialect.value if dialect else None,
        "forced": forced.value if forced else None,
        "graphs": bool(graphs),
        "is_tool": runs_others,
    }


def _placed(main: Main, reason: str) -> str:
    """Returns a reason with line numbers of the notebook's source replaced by cell and line."""
    is_of_it = reason.startswith(f"{os.path.basename(main.path)}: ")
    return main.notebook.placed(reason) if main.notebook and is_of_it else reason


def prepare_main(
    path: str,
    module: str | None,
    dialect: str | None,
    forced: str | None,
    graphs: bool,
    is_tool: bool,
    verbose: bool = False,
) -> dict[str, Any]:
    """Prepares this process for the program's modules.

    Args:
      path: the main module's file.
      module: its name if it is run with `-m`.
      dialect: the dialect of modules in doubt; None if the program is in doubt too.
      forced: the dialect of all modules, or None.
      graphs: whether a TF2 program gets graphs and sessions at its top level.
      is_tool: whether the main module only runs the program; it gets Python's own builtins.
      verbose: whether to report the dialects of files that a tool runs.

    Returns:
      The values for the main module's namespace.
    """
    choice = DialectChoice(
        Dialect(dialect) if dialect else None,
        Dialect(forced) if forced else None,
        graphs=graphs,
        verbose=verbose,
    )
    finder = ProgramFinder(choice)
    if module and not is_tool:
        finder.packages.add(module.partition(".")[0])
    mend_standard_library()
    sys.meta_path.insert(0, finder)
    _watch_exec(finder, choice)
    package = module.rpartition(".")[0] if module else None
    if package:
        importlib.import_module(package)
    return {
        "__builtins__": builtins if is_tool else builtins_for(choice.dialect_of(path)),
        "__cached__": None,
        "__doc__": None,
        "__file__": path,
        "__loader__": importlib.machinery.SourceFileLoader("__main__", path),
        "__package__": package,
    }


def _watch_exec(finder: ProgramFinder, choice: DialectChoice) -> None:
    """Sets the imports of files that a tool, a launcher or the program itself executes."""

    def tells(owner: str) -> bool:
        return is_installed(owner) or module_verdict(owner).dialect is not None

    def of_file(path: str, name: str, is_main: bool, owner: str | None) -> dict[str, Any] | None:
        if not finder.is_of_program(name.partition(".")[0], path):
            return None
        if owner and (tells(owner) or not module_verdict(path).dialect):
            return None  # it runs as part of the module that executes it
        return builtins_for(choice.enter(path, as_main=is_main))

    def of_text(text: bytes, owner: str | None) -> dict[str, Any] | None:
        if owner and tells(owner):
            return None
        dialect = choice.enter_text(text)
        return builtins_for(dialect) if dialect else None

    watch_exec(of_file, of_text)


def code_of(path: str) -> CodeType:
    """Compiles a file."""
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)
