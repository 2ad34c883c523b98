"""Prepares a process for a program's modules: their imports, dialects and executed code."""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import io
import os
import sys
from types import CodeType
from typing import Any

from estimator_bridge.legacy.running.bridges import restore_standard_library
from estimator_bridge.legacy.running.dialect_choice import DialectChoice
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.exec_hook import watch_exec
from estimator_bridge.legacy.running.finder import ProgramFinder
from estimator_bridge.legacy.running.importing import builtins_for
from estimator_bridge.legacy.running.sources import is_installed, module_verdict
from estimator_bridge.legacy.running.zipped import zipped_source

__all__ = ["code_of", "prepare_main"]


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
    restore_standard_library()
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
    """Compiles a file, or a module in a zip file."""
    source = None if os.path.exists(path) else zipped_source(path)
    if source is None:
        with io.open_code(path) as file:
            source = file.read()
    return compile(source, path, "exec", dont_inherit=True)
