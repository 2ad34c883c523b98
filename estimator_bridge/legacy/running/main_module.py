"""Finds the program to run as ``__main__``: a script, a notebook, a folder, a module."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import NamedTuple

from estimator_bridge.legacy.running.dialects import imports_tensorflow
from estimator_bridge.legacy.running.notebooks import Notebook, is_notebook, read_notebook
from estimator_bridge.legacy.running.sources import FOREIGN, STANDARD, is_installed, program_files

__all__ = ["Main", "find_module", "find_script", "is_tool"]


class Main(NamedTuple):
    """The program to run as ``__main__``.

    Attributes:
      name: the name used on the command line: the first of sys.argv.
      path: its file, absolute.
      folder: the root of the program's absolute imports.
      spec: the spec of a module run with `-m`; None for a script.
      notebook: the parsed notebook; None for any other program.
    """

    name: str
    path: str
    folder: str
    spec: importlib.machinery.ModuleSpec | None = None
    notebook: Notebook | None = None


def find_script(path: str) -> Main:
    """Finds a script, a notebook, or the ``__main__.py`` of a folder.

    Raises:
      FileNotFoundError: there is no such file.
      NotebookError: the file is named like a notebook, but cannot be run as one.
    """
    if os.path.isdir(path):
        inner = os.path.join(path, "__main__.py")
        if not os.path.isfile(inner):
            raise FileNotFoundError(f"{path!r} is a folder without a __main__.py")
        return Main(path, os.path.abspath(inner), path)
    if not os.path.isfile(path):
        file = path.replace(".", os.sep) + ".py"
        hint = f" Did you mean the module, `-m {path}`?" if os.path.isfile(file) else ""
        raise FileNotFoundError(f"there is no file {path!r}.{hint}")
    notebook = read_notebook(path) if is_notebook(path) else None
    folder = os.path.dirname(os.path.realpath(path))
    return Main(path, os.path.abspath(path), folder, notebook=notebook)


def find_module(name: str) -> Main:
    """Finds a module for `-m`; for a package, its ``__main__``.

    Its parent packages are located but not imported: they must be imported as parts of the program.

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
    """Returns the spec of a module without importing its packages.

    Each package is looked up by the last part of its name: with the full name, a folder without
    an ``__init__.py`` would need its parent in sys.modules.
    """
    path: list[str] | None = None
    spec = None
    for part in name.split("."):
        spec = importlib.machinery.PathFinder.find_spec(part, path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    if spec is None or spec.loader is None or not spec.origin:
        return spec
    return importlib.util.spec_from_file_location(
        name, spec.origin, submodule_search_locations=path or None
    )


def is_tool(main: Main) -> bool:
    """Returns whether a module is a tool that runs programs, such as pytest or pdb."""
    if main.spec is None or not is_installed(main.path):
        return False
    top = main.spec.name.partition(".")[0]
    if top in STANDARD or top in FOREIGN:
        return True
    inside = os.path.join(main.folder, top, "")
    return not any(
        imports_tensorflow(source)
        for file, source in program_files(main.path, [main.folder])
        if file.startswith(inside)
    )
