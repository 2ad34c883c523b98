"""Runs a script or a module as Python itself would, with the imports of an old program."""

from __future__ import annotations

import importlib
import importlib.machinery
import io
import os
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from estimator_bridge.legacy.running.bridges import mend_standard_library
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.finder import ProgramFinder
from estimator_bridge.legacy.running.importing import builtins_for
from estimator_bridge.legacy.running.sources import (
    default_graph_reason,
    main_dialect,
    program_verdict,
)
from estimator_bridge.legacy.running.spawned import tell_spawned_processes

__all__ = ["Main", "find_module", "find_script", "prepare_main", "run_main"]


class Main(NamedTuple):
    """What is to run as ``__main__``.

    Attributes:
      name: how it was named: the first of sys.argv.
      path: its file, absolute.
      folder: what the program's absolute imports start from.
      spec: for `-m`, how it was found; None for a script.
    """

    name: str
    path: str
    folder: str
    spec: importlib.machinery.ModuleSpec | None = None


def find_script(path: str) -> Main:
    """Finds a script, or the ``__main__.py`` of a folder.

    Raises:
      FileNotFoundError: there is no such file.
    """
    if os.path.isdir(path):
        inner = os.path.join(path, "__main__.py")
        if not os.path.isfile(inner):
            raise FileNotFoundError(f"{path!r} is a folder without a __main__.py")
        return Main(path, os.path.abspath(inner), path)
    if not os.path.isfile(path):
        dotted = path.replace(".", os.sep) + ".py"
        hint = f" Did you mean the module, `-m {path}`?" if os.path.isfile(dotted) else ""
        raise FileNotFoundError(f"there is no file {path!r}.{hint}")
    return Main(path, os.path.abspath(path), os.path.dirname(os.path.realpath(path)))


def find_module(name: str) -> Main:
    """Finds a module for `-m`; that of a package is its ``__main__``.

    The packages around it are not imported, but looked for: they are to be imported as parts of
    the program.

    Raises:
      ModuleNotFoundError: there is no such module, or it has no source.
    """
    spec = _spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name += ".__main__"
        spec = _spec(name)
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise ModuleNotFoundError(
            f"No module named {name}, with a source file, below {sys.path[0] or os.getcwd()!r} or "
            "in the installed packages",
            name=name,
        )
    folder = spec.origin
    for _ in name.split("."):
        folder = os.path.dirname(folder)
    return Main(spec.origin, spec.origin, folder, spec)


def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    path: Sequence[str] | None = None
    spec = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        spec = importlib.machinery.PathFinder.find_spec(".".join(parts[:depth]), path)
        if spec is None:
            return None
        path = spec.submodule_search_locations or []
    return spec


def run_main(
    main: Main, arguments: Sequence[str], forced: Dialect | None = None, verbose: bool = False
) -> None:
    """Runs a program to its end. What it raises, SystemExit too, is raised.

    Args:
      main: the program.
      arguments: its own arguments.
      forced: the dialect of all its modules; by default, each module's source tells.
      verbose: say which dialect that is, and why.
    """
    sys.argv = [main.name, *arguments]
    verdict = program_verdict(main.path, main.folder)
    dialect = main_dialect(verdict, forced)
    graphs = ""
    if dialect is Dialect.TF2 and forced is None:
        graphs = default_graph_reason(main.path, main.folder)
    if verbose:
        why = "as was asked for" if forced else verdict.reason
        print(f"estimator-bridge: a program of {dialect.value} ({why})", file=sys.stderr)
        if graphs:
            print(f"estimator-bridge: with TF1's behaviour ({graphs})", file=sys.stderr)
    told: dict[str, Any] = {
        "path": main.path,
        "module": main.spec.name if main.spec else None,
        "dialect": dialect.value,
        "forced": forced.value if forced else None,
        "graphs": bool(graphs),
    }
    tell_spawned_processes(**told)
    code, values = prepare_main(**told)
    module = ModuleType("__main__")
    vars(module).update(values, __spec__=main.spec)
    sys.modules["__main__"] = module
    exec(code, vars(module))


def prepare_main(
    path: str, module: str | None, dialect: str, forced: str | None, graphs: bool
) -> tuple[CodeType, dict[str, Any]]:
    """Gets this process ready for the program's modules.

    Args:
      path: the main module's file.
      module: its name, where it is run by `-m`.
      dialect: that of modules in doubt.
      forced: that of all modules, or None.
      graphs: whether a program of TF2 gets graphs and sessions at its top level.

    Returns:
      The main module's code, and what its namespace is to have.
    """
    finder = ProgramFinder(Dialect(dialect), Dialect(forced) if forced else None, graphs)
    if module:
        finder.packages.add(module.partition(".")[0])
    mend_standard_library()
    sys.meta_path.insert(0, finder)
    package = module.rpartition(".")[0] if module else None
    if package:
        importlib.import_module(package)
    return _code(path), {
        "__builtins__": builtins_for(finder.dialect_of(path)),
        "__cached__": None,
        "__doc__": None,
        "__file__": path,
        "__loader__": importlib.machinery.SourceFileLoader("__main__", path),
        "__package__": package,
    }


def _code(path: str) -> CodeType:
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)
